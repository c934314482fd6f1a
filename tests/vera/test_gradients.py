"""Gradients in x: the closed form of a model, if it has one, equals autograd."""

import pytest
import torch
from torch import Tensor

from vera.gradients import gradient, make_gradient, value_and_gradient
from vera.models import MLP, GaussianMixture
from vera.models.contract import ScoreModel


@pytest.fixture
def mixture() -> GaussianMixture:
    """A mixture with components of all sizes in three dimensions, so that no two axes are alike."""
    torch.manual_seed(0)
    model = GaussianMixture(3, 7).double()
    with torch.no_grad():
        model.log_scales.normal_(-1, 1)
        model.logits.normal_()
    return model


def test_the_closed_form_of_the_mixture_equals_autograd(mixture):
    x = 3 * torch.randn(50, 3, dtype=torch.float64)
    assert isinstance(mixture, ScoreModel)
    torch.testing.assert_close(gradient(mixture, x), value_and_gradient(mixture, x)[1])


def test_the_score_of_the_mixture_is_finite_far_from_all_components(mixture):
    x = torch.full((2, 3), 1e4, dtype=torch.float64)
    torch.testing.assert_close(gradient(mixture, x), value_and_gradient(mixture, x)[1])


@pytest.mark.parametrize("weight", ["means", "log_scales", "logits"])
def test_nan_weights_give_a_nan_score(mixture, weight):
    with torch.no_grad():
        getattr(mixture, weight).view(-1)[0] = torch.nan
    assert gradient(mixture, torch.randn(4, 3, dtype=torch.float64)).isnan().any(1).all()


def test_a_scorer_can_be_called_repeatedly(mixture):
    score = make_gradient(mixture)
    for _ in range(3):  # a call must not change its state
        x = torch.randn(4, 3, dtype=torch.float64)
        torch.testing.assert_close(score(x), value_and_gradient(mixture, x)[1])


def test_a_scorer_uses_the_weights_of_its_creation(mixture):
    x = torch.randn(4, 3, dtype=torch.float64)
    score, before = make_gradient(mixture), value_and_gradient(mixture, x)[1]
    with torch.no_grad():
        mixture.log_scales.add_(1.0)
        mixture.means.add_(1.0)
        mixture.logits.normal_()
    torch.testing.assert_close(score(x), before)


def test_a_closed_form_builds_no_graph(mixture):
    assert not gradient(mixture, torch.randn(2, 3, dtype=torch.float64, requires_grad=True)).requires_grad


def test_a_closed_form_is_used(mixture, monkeypatch):
    monkeypatch.setattr(GaussianMixture, "scorer", lambda self: lambda x: torch.full_like(x, 7.0))
    assert (gradient(mixture, torch.zeros(2, 3, dtype=torch.float64)) == 7).all()


def test_an_inherited_closed_form_is_not_used_for_an_overridden_forward():
    class Doubled(GaussianMixture):
        def forward(self, x: Tensor) -> Tensor:
            return 2 * super().forward(x)

    class Renamed(GaussianMixture):
        """Inherits forward and scorer."""

    x = torch.randn(5, 2)
    for kind, factor in ((Doubled, 2), (Renamed, 1)):
        torch.manual_seed(0)
        model = kind()
        torch.testing.assert_close(gradient(model, x), factor * model.scorer()(x))


def test_a_forward_set_on_the_instance_is_differentiated(mixture):
    x = torch.randn(5, 3, dtype=torch.float64)
    expected = 3 * mixture.scorer()(x)
    whole = mixture.forward
    mixture.forward = lambda points: 3 * whole(points)
    torch.testing.assert_close(gradient(mixture, x), expected)


@pytest.mark.parametrize("f", [MLP(2), lambda x: x.square().sum(1)], ids=["network", "function"])
def test_models_without_closed_form_use_autograd(f):
    x = torch.randn(3, 2)
    torch.testing.assert_close(gradient(f, x), value_and_gradient(f, x)[1])

"""Gradients in x: by a model's own formula where it has one, and what autograd gives everywhere."""

import pytest
import torch
from torch import Tensor

from vera.gradients import gradient, make_gradient, value_and_gradient
from vera.models import MLP, GaussianMixture
from vera.models.contract import ScoreModel


@pytest.fixture
def mixture() -> GaussianMixture:
    """Components of all sizes, in three dimensions, so that no two axes can be mistaken for each other."""
    torch.manual_seed(0)
    model = GaussianMixture(3, 7).double()
    with torch.no_grad():
        model.log_scales.normal_(-1, 1)
        model.logits.normal_()
    return model


def test_the_mixtures_score_is_autograds(mixture):
    x = 3 * torch.randn(50, 3, dtype=torch.float64)
    assert isinstance(mixture, ScoreModel)
    torch.testing.assert_close(gradient(mixture, x), value_and_gradient(mixture, x)[1])


def test_the_mixtures_score_is_finite_where_every_component_is_far(mixture):
    x = torch.full((2, 3), 1e4, dtype=torch.float64)
    torch.testing.assert_close(gradient(mixture, x), value_and_gradient(mixture, x)[1])


@pytest.mark.parametrize("weight", ["means", "log_scales", "logits"])
def test_the_score_of_weights_that_are_not_numbers_is_none(mixture, weight):
    with torch.no_grad():
        getattr(mixture, weight).view(-1)[0] = torch.nan
    assert gradient(mixture, torch.randn(4, 3, dtype=torch.float64)).isnan().any(1).all()


def test_one_scorer_serves_every_step_of_a_chain(mixture):
    score = make_gradient(mixture)
    for _ in range(3):  # nothing that it holds is changed by a call
        x = torch.randn(4, 3, dtype=torch.float64)
        torch.testing.assert_close(score(x), value_and_gradient(mixture, x)[1])


def test_a_scorer_is_of_the_weights_as_they_were(mixture):
    x = torch.randn(4, 3, dtype=torch.float64)
    score, before = make_gradient(mixture), value_and_gradient(mixture, x)[1]
    with torch.no_grad():
        mixture.log_scales.add_(1.0)
        mixture.means.add_(1.0)
        mixture.logits.normal_()
    torch.testing.assert_close(score(x), before)


def test_a_formula_leaves_no_graph(mixture):
    assert not gradient(mixture, torch.randn(2, 3, dtype=torch.float64, requires_grad=True)).requires_grad


def test_a_formula_is_used(mixture, monkeypatch):
    monkeypatch.setattr(GaussianMixture, "scorer", lambda self: lambda x: torch.full_like(x, 7.0))
    assert (gradient(mixture, torch.zeros(2, 3, dtype=torch.float64)) == 7).all()


def test_an_inherited_formula_is_not_that_of_another_forward():
    class Doubled(GaussianMixture):
        def forward(self, x: Tensor) -> Tensor:
            return 2 * super().forward(x)

    class Renamed(GaussianMixture):
        """Adds nothing."""

    x = torch.randn(5, 2)
    for kind, factor in ((Doubled, 2), (Renamed, 1)):
        torch.manual_seed(0)
        model = kind()
        torch.testing.assert_close(gradient(model, x), factor * model.scorer()(x))


def test_a_forward_of_the_object_itself_is_what_is_differentiated(mixture):
    x = torch.randn(5, 3, dtype=torch.float64)
    expected = 3 * mixture.scorer()(x)
    whole = mixture.forward
    mixture.forward = lambda points: 3 * whole(points)
    torch.testing.assert_close(gradient(mixture, x), expected)


@pytest.mark.parametrize("f", [MLP(2), lambda x: x.square().sum(1)], ids=["network", "function"])
def test_what_has_no_formula_goes_through_autograd(f):
    x = torch.randn(3, 2)
    torch.testing.assert_close(gradient(f, x), value_and_gradient(f, x)[1])

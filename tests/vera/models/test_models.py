"""Models compared with closed forms: MLP, flow and mixture."""

import math

import pytest
import torch
from facts import raises_with
from torch import nn
from torch.distributions import Categorical, Independent, MixtureSameFamily, Normal

from vera.errors import SettingError
from vera.models import MLP, NICE, GaussianMixture
from vera.models.mixture import NEGLIGIBLE


@pytest.mark.parametrize("activation", ["leaky_relu", "relu", "softplus"])
def test_an_mlp_declares_whether_it_is_piecewise_linear(activation):
    torch.manual_seed(0)
    energy = MLP(3, hidden=(16, 16), activation=activation).double()
    hessian = torch.autograd.functional.hessian(
        lambda x: energy(x[None]).sum(), torch.randn(3, dtype=torch.float64)
    )
    assert energy.piecewise_linear == bool((hessian == 0).all())


# NICE


def make_flow(data_dim: int, couplings: int = 4) -> NICE:
    """Return a flow far from the identity, in double precision."""
    torch.manual_seed(data_dim + couplings)
    model = NICE(data_dim, hidden=8, hidden_layers=2, couplings=couplings).double()
    with torch.no_grad():
        for shift in model.shifts:
            for layer in shift:
                if isinstance(layer, nn.Linear):
                    layer.weight.normal_(std=0.5)
        model.log_scale.normal_(std=0.5)
    return model


flows = pytest.mark.parametrize(
    ("data_dim", "couplings"), [(2, 1), (2, 4), (3, 2), (5, 4), (6, 3), (7, 1), (8, 4)]
)


@flows
def test_decode_inverts_encode(data_dim, couplings):
    model = make_flow(data_dim, couplings)
    x = 3 * torch.randn(20, data_dim, dtype=torch.float64)
    assert (model.decode(model.encode(x)) - x).abs().max() < 1e-9
    assert (model.encode(model.decode(x)) - x).abs().max() < 1e-9


def test_decode_inverts_encode_in_single_precision_at_the_papers_depth():
    torch.manual_seed(0)
    model = NICE(784, hidden=64)
    x = 3 * torch.randn(8, 784)
    assert (model.decode(model.encode(x)) - x).abs().max() < 1e-4


@flows
def test_log_density_equals_the_change_of_variables_formula(data_dim, couplings):
    model = make_flow(data_dim, couplings)
    x = torch.randn(4, data_dim, dtype=torch.float64)
    for point in x:
        jacobian = torch.autograd.functional.jacobian(lambda p: model.encode(p[None])[0], point)
        volume = torch.linalg.slogdet(jacobian).logabsdet
        prior = Normal(0.0, 1.0).log_prob(model.encode(point[None])).sum()
        assert torch.allclose(volume, model.log_scale.sum())
        assert torch.allclose(model.log_prob(point[None]), prior + volume)
    assert torch.equal(model(x), model.log_prob(x))


@flows
def test_the_gradient_in_the_log_scale_is_one_minus_y_squared(data_dim, couplings):
    model = make_flow(data_dim, couplings)
    x = torch.randn(30, data_dim, dtype=torch.float64)
    (slope,) = torch.autograd.grad(model.log_prob(x).sum(), model.log_scale)
    assert torch.allclose(slope, (1 - model.encode(x).square()).sum(0))


@pytest.mark.parametrize("data_dim", [2, 5, 6])
def test_even_coordinates_come_first_then_odd_ones(data_dim):
    model = make_flow(data_dim)
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
    x = torch.arange(float(data_dim), dtype=torch.float64)[None]
    assert model.encode(x)[0].tolist() == [*range(0, data_dim, 2), *range(1, data_dim, 2)]


def test_the_first_coupling_shifts_the_odd_half_by_a_function_of_the_even_half():
    model = make_flow(5, couplings=1)
    x = torch.randn(6, 5, dtype=torch.float64)
    a, b = model.couple(x)
    assert torch.equal(a, x[:, 0::2])
    assert torch.allclose(b, x[:, 1::2] + model.shifts[0](x[:, 0::2]))


def test_the_second_coupling_shifts_the_even_half():
    model = make_flow(5, couplings=2)
    x = torch.randn(6, 5, dtype=torch.float64)
    (_, b), (a, unchanged) = run_flow_prefix(model, 1, x), model.couple(x)
    assert torch.equal(unchanged, b)
    assert torch.allclose(a, x[:, 0::2] + model.shifts[1](b))


def run_flow_prefix(model: NICE, couplings: int, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    prefix = make_flow(model.data_dim, couplings)
    prefix.load_state_dict({k: v for k, v in model.state_dict().items() if k in prefix.state_dict()})
    return prefix.couple(x)


def test_encoded_samples_of_a_flow_are_standard_normal():
    torch.manual_seed(0)
    model, n = NICE(6, hidden=8, hidden_layers=2), 20_000
    y = model.encode(model.sample(n)).detach()
    assert y.mean(0).abs().max() < 4.5 / math.sqrt(n)
    assert (y.square().mean(0) - 1).abs().max() < 4.5 * math.sqrt(2 / n)
    assert (torch.corrcoef(y.T) - torch.eye(6)).abs().max() < 4.5 / math.sqrt(n)


def test_a_flow_needs_two_dimensions():
    with raises_with(SettingError, "NICE", "data_dim", "at least 2", "got 1"):
        NICE(1)


# The mixture


@pytest.fixture
def mixture() -> GaussianMixture:
    torch.manual_seed(0)
    model = GaussianMixture(2, 4).double()
    with torch.no_grad():
        model.log_scales.normal_(std=0.4).clamp_(-0.5, 0.5)
        model.logits.normal_()
    return model


def test_the_mixture_integrates_to_one(mixture):
    axis = torch.linspace(-12, 12, 401, dtype=torch.float64)
    grid = torch.cartesian_prod(axis, axis)
    with torch.no_grad():
        mass = (
            torch.cat([mixture(points).exp() for points in grid.split(20_000)]).sum()
            * (axis[1] - axis[0]) ** 2
        )
    assert mass.item() == pytest.approx(1, abs=1e-9)


def test_the_density_of_the_mixture_equals_that_of_torch(mixture):
    components = Independent(Normal(mixture.means, mixture.log_scales.exp()), 1)
    reference = MixtureSameFamily(Categorical(logits=mixture.logits), components)
    x = 3 * torch.randn(50, 2, dtype=torch.float64)
    assert torch.allclose(mixture.log_prob(x), reference.log_prob(x))
    assert torch.equal(mixture(x), mixture.log_prob(x))


def test_clamping_far_components_does_not_change_f_or_gradients():
    """Shares below e^-80 are clamped; f and all gradients must not change, even far from all components."""
    torch.manual_seed(0)
    model = GaussianMixture(2, 50)
    with torch.no_grad():
        model.log_scales.uniform_(-5, 3)
        model.logits.normal_()
    x = torch.cat([3 * torch.randn(200, 2), 1e3 * torch.randn(20, 2)]).requires_grad_(True)
    components = Independent(Normal(model.means, model.log_scales.exp()), 1)
    reference = MixtureSameFamily(Categorical(logits=model.logits), components).log_prob(x)
    exponents = reference.detach()[:, None] - components.log_prob(x.detach()[:, None])
    assert (exponents > NEGLIGIBLE).float().mean() > 0.3
    torch.testing.assert_close(model(x), reference)
    inputs = (x, *model.parameters())
    for ours, theirs in zip(
        *(torch.autograd.grad(f.sum(), inputs) for f in (model(x), reference)), strict=True
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4 * theirs.abs().max().item())


def test_samples_of_the_mixture_have_its_moments(mixture):
    n = 40_000
    x = mixture.sample(n)
    weights, means, scales = (
        mixture.logits.softmax(0).detach(),
        mixture.means.detach(),
        mixture.log_scales.exp().detach(),
    )
    first = weights @ means
    second = weights @ (means.square() + scales.square())
    product = weights @ (means[:, 0] * means[:, 1])
    for sample, moment in [(x, first), (x.square(), second), ((x[:, 0] * x[:, 1])[:, None], product)]:
        z = (sample.mean(0) - moment) / (sample.std(0) / math.sqrt(n))
        assert z.abs().max() < 4


def test_components_are_drawn_in_proportion_to_their_weights(mixture):
    with torch.no_grad():
        mixture.means.copy_(torch.tensor([[0.0, 0], [100, 0], [200, 0], [300, 0]]))
    n, weights = 40_000, mixture.logits.softmax(0).detach()
    counts = (mixture.sample(n)[:, 0] / 100).round().long().bincount(minlength=4)
    z = (counts - n * weights) / (n * weights * (1 - weights)).sqrt()
    assert z.abs().max() < 4


def test_the_mixture_is_initialised_as_in_the_paper():
    model = GaussianMixture()
    assert model.log_scales.eq(0).all()
    assert model.logits.eq(0).all()
    assert 0.7 < model.means.std().item() < 1.3

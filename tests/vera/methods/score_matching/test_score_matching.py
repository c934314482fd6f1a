"""SSM, DSM and CP-SM compared with exact score matching on a small flow; autograd gives the Hessian trace."""

import pytest
import torch
from oracles import assert_mean, flat_gradient, score_matching_loss

from vera.methods import CPSM, DSM, SSM
from vera.models import NICE, GaussianMixture

POINTS, REPEATS = 4, 4_000


@pytest.fixture
def flow():
    torch.manual_seed(0)
    model = NICE(3, hidden=6, hidden_layers=2).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


@pytest.fixture
def x():
    return torch.randn(POINTS, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def draw_losses(loss, x, repeats=REPEATS, batch=50):
    """Return independent estimates of the loss at the same points."""
    return torch.stack([loss(x.repeat(batch, 1)).detach() for _ in range(repeats // batch)])


def draw_gradients(loss, model, x, repeats=100, batch=50):
    return torch.stack([flat_gradient(loss(x.repeat(batch, 1)), model) for _ in range(repeats)])


VARIANTS = [(probe, reduced) for probe in ("gaussian", "rademacher") for reduced in (True, False)]


@pytest.mark.parametrize(("probe", "reduced"), VARIANTS)
def test_ssm_equals_score_matching_in_expectation(flow, x, probe, reduced):
    method = SSM(flow, probe=probe, variance_reduced=reduced)
    exact = score_matching_loss(flow, x)
    assert_mean(draw_losses(method.loss, x), exact.detach())
    assert_mean(draw_gradients(method.loss, flow, x), flat_gradient(exact, flow))


def test_ssm_variance_reduction_reduces_the_variance(flow, x):
    spread = {r: float(draw_losses(SSM(flow, variance_reduced=r).loss, x).var()) for r in (True, False)}
    assert spread[True] < 0.8 * spread[False]


def test_ssm_equals_score_matching_for_a_mixture():
    torch.manual_seed(2)
    mixture = GaussianMixture(2, components=5).double()
    points = torch.randn(POINTS, 2, dtype=torch.float64)
    assert_mean(draw_losses(SSM(mixture).loss, points), score_matching_loss(mixture, points).detach())


def test_cpsm_equals_score_matching_in_expectation(flow, x):
    method = CPSM(flow)
    exact = score_matching_loss(flow, x)
    assert_mean(draw_losses(method.loss, x), exact.detach())
    assert_mean(draw_gradients(method.loss, flow, x), flat_gradient(exact, flow))


@pytest.mark.parametrize(("data_dim", "couplings"), [(2, 1), (3, 2), (5, 3), (6, 4)])
def test_curvature_propagation_is_unbiased_for_every_diagonal_entry(data_dim, couplings):
    torch.manual_seed(data_dim)
    flow = NICE(data_dim, hidden=7, hidden_layers=2, couplings=couplings).double()
    with torch.no_grad():
        flow.log_scale.normal_(0, 0.3)
    x = torch.randn(3, data_dim, dtype=torch.float64)
    hessian = torch.stack(
        [torch.autograd.functional.hessian(lambda p: flow(p[None])[0], point) for point in x]
    )
    score, diagonal = flow.score_and_curvature(x.repeat(20_000, 1))
    assert_mean(diagonal.view(20_000, -1).detach(), hessian.diagonal(dim1=1, dim2=2).flatten())
    exact_score = torch.autograd.functional.jacobian(lambda p: flow(p).sum(), x)
    torch.testing.assert_close(score[:3].detach(), exact_score)


def test_curvature_propagation_is_finite_for_units_without_curvature():
    """Far in the flat tail of softplus M underflows to 0, where √M has no derivative."""
    torch.manual_seed(3)
    flow = NICE(4, hidden=5, hidden_layers=1)
    with torch.no_grad():
        flow.shifts[0][0].bias.fill_(-500.0)
    loss = CPSM(flow).loss(torch.randn(10, 4))
    assert flat_gradient(loss, flow).isfinite().all()


@pytest.mark.parametrize("noise", [0.1, 0.5])
def test_dsm_gradient_equals_score_matching_of_the_noised_points(flow, x, noise):
    """Stein's identity at each point: ∇E‖σ²s(x̃) + x̃ − x‖²/2 = σ⁴ ∇E[tr ∇s + ‖s‖²/2] at x̃ = x + σv."""
    method = DSM(flow, noise=noise)
    repeats, batch = 100, 100
    torch.manual_seed(4)
    denoising = draw_gradients(method.loss, flow, x, repeats, batch)
    noised = [
        x.repeat(batch, 1) + noise * torch.randn(batch * POINTS, 3, dtype=torch.float64)
        for _ in range(repeats)
    ]
    matching = torch.stack(
        [noise**4 * flat_gradient(score_matching_loss(flow, points), flow) for points in noised]
    )
    assert_mean(denoising - matching, 0.0)


def test_dsm_loss_is_zero_for_the_noise_kernel_of_a_point_mass():
    """If all data are one point, the noised density is N(0, σ²I), whose score makes every residual zero."""
    mixture = GaussianMixture(2, components=1)
    with torch.no_grad():
        mixture.means.zero_()
        mixture.log_scales.fill_(torch.tensor(0.3).log())
    assert float(DSM(mixture, noise=0.3).loss(torch.zeros(50, 2)).detach()) < 1e-10

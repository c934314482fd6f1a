"""Energy discrepancy against its closed form, quadrature, and its two limits on Gaussian data.

For f = −x²/(2v) and data of variance s the loss with M → ∞ is
½ log(v/(v+t)) − (s+t)/(2(v+t)) + s/(2v). The quartic f = −θx⁴/4 does not contain the Gaussian, so score
matching (θ = 1/(5s²)) and maximum likelihood (θ = 1/(3s²)) choose different models.
"""

import math

import pytest
import torch
from oracles import GaussianEnergy, assert_mean
from torch import nn

import vera
from vera.methods import EnergyDiscrepancy

S = 1.5


class QuarticEnergy(nn.Module):
    """f(x) = −θ x⁴ / 4 in one dimension."""

    data_dim = 1

    def __init__(self, theta):
        super().__init__()
        self.theta = nn.Parameter(torch.tensor(theta, dtype=torch.float64))

    def forward(self, x):
        return -self.theta / 4 * x.pow(4).sum(1)


SCORE_MATCHING, LIKELIHOOD = 1 / (5 * S**2), 1 / (3 * S**2)


def draw_points(n, seed=0):
    rng = torch.Generator().manual_seed(seed)
    return math.sqrt(S) * torch.randn(n, 1, dtype=torch.float64, generator=rng)


def compute_gaussian_loss(v, t):
    return 0.5 * math.log(v / (v + t)) - (S + t) / (2 * (v + t)) + S / (2 * v)


def integrate_gradient(theta, t):
    """Return dL/dθ of the quartic for M → ∞ by quadrature: E_y E[∂f(x')|y] − E ∂f(x), with ∂f = −x⁴/4."""
    x = torch.linspace(-8, 8, 1001, dtype=torch.float64)
    y = torch.linspace(-8, 8, 201, dtype=torch.float64) * math.sqrt(S + t)
    log_joint = -theta / 4 * x**4 - (x - y.unsqueeze(1)) ** 2 / (2 * t)
    inner = (log_joint.softmax(1) * (-(x**4) / 4)).sum(1)
    density = torch.softmax(-(y**2) / (2 * (S + t)), 0)
    return float((density * inner).sum()) + 3 * S**2 / 4


def solve_theta(t, low=0.01, high=1.0):
    """Return the θ at which the gradient vanishes; L is convex in θ between the limits."""
    for _ in range(20):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if integrate_gradient(middle, t) < 0 else (low, middle)
    return low


@pytest.mark.parametrize(("t", "samples"), [(0.2, 32), (0.5, 64), (2.0, 256)])
def test_the_loss_of_a_gaussian_has_its_closed_form(t, samples):
    torch.manual_seed(1)
    method = EnergyDiscrepancy(GaussianEnergy(variance=2.0).double(), t=t, samples=samples, w=0.0)
    draws = torch.stack([method.loss(draw_points(500, seed)).detach() for seed in range(100)])
    closed = compute_gaussian_loss(2.0, t)
    assert float(draws.mean()) == pytest.approx(closed, abs=5 * float(draws.std()) / 10 + 2e-3)
    assert abs(compute_gaussian_loss(4.0, t) - closed) > 0.01


@pytest.mark.parametrize("t", [1e-4, 0.1, 1.0, 1e4])
def test_the_closed_form_is_smallest_at_the_variance_of_the_data(t):
    h = 1e-3 * S
    assert compute_gaussian_loss(S, t) < min(compute_gaussian_loss(S - h, t), compute_gaussian_loss(S + h, t))


def test_small_t_is_score_matching_and_large_t_maximum_likelihood():
    assert solve_theta(1e-3) == pytest.approx(SCORE_MATCHING, rel=0.02)
    assert solve_theta(1e3) == pytest.approx(LIKELIHOOD, rel=0.02)
    assert SCORE_MATCHING < solve_theta(0.3) < solve_theta(3.0) < LIKELIHOOD


def draw_gradients(theta, t, samples, n, repeats):
    """Return gradients at evenly spaced quantiles of the data: only the noise of the method is random."""
    method = EnergyDiscrepancy(QuarticEnergy(theta), t=t, samples=samples, w=0.0)
    levels = (torch.arange(n, dtype=torch.float64) + 0.5) / n
    x = (math.sqrt(S) * torch.special.ndtri(levels)).unsqueeze(1)
    losses = (method.loss(x) for _ in range(repeats))
    return torch.stack([torch.autograd.grad(loss, method.energy.theta)[0] for loss in losses])


def test_the_estimate_at_small_t_has_the_gradient_of_score_matching():
    """With M contrasting points ½‖∇f‖² has the factor 1 − 1/M, so θ = M/(M − 1) / (5s²)."""
    torch.manual_seed(2)
    t, samples = 1e-3, 8
    root = SCORE_MATCHING * samples / (samples - 1)
    assert_mean(draw_gradients(root, t, samples, 20_000, 50) / t, 0.0, sigmas=4)
    wrong = draw_gradients(LIKELIHOOD, t, samples, 20_000, 50) / t
    assert float(wrong.mean()) > 8 * float(wrong.std()) / math.sqrt(50)


@pytest.mark.parametrize("theta", [SCORE_MATCHING, LIKELIHOOD, 0.5])
def test_the_estimate_at_larger_t_has_the_gradient_of_quadrature(theta):
    torch.manual_seed(3)
    draws = draw_gradients(theta, 3.0, 500, 4_000, 8)
    error = 5 * float(draws.std()) / math.sqrt(8) + 0.03
    assert float(draws.mean()) == pytest.approx(integrate_gradient(theta, 3.0), abs=error)
    assert error < 0.2


class SpikeEnergy(nn.Module):
    """A spike of the given height on each training point, and 0 elsewhere."""

    data_dim = 1

    def __init__(self, points, height):
        super().__init__()
        self.points, self.height = points, nn.Parameter(torch.tensor(height))

    def forward(self, x):
        distance = (x.unsqueeze(1) - self.points).abs().amin((1, 2))
        return torch.where(distance < 1e-6, self.height, 0.0 * self.height)


def test_without_the_stabiliser_spikes_on_the_training_points_lower_the_loss_without_bound():
    torch.manual_seed(5)
    points = torch.randn(50, 1)

    def measure(w, height):
        method = EnergyDiscrepancy(SpikeEnergy(points, height), samples=8, w=w)
        return float(method.loss(points).detach())

    for height in (10.0, 100.0, 1000.0):
        assert measure(0.0, height) == pytest.approx(-height, rel=1e-3)
        assert measure(1.0, height) == pytest.approx(math.log(1 / 8), abs=1e-3)


@pytest.mark.parametrize(("t", "w"), [(0.3, 0.0), (0.3, 1.0), (3.0, 1.0)])
def test_training_recovers_the_variance(t, w):
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(20_000, 1, generator=rng)
    x = x / x.square().mean().sqrt() * math.sqrt(S)
    method = EnergyDiscrepancy(GaussianEnergy(), lr=1e-2, t=t, w=w, samples=32)
    trainer = vera.Trainer(method, x, steps=800, batch_size=256, seed=1)
    late = [trainer.run(until) or method.energy.variance for until in range(400, 800, 20)]
    assert sum(late) / len(late) == pytest.approx(S, rel=0.06)

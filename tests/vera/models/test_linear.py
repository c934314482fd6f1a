"""The linear generator compared with closed forms."""

import math

import pytest
import torch
from facts import raises_with
from torch.distributions import MultivariateNormal

from vera.errors import SettingError
from vera.models import LinearGenerator


@pytest.fixture
def linear() -> LinearGenerator:
    torch.manual_seed(0)
    return LinearGenerator(3, 5, sigma=0.4).double()


def exact_distribution(linear: LinearGenerator) -> MultivariateNormal:
    w = linear.net.weight.detach()
    return MultivariateNormal(
        linear.net.bias.detach(), w @ w.T + linear.sigma.detach() ** 2 * torch.eye(5, dtype=w.dtype)
    )


def test_the_linear_generators_covariance_is_wwt_plus_noise(linear):
    assert torch.allclose(linear.covariance(), exact_distribution(linear).covariance_matrix)


def test_samples_of_the_linear_generator_follow_its_distribution(linear):
    n = 40_000
    x = linear.sample(n)
    whitened = torch.linalg.solve_triangular(
        exact_distribution(linear).scale_tril, (x - linear.net.bias.detach()).T, upper=False
    )
    assert whitened.mean(1).abs().max() < 4.5 / math.sqrt(n)
    assert (torch.cov(whitened) - torch.eye(5)).abs().max() < 4.5 * math.sqrt(2 / n)


def test_the_exact_score_is_the_gradient_of_the_log_density(linear):
    x = torch.randn(20, 5, dtype=torch.float64, requires_grad=True)
    (score,) = torch.autograd.grad(exact_distribution(linear).log_prob(x).sum(), x)
    assert torch.allclose(linear.exact_score(x.detach()), score)


def test_the_entropy_equals_that_of_the_normal_distribution(linear):
    assert torch.allclose(linear.entropy(), exact_distribution(linear).entropy())


def test_the_posterior_equals_the_conditional_of_the_joint_normal(linear):
    x, w = torch.randn(20, 5, dtype=torch.float64), linear.net.weight
    gain = w.T @ torch.linalg.inv(exact_distribution(linear).covariance_matrix)
    assert torch.allclose(linear.posterior_mean(x), (x - linear.net.bias) @ gain.T)
    assert torch.allclose(torch.linalg.inv(linear.precision()), torch.eye(3, dtype=w.dtype) - gain @ w)


def make_ppca_points(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return n points x = W z + μ + .3 ε in six dimensions with two factors, and their covariance."""
    rng = torch.Generator().manual_seed(0)
    w = torch.randn(6, 2, generator=rng, dtype=torch.float64)
    z, noise = (torch.randn(n, size, generator=rng, dtype=torch.float64) for size in (2, 6))
    return z @ w.T + 2 + 0.3 * noise, w @ w.T + 0.09 * torch.eye(6, dtype=torch.float64)


def test_pca_recovers_mean_and_covariance():
    x, covariance = make_ppca_points(50_000)
    model = LinearGenerator.from_pca(x, 2)
    assert (model.covariance() - covariance).abs().max() < 0.02 * covariance.diagonal().max()
    assert torch.allclose(model.net.bias, x.mean(0))
    assert model.sigma.item() == pytest.approx(0.3, rel=0.01)


def test_pca_keeps_the_leading_eigenvalues_and_averages_the_rest():
    x, _ = make_ppca_points(200)
    eigenvalues = torch.linalg.eigvalsh(torch.cov(x.T)).flip(0)
    expected = torch.cat([eigenvalues[:2], eigenvalues[2:].mean().expand(4)])
    found = torch.linalg.eigvalsh(LinearGenerator.from_pca(x, 2).covariance()).flip(0)
    assert torch.allclose(found, expected, rtol=1e-6)


def test_pca_with_noise_as_variance_reproduces_the_published_mistake():
    x, _ = make_ppca_points(200)
    right, published = LinearGenerator.from_pca(x, 2), LinearGenerator.from_pca(x, 2, noise="variance")
    assert published.sigma.item() == pytest.approx(right.sigma.item() ** 2, rel=1e-6)
    assert torch.equal(published.weight, right.weight)


@pytest.mark.parametrize(
    ("components", "noise", "named", "value"),
    [
        (2, "median", "noise", "'median'"),
        (6, "deviation", "components", 6),
        (0, "deviation", "components", 0),
    ],
)
def test_pca_names_the_invalid_argument(components, noise, named, value):
    with raises_with(SettingError, "LinearGenerator", named, f"got {value}"):
        LinearGenerator.from_pca(make_ppca_points(50)[0], components, noise=noise)

"""The fitted Gaussian: its moments, the shrunk covariance, log-density and samples against closed forms."""

import math

import pytest
import torch
from oracles import assert_mean
from torch.distributions import MultivariateNormal

from vera.models import FittedGaussian
from vera.models.fitted_gaussian import shrink_covariance


def make_points(n=400, dim=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    mixing = torch.randn(dim, dim, generator=generator, dtype=torch.float64)
    return torch.randn(n, dim, generator=generator, dtype=torch.float64) @ mixing + 2.0


def fit(*batches):
    gaussian = FittedGaussian(batches[0].shape[1:]).to(batches[0])
    for batch in batches:
        gaussian.add(batch)
    return gaussian


def find_covariance(gaussian):
    return gaussian.scale_tril @ gaussian.scale_tril.T


def test_batches_give_the_fit_of_all_points_together():
    x = make_points()
    whole, parts = fit(x), fit(x[:7], x[7:200], x[200:])
    assert int(parts.count) == 400
    assert torch.allclose(parts.mean, x.mean(0))
    assert torch.allclose(parts.scatter / 400, torch.cov(x.T, correction=0))
    assert torch.allclose(find_covariance(parts), find_covariance(whole))


def test_the_share_of_the_identity_is_the_oracle_approximating_one():
    x = make_points(n=30)
    s = torch.cov(x.T, correction=0)
    trace, squares = float(s.trace()), float((s @ s).trace())
    share = ((1 - 2 / 3) * squares + trace**2) / ((30 + 1 - 2 / 3) * (squares - trace**2 / 3))
    expected = (1 - share) * s + share * trace / 3 * torch.eye(3)
    assert 0.05 < share < 0.5
    assert torch.allclose(find_covariance(fit(x)), expected)


def test_the_share_falls_as_one_over_n():
    s = torch.diag(torch.tensor([4.0, 1.0, 1.0]))
    distances = [float((shrink_covariance(s, torch.tensor(n)) - s).norm()) for n in (1_000, 10_000)]
    assert distances[0] / distances[1] == pytest.approx(10, rel=0.01)


def test_fewer_points_than_dimensions_give_full_rank():
    x = torch.randn(5, 20, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    eigenvalues = torch.linalg.eigvalsh(find_covariance(fit(x)))
    assert torch.linalg.matrix_rank(torch.cov(x.T)) == 4
    assert eigenvalues.min() > 0.05 * eigenvalues.max()


def test_one_dimension_is_not_shrunk():
    x = make_points(dim=1)
    assert torch.allclose(find_covariance(fit(x)), x.var(0, correction=0).view(1, 1))


def test_the_log_density_is_that_of_a_normal_distribution():
    gaussian, x = fit(make_points()), make_points(n=10, seed=1).requires_grad_()
    expected = MultivariateNormal(gaussian.mean, scale_tril=gaussian.scale_tril).log_prob(x)
    found = gaussian.log_prob(x)
    assert torch.allclose(found, expected)
    slopes = [torch.autograd.grad(value.sum(), x)[0] for value in (found, expected)]
    assert torch.allclose(*slopes)


def test_samples_have_the_fitted_moments_and_the_shape_of_the_data():
    gaussian = fit(make_points(dim=4).view(-1, 1, 2, 2))
    torch.manual_seed(2)
    drawn = gaussian.sample(50_000)
    assert drawn.shape == (50_000, 1, 2, 2)
    rows = drawn.flatten(1)
    assert_mean(rows, gaussian.mean)
    offset = rows - gaussian.mean
    assert_mean(offset.unsqueeze(2) * offset.unsqueeze(1), find_covariance(gaussian))


def test_an_integral_over_the_plane_is_one():
    gaussian = fit(make_points(dim=2).float())
    spread = 8 * float(find_covariance(gaussian).diagonal().max().sqrt())
    axis = torch.linspace(-spread, spread, 801)
    points = torch.cartesian_prod(axis, axis) + gaussian.mean
    log_mass = gaussian.log_prob(points).double().logsumexp(0) + 2 * math.log(2 * spread / 800)
    assert float(log_mass) == pytest.approx(0, abs=1e-3)


def test_nan_gives_nan_and_no_error():
    gaussian = fit(torch.tensor([[0.0, 1.0], [math.nan, 2.0], [1.0, 3.0]]))
    assert gaussian.log_prob(torch.zeros(1, 2)).isnan().all()

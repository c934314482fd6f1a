"""Distances between sets of features: closed forms for Gaussians, second implementations, sums of moments."""

import math

import numpy as np
import pytest
import torch
from facts import raises_with
from scipy.linalg import sqrtm

from vera.errors import SettingError
from vera.evaluation import Moments, frechet_distance, kernel_distance

DIM = 12


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def features(n, dim=DIM, shift=0.0):
    """Return correlated, skewed features far from the origin, like those after a ReLU."""
    mix = torch.randn(dim, dim, generator=torch.Generator().manual_seed(3)) / dim**0.5
    return (torch.randn(n, dim) @ mix + 3 + shift).relu()


def gaussian(mean, covariance, n=1_000):
    return Moments(n, mean, covariance * (n - 1))


def published(x, y):
    """Return FID as in the usual script: the real part of a matrix root of the product of the covariances."""
    x, y = x.double().numpy(), y.double().numpy()
    a, b = np.cov(x, rowvar=False), np.cov(y, rowvar=False)
    return float(((x.mean(0) - y.mean(0)) ** 2).sum() + np.trace(a + b - 2 * sqrtm(a @ b).real))


def test_distance_of_diagonal_gaussians_has_its_closed_form():
    means, variances = torch.randn(2, DIM).double(), torch.rand(2, DIM).double()
    a, b = (gaussian(mean, variance.diag()) for mean, variance in zip(means, variances, strict=True))
    expected = (means[0] - means[1]).square().sum() + (
        variances[0].sqrt() - variances[1].sqrt()
    ).square().sum()
    assert frechet_distance(a, b) == pytest.approx(float(expected), rel=1e-10)


def test_distance_of_scaled_gaussians_has_its_closed_form():
    root = torch.randn(DIM, DIM).double()
    covariance = root @ root.T
    distance = frechet_distance(
        gaussian(torch.zeros(DIM).double(), covariance), gaussian(torch.zeros(DIM).double(), 9 * covariance)
    )
    assert distance == pytest.approx(4 * float(covariance.trace()), rel=1e-10)


def test_distance_equals_that_of_the_published_script():
    x, y = features(500), features(400, shift=0.2)
    assert frechet_distance(Moments.from_features(x), Moments.from_features(y)) == pytest.approx(
        published(x, y), rel=1e-6
    )


def test_distance_is_symmetric():
    x, y = Moments.from_features(features(300)), Moments.from_features(features(200, shift=0.3))
    assert frechet_distance(x, y) == pytest.approx(frechet_distance(y, x), rel=1e-9)


@pytest.mark.parametrize("n", [1_000, 150, 20])
def test_distance_of_a_set_from_itself_is_zero_with_fewer_points_than_dimensions(n):
    moments = Moments.from_features(features(n, dim=200))
    assert 0 <= frechet_distance(moments, moments) < 1e-8 * float(moments.covariance.trace())


def test_distance_of_singular_covariances_is_that_in_the_subspace():
    """Points vary in 5 of 60 coordinates; the other coordinates contribute only their shift."""
    x, y = features(40, dim=5), features(50, dim=5, shift=0.1)
    wide_x, wide_y = (
        torch.nn.functional.pad(points, (0, 55), value=level) for points, level in ((x, 1.0), (y, 1.5))
    )
    rotation = torch.linalg.qr(torch.randn(60, 60).double()).Q
    distance = frechet_distance(
        Moments.from_features(wide_x.double() @ rotation), Moments.from_features(wide_y.double() @ rotation)
    )
    assert distance == pytest.approx(
        frechet_distance(Moments.from_features(x), Moments.from_features(y)) + 55 * 0.25, rel=1e-8
    )


def test_distance_with_fewer_points_than_dimensions_equals_the_direct_form():
    """With A = XᵀX and B = YᵀY the trace of the root is the sum of the singular values of XYᵀ."""
    x, y = features(30, dim=200).double(), features(40, dim=200, shift=0.2).double()
    centred = (x - x.mean(0)) / 29**0.5, (y - y.mean(0)) / 39**0.5
    overlap = torch.linalg.svdvals(centred[0] @ centred[1].T).sum()
    expected = (
        (x.mean(0) - y.mean(0)).square().sum()
        + sum(points.square().sum() for points in centred)
        - 2 * overlap
    )
    assert frechet_distance(Moments.from_features(x), Moments.from_features(y)) == pytest.approx(
        float(expected), rel=1e-7
    )


def test_distance_is_biased_upwards_for_few_points():
    draws = [
        [
            frechet_distance(Moments.from_features(features(n)), Moments.from_features(features(n)))
            for _ in range(5)
        ]
        for n in (50, 1_000)
    ]
    assert min(draws[0]) > max(draws[1]) > 0


def test_distance_of_non_finite_points_is_nan():
    broken = features(50)
    broken[3, 2] = math.nan
    assert math.isnan(frechet_distance(Moments.from_features(broken), Moments.from_features(features(50))))


def test_moments_of_chunks_add_up():
    x = features(101)
    chunks = [Moments.from_features(chunk) for chunk in x.split(20)]  # the last chunk has one point
    total = chunks[0] + chunks[1] + chunks[2] + chunks[3] + chunks[4] + chunks[5]
    assert total.n == 101
    torch.testing.assert_close(total.mean, x.double().mean(0))
    torch.testing.assert_close(total.covariance, torch.cov(x.double().T))


def test_errors_name_the_numbers():
    with raises_with(SettingError, "2 points", "got 1"):
        frechet_distance(Moments.from_features(features(1)), Moments.from_features(features(5)))
    with raises_with(SettingError, "frechet_distance", "12 and 3 features"):
        frechet_distance(Moments.from_features(features(5)), Moments.from_features(features(5, dim=3)))
    with raises_with(SettingError, "kernel_distance", "2 points", "1 and 5"):
        kernel_distance(features(1), features(5))


def test_kernel_distance_equals_a_double_loop():
    x, y = features(7, dim=3), features(5, dim=3, shift=0.5)

    def mean(one, other, same):
        pairs = [(a, b) for i, a in enumerate(one) for j, b in enumerate(other) if not (same and i == j)]
        return sum((float(a @ b) / 3 + 1) ** 3 for a, b in pairs) / len(pairs)

    expected = mean(x, x, True) + mean(y, y, True) - 2 * mean(x, y, False)
    estimate = kernel_distance(x, y)
    assert estimate.mean == pytest.approx(expected, rel=1e-5)
    assert estimate.n == 1


def test_kernel_distance_is_the_distance_of_the_first_three_moments():
    """In one dimension (xy + 1)³ = Σ C(3, j) xʲ yʲ, so the squared distance is Σ C(3, j) (E xʲ − E yʲ)²."""
    x, y = torch.randn(40_000, 1).double(), torch.randn(40_000, 1).double() + 0.3
    moments = (0.3, 1.09, 0.3**3 + 3 * 0.3)  # of N(.3, 1); those of N(0, 1) are 0, 1, 0
    expected = 3 * moments[0] ** 2 + 3 * (moments[1] - 1) ** 2 + moments[2] ** 2
    estimate = kernel_distance(x, y)
    assert estimate.n == 40
    assert abs(estimate.mean - expected) < 4 * estimate.standard_error < 0.4 * expected


def test_kernel_distance_is_unbiased_for_few_points():
    draws = torch.tensor([kernel_distance(features(30), features(30)).mean for _ in range(200)])
    assert abs(float(draws.mean())) < 4 * float(draws.std()) / 200**0.5
    assert (draws < 0).any()


def test_kernel_distance_is_independent_of_sorting():
    """Without shuffling, every block would contain similar points and be far from the whole set."""
    x = features(2_000)
    order = x.sum(1).argsort()
    in_order, at_random = (
        kernel_distance(x[order], features(2_000), 100),
        kernel_distance(x, features(2_000), 100),
    )
    assert abs(in_order.mean) < 4 * in_order.standard_error
    assert abs(at_random.mean) < 4 * at_random.standard_error

"""Eight Gaussians, checkerboard, pinwheel and spirals: densities against quadrature, and their points."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.stats import norm

from vera.data import Checkerboard, EightGaussians, Pinwheel, Spirals
from vera.data.planar import _rotate
from vera.spec.registry import datasets

CEILINGS = {EightGaussians: -2.5090, Checkerboard: -3.0077, Pinwheel: -2.3206, Spirals: -2.9455}
FINGERPRINTS = {
    EightGaussians: "d0ca41acd1f1d8ef",
    Checkerboard: "99bb831ec294cb30",
    Pinwheel: "49cf4fc38978b45c",
    Spirals: "996fc542f4a3e9ea",
}
every_toy = pytest.mark.parametrize("toy_class", list(CEILINGS))


@every_toy
def test_density_integrates_to_one_and_its_entropy_is_the_ceiling(toy_class):
    h = 0.03
    axis = torch.arange(-6, 6, h, dtype=torch.float64)
    log_p = toy_class().log_density(torch.cartesian_prod(axis, axis))
    mass = log_p.exp() * h * h
    assert mass.sum().item() == pytest.approx(1, abs=1e-6)
    assert (mass * log_p.clamp_min(-1e4)).sum().item() == pytest.approx(CEILINGS[toy_class], abs=6e-4)


@every_toy
def test_points_follow_the_density(toy_class):
    """The mean log-density of the points is the ceiling, and each of 64 squares holds its share of them."""
    toy = toy_class()
    points = toy.test_points(seed=0)
    log_p = toy.log_density(points).double()
    error = log_p.std().item() / math.sqrt(len(log_p))
    assert log_p.mean().item() == pytest.approx(CEILINGS[toy_class], abs=4 * error)
    edges = torch.arange(-4.0, 5.0)
    counts, _ = torch.histogramdd(points.double(), bins=[edges.double(), edges.double()])
    h = 0.025
    axis = torch.arange(-4 + h / 2, 4, h, dtype=torch.float64)
    mass = toy.log_density(torch.cartesian_prod(axis, axis)).exp().view(320, 320) * h * h
    expected = mass.view(8, 40, 8, 40).sum((1, 3)) * len(points)
    assert ((counts - expected).abs() < 5 * expected.sqrt() + 5).all()


@every_toy
def test_a_batch_is_new_reproducible_and_resumes(toy_class):
    stream, same, other = (toy_class().stream(50, seed) for seed in (0, 0, 1))
    first, second = stream.next_batch(), stream.next_batch()
    assert first.shape == (50, 2)
    assert first.dtype == torch.float32
    assert torch.equal(first, same.next_batch())
    assert not torch.equal(first, other.next_batch())
    other.load_state_dict(same.state_dict())
    assert torch.equal(second, other.next_batch())
    assert not torch.equal(first, toy_class().test_points(0, 50))


def test_density_is_finite_far_from_all_mass():
    far = torch.tensor([[50.0, -80.0], [0.0, 0.0], [1e3, 1e3]])
    for toy_class in CEILINGS:
        assert toy_class().log_density(far).isfinite().all()


def test_checkerboard_against_the_normal_distribution_function():
    toy = Checkerboard()
    points = [(0.75, 0.75), (-0.02, 0.01), (1.5, 2.2), (-3.1, -2.9)]
    squares = [(i, j) for i in range(4) for j in range(4) if (i + j) % 2 == 0]

    def mass(x, i):
        low = -3 + 1.5 * i
        return norm.cdf((x - low) / 0.05) - norm.cdf((x - low - 1.5) / 0.05)

    expected = [math.log(sum(mass(x, i) * mass(y, j) for i, j in squares) / (8 * 1.5**2)) for x, y in points]
    found = toy.log_density(torch.tensor(points, dtype=torch.float64))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-8)


def test_spirals_against_adaptive_quadrature():
    toy = Spirals()
    points = toy.test_points(1, 6).double()

    def along(u, x, y, sign):
        angle = 3 * math.pi * math.sqrt(u)
        dx, dy = x - sign * angle / 3 * math.cos(angle), y - sign * angle / 3 * math.sin(angle)
        return math.exp(-(dx**2 + dy**2) / (2 * 0.15**2)) / (2 * math.pi * 0.15**2)

    def density(x, y):
        parts = np.linspace(0, 1, 60)
        return sum(
            quad(along, a, b, args=(x, y, sign))[0] / 2 for sign in (1, -1) for a, b in pairwise(parts)
        )

    expected = [math.log(density(x, y)) for x, y in points.tolist()]
    np.testing.assert_allclose(toy.log_density(points).numpy(), expected, rtol=1e-6)


def test_pinwheel_turns_keep_areas():
    """The Jacobian of the bend has determinant one, so the density needs no further factor."""
    toy = Pinwheel()

    def bend(point):
        return _rotate(point.unsqueeze(0), toy._angle(point.unsqueeze(0)))[0]

    for point in torch.tensor([[2.0, 0.1], [0.5, -0.4], [3.5, 0.3]], dtype=torch.float64):
        jacobian = torch.autograd.functional.jacobian(bend, point)
        assert torch.linalg.det(jacobian).item() == pytest.approx(1.0, abs=1e-9)


@every_toy
def test_the_fingerprint_is_stable(toy_class):
    assert toy_class().fingerprint == FINGERPRINTS[toy_class]
    assert datasets.name_of(toy_class) == toy_class.name

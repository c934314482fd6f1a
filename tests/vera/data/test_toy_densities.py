"""Toy densities against explicit geometry, adaptive quadrature and the entropy of the true density."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from facts import raises_with
from scipy.integrate import quad

from vera.data import Circles, Moons, Rings
from vera.errors import SettingError
from vera.spec.registry import datasets

TOYS = [Moons, Circles, Rings]
CEILINGS = {Moons: -2.394, Circles: -3.268, Rings: -2.623}
CURVES = {  # (centre, radius, first angle, last angle), equal mass each
    Moons: [((-1.0, -0.2), 2.0, 0.0, math.pi), ((1.0, 0.8), 2.0, math.pi, 2 * math.pi)],
    Circles: [((0.0, 0.0), r, 0.0, 2 * math.pi) for r in (3.0, 1.5)],
    Rings: [((0.0, 0.0), r, 0.0, 2 * math.pi) for r in (3.0, 2.25, 1.5, 0.75)],
}
NOISE = {Moons: 0.2, Circles: 0.24, Rings: 0.08}


def integrate_density(toy_class, point):
    s, curves = NOISE[toy_class], CURVES[toy_class]

    def along(t, centre, radius):
        dx, dy = point[0] - centre[0] - radius * math.cos(t), point[1] - centre[1] - radius * math.sin(t)
        return math.exp(-(dx**2 + dy**2) / (2 * s**2)) / (2 * math.pi * s**2)

    total = 0.0
    for centre, radius, first, last in curves:
        breaks = np.linspace(first, last, 40)
        total += sum(quad(along, a, b, args=(centre, radius))[0] for a, b in pairwise(breaks)) / (
            last - first
        )
    return total / len(curves)


def build_grid(h=0.04):
    axis = torch.arange(-5, 5, h, dtype=torch.float64)
    return torch.cartesian_prod(axis, axis), h * h


def make_noiseless(toy_class):
    toy = toy_class()
    toy.noise = 0.0
    return toy


def sort_points(points):
    return sorted(map(tuple, points.double().numpy().round(5).tolist()))


@pytest.mark.parametrize("toy_class", TOYS)
def test_density_integrates_to_one_and_its_entropy_is_the_ceiling(toy_class):
    points, area = build_grid()
    log_p = toy_class().log_density(points)
    mass = log_p.exp() * area
    assert mass.sum().item() == pytest.approx(1, abs=1e-6)
    assert (mass * log_p).sum().item() == pytest.approx(CEILINGS[toy_class], abs=6e-4)


@pytest.mark.parametrize("toy_class", TOYS)
def test_mean_log_density_of_test_points_is_the_ceiling(toy_class):
    log_p = toy_class().log_density(toy_class().test_points(seed=0))
    assert len(log_p) == 100_000
    standard_error = log_p.std().item() / math.sqrt(len(log_p))
    assert log_p.mean().item() == pytest.approx(CEILINGS[toy_class], abs=4 * standard_error)


@pytest.mark.parametrize("toy_class", TOYS)
def test_density_agrees_with_adaptive_quadrature(toy_class):
    points = toy_class().test_points(seed=1, n=5).double()
    expected = [math.log(integrate_density(toy_class, point)) for point in points.tolist()]
    torch.testing.assert_close(
        toy_class().log_density(points), torch.tensor(expected, dtype=torch.float64), rtol=1e-7, atol=1e-7
    )


@pytest.mark.parametrize("toy_class", TOYS)
def test_density_stays_finite_far_away_and_keeps_the_dtype(toy_class):
    log_p = toy_class().log_density(torch.tensor([[30.0, 0.0], [0.0, 0.0]]))
    assert log_p.dtype == torch.float32
    assert log_p.isfinite().all()
    assert log_p[0] < -1000


def test_moons_are_placed_as_by_make_moons():
    upper = [(2 * math.cos(t) - 1, 2 * math.sin(t) - 0.2) for t in (0, math.pi)]
    lower = [(2 * (1 - math.cos(t)) - 1, 2 * (0.5 - math.sin(t)) - 0.2) for t in (0, math.pi / 2, math.pi)]
    torch.testing.assert_close(Moons().build_skeleton(5), torch.tensor(upper + lower))


def test_circles_exclude_the_last_angle():
    outer = [(3.0, 0.0), (-3.0, 0.0)]
    inner = [(1.5 * math.cos(t), 1.5 * math.sin(t)) for t in (0, 2 * math.pi / 3, 4 * math.pi / 3)]
    torch.testing.assert_close(Circles().build_skeleton(5), torch.tensor(outer + inner))


def test_rings_have_twenty_times_the_points_with_equal_mass():
    radii = Rings().build_skeleton(200).norm(dim=1)
    assert len(radii) == 4000
    assert [(radii - r).abs().lt(1e-5).sum().item() for r in (3.0, 2.25, 1.5, 0.75)] == [1000] * 4


@pytest.mark.parametrize("toy_class", [Moons, Circles])
def test_a_batch_is_the_shuffled_build_skeleton(toy_class):
    toy = make_noiseless(toy_class)
    batch = toy.stream(101, seed=3).next_batch()
    assert sort_points(batch) == sort_points(toy.build_skeleton(101))
    assert not torch.equal(batch, toy.build_skeleton(101))


def test_rings_draw_with_replacement():
    toy = make_noiseless(Rings)
    batch = toy.stream(2000, seed=0).next_batch()
    drawn = sort_points(batch)
    assert set(drawn) <= set(sort_points(toy.build_skeleton(2000)))
    assert len(set(drawn)) < 2000
    on_outer = (batch.norm(dim=1) > 2.9).float().mean().item()
    assert on_outer == pytest.approx(0.25, abs=5 * math.sqrt(0.25 * 0.75 / 2000))


@pytest.mark.parametrize("toy_class", TOYS)
def test_noise_has_the_stated_standard_deviation(toy_class):
    n = 20_000
    noise = (
        toy_class().stream(n, seed=0).next_batch() - make_noiseless(toy_class).stream(n, seed=0).next_batch()
    )
    assert noise.std().item() == pytest.approx(NOISE[toy_class], rel=5 / math.sqrt(2 * noise.numel()))
    assert abs(noise.mean().item()) < 5 * NOISE[toy_class] / math.sqrt(noise.numel())


@pytest.mark.parametrize("toy_class", TOYS)
def test_streams_depend_only_on_their_seed(toy_class):
    one, two, other = (toy_class().stream(64, seed) for seed in (5, 5, 6))
    first = one.next_batch()
    torch.manual_seed(99)
    assert first.shape == (64, 2)
    assert first.dtype == torch.float32
    assert torch.equal(first, two.next_batch())
    assert not torch.equal(first, other.next_batch())
    assert not torch.equal(first, one.next_batch())


@pytest.mark.parametrize("toy_class", TOYS)
def test_a_resumed_stream_continues_bit_for_bit(toy_class):
    stream = toy_class().stream(32, seed=0)
    stream.next_batch()
    resumed = toy_class().stream(32, seed=1)
    resumed.load_state_dict(stream.state_dict())
    for _ in range(3):
        assert torch.equal(stream.next_batch(), resumed.next_batch())


@pytest.mark.parametrize("toy_class", TOYS)
def test_test_points_are_not_the_training_batch_of_the_same_seed(toy_class):
    points = toy_class().test_points(seed=0, n=200)
    assert not torch.equal(points, toy_class().stream(200, seed=0).next_batch())
    assert torch.equal(points, toy_class().test_points(seed=0, n=200))
    assert not torch.equal(points, toy_class().test_points(seed=1, n=200))


def test_registered_toys_have_distinct_fingerprints():
    toys = [datasets.create(name) for name in ("moons", "circles", "rings")]
    assert [type(toy) for toy in toys] == TOYS
    assert len({toy.fingerprint for toy in toys}) == 3
    assert all(len(toy.fingerprint) == 16 for toy in toys)
    assert Moons().fingerprint == Moons().fingerprint


def test_an_empty_batch_is_refused():
    with raises_with(SettingError, "batch_size", "at least 1", "got 0"):
        Moons().stream(0, seed=0)

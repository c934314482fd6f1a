"""The tolerances for samples that look right, and comparisons with upper bounds."""

import pytest

from bench.judging.cell import Cell
from bench.paper.experiments.toy_judging import (
    HALF_A_NAT,
    NOTHING_LEFT_OUT,
    ModelLikelihood,
    compare_likelihoods,
)
from vera.data import Circles, Moons, Rings
from vera.evaluation import energy_distance


@pytest.mark.parametrize("toy", [Moons(), Circles(), Rings()], ids=lambda toy: toy.name)
def test_half_a_nat_rejects_one_and_a_half_times_the_noise(toy):
    ceiling = toy.log_density(toy.test_points(0, 20_000)).mean()
    shortfalls = []
    for width in (1.25, 1.5):
        wide = type(toy)()
        wide.noise = width * toy.noise
        shortfalls.append(float(ceiling - toy.log_density(wide.test_points(1, 20_000)).mean()))
    assert shortfalls[0] < 0.35
    assert HALF_A_NAT < shortfalls[1] < 0.66


def test_the_energy_distance_detects_a_missing_ring_and_not_wider_rings():
    toy, wide = Rings(), Rings()
    wide.noise = 6 * toy.noise
    points = toy.test_points(1, 4_000)
    outer_missing = points[points.norm(dim=1) < 2.6][:1_000]
    data = toy.test_points(0, 1_000)
    assert energy_distance(toy.test_points(1, 1_000), data) < NOTHING_LEFT_OUT
    assert (
        energy_distance(wide.test_points(1, 1_000), data)
        < 2 * NOTHING_LEFT_OUT
        < energy_distance(outer_missing, data)
    )


def likelihood(label, *values, bound=False):
    return ModelLikelihood(label, Cell(values, ("ok",) * len(values)), bound)


@pytest.mark.parametrize(
    ("a_is_bound", "b_is_bound", "judgements"),
    [
        (False, False, ("supported", "refuted")),
        (True, False, ("not testable", "refuted")),
        (False, True, ("supported", "undetermined")),
        (True, True, ("not testable", "not testable")),
    ],
)
def test_an_upper_bound_can_lie_below_another_value_but_not_above_it(a_is_bound, b_is_bound, judgements):
    found = [
        compare_likelihoods(
            likelihood("a", *a, bound=a_is_bound),
            likelihood("b", -3.0, -3.01, bound=b_is_bound),
        )
        for a in ((-2.0, -2.01), (-4.0, -4.01))
    ]
    assert tuple(finding.judgement for finding in found) == judgements
    count = a_is_bound + b_is_bound
    assert [finding.explanation.count(" is an upper bound") for finding in found] == [count] * 2

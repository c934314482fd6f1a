"""Estimates: paired and Welch's intervals as in scipy, and the choice between them."""

from statistics import fmean

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from bench.judging.cell import Cell
from bench.judging.estimate import count_larger, estimate_difference, estimate_mean, pair_by_seed

VALUES = st.lists(st.integers(-1000, 1000).map(lambda i: i / 8), min_size=2, max_size=6)


def cell(*values, seeds=()):
    return Cell(tuple(values), ("ok",) * len(values), seeds=tuple(seeds))


def spread(values):
    return max(values) - min(values)


@settings(deadline=None, max_examples=50)
@given(VALUES, VALUES)
def test_without_seeds_the_interval_is_welchs(a, b):
    assume(spread(a) and spread(b))
    estimate = estimate_difference(cell(*a), cell(*b))
    expected = stats.ttest_ind(a, b, equal_var=False)
    interval = expected.confidence_interval(0.95)
    assert not estimate.is_paired
    assert estimate.mean == pytest.approx(fmean(a) - fmean(b))
    assert estimate.half_width() == pytest.approx((interval.high - interval.low) / 2, rel=1e-6)
    assert estimate.p_value() == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-10)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(-99, 99), st.integers(-99, 99)), min_size=2, max_size=6))
def test_with_the_same_seeds_the_interval_is_that_of_the_paired_differences(pairs):
    a, b = zip(*pairs, strict=True)
    assume(spread([x - y for x, y in pairs]))
    seeds = range(len(pairs))
    estimate = estimate_difference(cell(*a, seeds=seeds), cell(*b[::-1], seeds=seeds[::-1]))
    expected = stats.ttest_rel(a, b)
    interval = expected.confidence_interval(0.95)
    assert estimate.is_paired
    assert estimate.half_width() == pytest.approx((interval.high - interval.low) / 2, rel=1e-6)
    assert estimate.p_value() == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-10)


def test_the_paired_interval_of_two_seeds_in_closed_form():
    """Differences 1 and 3: mean 2, standard deviation √2, t(.975; 1) = 12.706, so 2 ± 12.706."""
    estimate = estimate_difference(cell(5.0, 13.0, seeds=(0, 1)), cell(4.0, 10.0, seeds=(0, 1)))
    assert (estimate.mean, estimate.error, estimate.freedom) == (2.0, pytest.approx(1.0), pytest.approx(1.0))
    assert estimate.half_width() == pytest.approx(12.7062, rel=1e-5)


@pytest.mark.parametrize(
    ("of_a", "of_b"), [((0, 1, 2), (0, 1, 3)), ((0, 1, 2), ()), ((), ()), ((0, 0, 1), (0, 0, 1))]
)
def test_other_unknown_or_repeated_seeds_are_not_paired(of_a, of_b):
    a, b = cell(1.0, 2.0, 4.0, seeds=of_a), cell(1.0, 2.5, 3.0, seeds=of_b)
    assert pair_by_seed(a, b) == []
    assert not estimate_difference(a, b).is_paired


def test_equal_differences_give_welchs_interval():
    """.1 + .2 and .3 differ in binary: the spread of such differences is rounding."""
    a, b = cell(0.1 + 0.2, 1.3, seeds=(0, 1)), cell(0.2, 1.2, seeds=(0, 1))
    assert not estimate_difference(a, b).is_paired


def test_two_sides_without_spread_give_no_interval():
    assert estimate_difference(cell(2.0, 2.0), cell(1.5, 1.5, 1.5)) is None
    assert estimate_mean(cell(2.0, 2.0)) is None


@pytest.mark.parametrize(("a", "b"), [([1.0], [1.0, 2.0]), ([1.0, 2.0], [])])
def test_a_side_with_fewer_than_two_values_gives_no_interval(a, b):
    assert estimate_difference(cell(*a), cell(*b)) is None


def test_growing_keeps_mean_and_spread():
    """The interval of n pairs is t(.975; n − 1) s / √n, that of two samples of n has Welch's freedom."""
    paired = estimate_difference(cell(5.0, 13.0, seeds=(0, 1)), cell(4.0, 10.0, seeds=(0, 1))).grow(9)
    assert paired.mean == 2.0
    assert paired.half_width() == pytest.approx(stats.t.ppf(0.975, 8) * 2**0.5 / 3)
    welch = estimate_difference(cell(0.0, 2.0), cell(0.0, 4.0)).grow(9)
    assert welch.error == pytest.approx(((2 + 8) / 9) ** 0.5)
    assert welch.freedom == pytest.approx(8 * (2 + 8) ** 2 / (2**2 + 8**2))


def test_improvement_is_counted_over_all_pairs_of_runs_and_ties_are_half():
    assert count_larger(cell(1.0, 3.0), cell(1.0, 2.0)) == 0.5 + 0 + 1 + 1
    assert count_larger(cell(1.0), cell(2.0, 3.0)) == 0

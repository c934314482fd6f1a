"""A measured value: intervals against scipy, lost trials counted, verdicts by their rule."""

import math
from statistics import fmean

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from bench.judging.cell import Cell, cell_of, difference_interval, t_quantile

VALUES = st.lists(st.integers(-1000, 1000).map(lambda i: i / 8), min_size=2, max_size=6)


@pytest.mark.parametrize("freedom", [1, 1.3, 2, 2.5, 3, 4, 7.7, 29, 1e3, 1e5])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_quantile_is_students(freedom, level):
    assert t_quantile(freedom, level) == pytest.approx(stats.t.ppf((1 + level) / 2, freedom), rel=1e-6)


@settings(deadline=None, max_examples=50)
@given(VALUES)
def test_the_interval_is_students_with_the_sample_deviation(values):
    expected = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    cell = Cell(tuple(values))
    assert cell.half_width == pytest.approx(expected, rel=1e-8, abs=1e-9)
    assert cell.mean == pytest.approx(math.fsum(values) / len(values))


def test_one_value_has_no_interval():
    assert Cell((1.5,)).half_width is None
    assert Cell((1.5,)).mean == 1.5


@settings(deadline=None, max_examples=50)
@given(VALUES, VALUES)
def test_the_interval_of_a_difference_is_welchs(a, b):
    assume(len({*a}) > 1 and len({*b}) > 1)
    difference, half_width = difference_interval(a, b)
    expected = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    assert difference == pytest.approx(fmean(a) - fmean(b))
    assert half_width == pytest.approx((expected.high - expected.low) / 2, rel=1e-6)


def test_two_sides_without_any_spread_give_no_interval():
    assert difference_interval([2.0, 2.0], [1.5, 1.5, 1.5]) is None


@pytest.mark.parametrize(("a", "b"), [([1.0], [1.0, 2.0]), ([1.0, 2.0], [])])
def test_a_side_with_fewer_than_two_values_gives_no_interval(a, b):
    assert difference_interval(a, b) is None


def test_every_ending_is_counted_and_only_measured_values_are_averaged():
    pairs = [
        ("ok", 1.0),
        ("ok", 3.0),
        ("ok", None),
        ("diverged", 99.0),
        ("out_of_memory", None),
        ("stopped_early", 99.0),
    ]
    cell = cell_of(pairs)
    assert cell.values == (1.0, 3.0)
    assert (cell.n, cell.total, cell.diverged, cell.failed, cell.unmeasured) == (2, 6, 1, 2, 1)
    assert cell.reason == ""


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ([], "not run"),
        ([("ok", None)] * 2, "not measured 2 of 2"),
        ([("diverged", 4.0)] * 2, "diverged 2 of 2"),
        (
            [("out_of_memory", None), ("diverged", None), ("diverged", None)],
            "diverged 2 of 3, out of memory 1 of 3",
        ),
        ([("ok", None), ("timeout", None)], "not measured 1 of 2, timeout 1 of 2"),
    ],
)
def test_a_cell_without_value_says_why(pairs, reason):
    cell = cell_of(pairs, paper=1.0)
    assert (cell.mean, cell.half_width, cell.difference, cell.verdict) == (None, None, None, None)
    assert cell.reason == reason


@pytest.mark.parametrize(
    ("values", "paper", "verdict"),
    [
        ((1.0, 2.0, 3.0), 2.0 + 4.96, "agrees"),
        ((1.0, 2.0, 3.0), 2.0 + 4.97, "below"),
        ((1.0, 2.0, 3.0), 2.0 - 4.96, "agrees"),
        ((1.0, 2.0, 3.0), 2.0 - 4.97, "above"),
        ((2.0,), 2.0, "undetermined"),
        ((1.0, 2.0), None, None),
        ((), 2.0, None),
    ],
)
def test_the_verdict_asks_whether_the_papers_value_could_be_another_run_of_ours(values, paper, verdict):
    """The prediction interval of 1, 2, 3 has the half-width t(0.975; 2) √(1 + 1/3) = 4.968."""
    assert Cell(values, ("ok",) * len(values), paper).verdict == verdict


def test_a_value_of_several_runs_is_asked_more_of():
    """The interval of a mean of three others has the half-width t(0.975; 2) √(1/3 + 1/3) = 3.513."""
    verdicts = [Cell((1.0, 2.0, 3.0), ("ok",) * 3, 2.0 + by, paper_runs=3).verdict for by in (3.51, 3.52)]
    assert verdicts == ["agrees", "below"]


def test_the_difference_is_ours_less_the_papers():
    assert Cell((-2.0, -4.0), ("ok", "ok"), -5.0).difference == 2.0
    assert Cell((-2.0, -4.0), ("ok", "ok")).difference is None


def test_a_value_that_was_measured_otherwise_is_shown_and_not_judged_by():
    cell = Cell((1.0, 2.0, 3.0), ("ok",) * 3, 50.0, comparable=False)
    assert (cell.paper, cell.difference, cell.verdict) == (50.0, None, None)


def test_the_seeds_that_did_not_diverge_have_no_verdict():
    assert Cell((1.0, 2.0), ("ok", "ok", "diverged"), 1.5).verdict == "undetermined"
    assert Cell((1.0, 2.0), ("ok", "ok", "error"), 1.5).verdict == "agrees", (
        "an error is no property of the method"
    )

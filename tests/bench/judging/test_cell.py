"""Cells: intervals as in scipy, counts of all outcomes, and verdicts against the paper's value."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bench.judging.cell import Cell, make_cell

VALUES = st.lists(st.integers(-1000, 1000).map(lambda i: i / 8), min_size=2, max_size=6)


@settings(deadline=None, max_examples=50)
@given(VALUES)
def test_the_interval_agrees_with_scipy(values):
    expected = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    cell = Cell(tuple(values))
    assert cell.half_width == pytest.approx(expected, rel=1e-8, abs=1e-9)
    assert cell.mean == pytest.approx(math.fsum(values) / len(values))


def test_a_single_value_has_no_interval():
    assert Cell((1.5,)).half_width is None
    assert Cell((1.5,)).mean == 1.5


def test_every_outcome_is_counted_and_only_measured_values_are_averaged():
    pairs = [
        ("ok", 1.0),
        ("ok", 3.0),
        ("ok", None),
        ("diverged", 99.0),
        ("out_of_memory", None),
        ("stopped_early", 99.0),
    ]
    cell = make_cell(pairs)
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
def test_a_cell_without_a_value_gives_the_reason(pairs, reason):
    cell = make_cell(pairs, paper=1.0)
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
def test_the_verdict_is_by_the_prediction_interval(values, paper, verdict):
    """The prediction interval of 1, 2, 3 has the half-width t(0.975; 2) √(1 + 1/3) = 4.968."""
    assert Cell(values, ("ok",) * len(values), paper).verdict == verdict


def test_the_prediction_interval_is_narrower_for_a_mean_of_several_runs():
    """For the mean of three runs it has the half-width t(0.975; 2) √(1/3 + 1/3) = 3.513."""
    verdicts = [Cell((1.0, 2.0, 3.0), ("ok",) * 3, 2.0 + by, paper_runs=3).verdict for by in (3.51, 3.52)]
    assert verdicts == ["agrees", "below"]


def test_the_difference_is_ours_minus_the_papers():
    assert Cell((-2.0, -4.0), ("ok", "ok"), -5.0).difference == 2.0
    assert Cell((-2.0, -4.0), ("ok", "ok")).difference is None


def test_a_value_that_is_not_comparable_has_no_verdict():
    cell = Cell((1.0, 2.0, 3.0), ("ok",) * 3, 50.0, comparable=False)
    assert (cell.paper, cell.difference, cell.verdict) == (50.0, None, None)


def test_the_verdict_is_undetermined_if_a_seed_diverged():
    assert Cell((1.0, 2.0), ("ok", "ok", "diverged"), 1.5).verdict == "undetermined"
    assert Cell((1.0, 2.0), ("ok", "ok", "error"), 1.5).verdict == "agrees", (
        "an error says nothing about the method"
    )


def test_the_seeds_of_a_cell_are_those_of_its_values():
    pairs = [("ok", 1.0), ("diverged", None), ("ok", None), ("ok", 2.0)]
    cell = make_cell(pairs, seeds=(0, 1, 2, 3))
    assert dict(zip(cell.seeds, cell.values, strict=True)) == {0: 1.0, 3: 2.0}
    assert make_cell(pairs).seeds == ()


def test_a_count_is_equal_or_not_whatever_the_number_of_runs():
    def verdict(value, paper, digits=0):
        return replace(make_cell([("ok", value)], paper), exact_digits=digits).verdict

    assert (verdict(523.0, 523.0), verdict(521.0, 523.0), verdict(525.0, 523.0)) == (
        "equal",
        "below",
        "above",
    )
    assert (verdict(19.44, 19.4, 1), verdict(19.46, 19.4, 1)) == ("equal", "above")


def test_a_biased_selection_agrees_with_nothing():
    cell = make_cell([("ok", 1.0), ("ok", 3.0)], 2.0)
    assert (cell.verdict, replace(cell, is_biased=True).verdict) == ("agrees", "undetermined")

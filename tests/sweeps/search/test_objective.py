"""Objectives: scores of rows, and their aggregation over seeds."""

from facts import raises_with
from store_helpers import make_row

from sweeps.search.objective import Objective, aggregate_scores
from vera.errors import SettingError

LARGE = Objective("test_log_likelihood", worst=-100.0)
SMALL = Objective("seconds", worst=60.0, direction="small")


def test_a_diverged_trial_scores_the_worst_value_and_a_failed_one_has_no_score():
    metrics = '{"test_log_likelihood": -3.0}'
    assert LARGE.score_row(make_row(outcome="ok", metrics=metrics)) == -3.0
    assert LARGE.score_row(make_row(outcome="diverged", metrics=metrics)) == -100.0
    assert LARGE.score_row(make_row(outcome="error", metrics=metrics)) is None
    assert LARGE.score_row(make_row(outcome="ok", metrics='{"test_log_likelihood": -1e9}')) == -100.0
    assert LARGE.score_row(make_row(outcome="ok", metrics="{}")) is None
    assert SMALL.score_row(make_row(outcome="ok", seconds=5.0)) == -5.0
    assert SMALL.format_score(-5.0) == "seconds 5"


def test_seeds_are_aggregated_as_declared():
    assert [aggregate_scores([1.0, 2.0, 6.0], by) for by in ("mean", "median", "worst")] == [3.0, 2.0, 1.0]
    with raises_with(SettingError, "'best'", "mean"):
        aggregate_scores([1.0], "best")

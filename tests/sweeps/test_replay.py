"""Replay: identical, or what differs and what may explain it."""

from dataclasses import replace

import pytest
from engine_helpers import make_row, plugin

from sweeps.attempt import run_trial
from sweeps.conditions import Conditions
from sweeps.replay import compare_with_replay, differences

pytestmark = pytest.mark.usefixtures("trouble_plugin")


def test_a_replay_is_identical_on_the_same_machine():
    row = run_trial(plugin().trouble(label="mine")).row
    assert compare_with_replay(row, Conditions())[0] == []


def test_a_changed_metric_is_named():
    row = run_trial(plugin().trouble()).row
    found, seconds = compare_with_replay(replace(row, metrics='{"loss": 1.0}'), Conditions())
    assert any(line.startswith("loss was 1.0, is ") for line in found)
    assert any(line.startswith("test_log_likelihood was None, is ") for line in found)
    assert seconds > 0


def test_a_failed_trial_replays_as_one():
    row = run_trial(plugin().trouble(fault="diverge")).row
    assert row.outcome == "diverged"
    assert compare_with_replay(row, Conditions())[0] == []


@pytest.mark.parametrize("column", ["device", "processor", "versions", "git_commit"])
def test_circumstances_are_named_only_where_results_differ(column):
    old = make_row(**{column: "old"})
    assert differences(old, replace(old, **{column: "new"})) == []
    found = differences(old, replace(old, outcome="diverged", **{column: "new"}))
    assert found == ["outcome was ok, is diverged", f"{column} was old, is new"]


def test_timing_is_no_difference():
    row = make_row()
    assert differences(row, replace(row, seconds=99.0, started_at="later", finished_at="later")) == []


def test_another_id_says_that_the_trial_itself_has_changed():
    row = make_row("abc0")
    assert differences(row, replace(row, trial_id="def0"))[0].startswith("the trial's id was abc0, is def0")

"""Replay: identical, or what differs and what may explain it."""

from dataclasses import replace

import pytest
import torch
from engine_helpers import make_row, plugin

from sweeps.errors import EngineError
from sweeps.run.attempt import run_trial
from sweeps.run.conditions import Conditions
from sweeps.run.provenance import processor
from sweeps.run.replay import compare_with_replay, differences

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


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_row_of_a_gpu_is_not_replayed_where_there_is_none(monkeypatch):
    monkeypatch.setattr("sweeps.run.replay.run_trial", lambda *_: pytest.fail("something was trained"))
    row = make_row("4f0c9a1b2d3e4f50", device="cuda")
    with pytest.raises(EngineError) as caught:
        compare_with_replay(row, Conditions(device=row.device))
    assert str(caught.value).startswith(
        "The trial 4f0c9a1b is replayed on cuda, as it was run, which this machine cannot use ("
    )
    assert str(caught.value).endswith("): replay it on one that can.")
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_what_cannot_run_on_a_gpu_is_a_row_that_does_not_know_its_model():
    row = run_trial(plugin().trouble(), Conditions(device="cuda")).row
    assert (row.outcome, row.device, row.processor) == ("error", "cuda", "unknown")
    assert "device 'cuda' cannot be used here" in row.reason
    assert processor("cpu") != "unknown"

"""Replay: differences from the stored row, and differences of the environment that may explain them."""

import json
from dataclasses import replace

import pytest
import torch
from engine_helpers import make_row, plugin
from facts import raises_with

from sweeps.errors import EngineError
from sweeps.run.attempt import run_attempt, run_trial
from sweeps.run.conditions import Conditions
from sweeps.run.provenance import read_processor
from sweeps.run.replay import list_differences, replay_row

pytestmark = pytest.mark.usefixtures("trouble_plugin")


def test_a_replay_is_identical_on_the_same_machine():
    row = run_trial(plugin().trouble(label="mine")).row
    assert replay_row(row, Conditions()).differences == []


def test_a_metric_that_differs_is_listed():
    row = run_trial(plugin().trouble()).row
    found, seconds, _ = replay_row(replace(row, metrics='{"loss": 1.0}'), Conditions())
    assert found[0].startswith("loss was 1.0, is ")
    assert not any(line.startswith("test_log_likelihood") for line in found), (
        "measured since the row was made"
    )
    assert seconds > 0


def test_a_metric_that_is_no_longer_measured_is_listed():
    row = run_trial(plugin().trouble()).row
    kept = {**json.loads(row.metrics), "gone": 1.0}
    found, *_ = replay_row(replace(row, metrics=json.dumps(kept)), Conditions())
    assert found[0] == "gone was 1.0, is None"


def test_a_replay_returns_the_model_that_the_trial_left():
    trial = plugin().trouble()
    attempt = run_attempt(trial, Conditions())
    row = attempt.record().row
    assert replay_row(row, Conditions()).model == attempt.encode_model() is not None
    assert replay_row(row, Conditions(keep_model=False)).model is None


def test_a_diverged_trial_replays_as_diverged():
    row = run_trial(plugin().trouble(fault="diverge")).row
    assert row.outcome == "diverged"
    replayed = replay_row(row, Conditions())
    assert (replayed.differences, replayed.model) == ([], None)


@pytest.mark.parametrize("column", ["device", "processor", "versions", "git_commit"])
def test_the_environment_is_listed_only_if_results_differ(column):
    old = make_row(**{column: "old"})
    assert list_differences(old, replace(old, **{column: "new"})) == []
    found = list_differences(old, replace(old, outcome="diverged", **{column: "new"}))
    assert found == ["outcome was ok, is diverged", f"{column} was old, is new"]


def test_timing_is_not_compared():
    row = make_row()
    assert list_differences(row, replace(row, seconds=99.0, started_at="later", finished_at="later")) == []


def test_another_id_is_listed_first():
    row = make_row("abc0")
    assert list_differences(row, replace(row, trial_id="def0"))[0].startswith(
        "the trial's id was abc0, is def0"
    )


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_row_of_a_gpu_is_not_replayed_without_one(monkeypatch):
    monkeypatch.setattr("sweeps.run.replay.run_attempt", lambda *_: pytest.fail("something was trained"))
    row = make_row("4f0c9a1b2d3e4f50", device="cuda")
    with raises_with(EngineError, "4f0c9a1b", "cuda"):
        replay_row(row, Conditions(device=row.device))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_trial_that_needs_a_missing_gpu_ends_as_a_row_with_an_unknown_processor():
    row = run_trial(plugin().trouble(), Conditions(device="cuda")).row
    assert (row.outcome, row.device, row.processor) == ("error", "cuda", "unknown")
    assert "'cuda'" in row.reason
    assert read_processor("cpu") != "unknown"

"""Restarts after divergence: with a seed of their own, written down, the same after a kill and in a
replay."""

import json
import os
import time
from pathlib import Path

import pytest
from engine_helpers import content, plugin

from sweeps.run.attempt import Attempt, run_trial
from sweeps.run.conditions import Conditions
from sweeps.run.replay import compare_with_replay
from sweeps.run.restarts import RestartLog, forget_checkpoint
from sweeps.store.local_folder import ABANDONED
from sweeps.trial.identity import Trial

pytestmark = pytest.mark.usefixtures("trouble_plugin")


def unlucky(restarts=0, **settings):
    return plugin().trouble(fault="unlucky", restarts=restarts, **settings)


def an_unlucky_seed():
    """A seed whose run diverges, and whose first restart does not."""
    for seed in range(50):
        row = run_trial(unlucky(1, seed=seed)).row
        if row.outcome == "ok" and row.restarts != "[]":
            return seed
    raise AssertionError("every seed of fifty was lucky, or unlucky twice")


@pytest.fixture(scope="module")
def seed(request):
    request.getfixturevalue("trouble_plugin")
    return an_unlucky_seed()


def test_without_the_policy_a_diverged_trial_stays_diverged(seed):
    row = run_trial(unlucky(seed=seed)).row
    assert (row.outcome, row.restarts) == ("diverged", "[]")


def test_a_restart_is_recorded_with_its_step_reason_and_seed(seed):
    row = run_trial(unlucky(1, seed=seed)).row
    (restart,) = json.loads(row.restarts)
    assert row.outcome == "ok"
    assert restart["step"] == plugin().FAULT_AT
    assert "loss" in restart["reason"]
    assert restart["seed"] == seed
    assert row.seed == seed


def test_the_restarts_are_as_many_as_allowed_and_each_has_another_seed():
    row = run_trial(plugin().trouble(fault="diverge", restarts=3)).row
    seeds = [restart["seed"] for restart in json.loads(row.restarts)]
    assert row.outcome == "diverged"
    assert len(seeds) == len(set(seeds)) == 3


def test_the_policy_is_part_of_what_the_trial_is():
    assert unlucky(0).id != unlucky(1).id


def test_a_trial_killed_after_a_restart_goes_on_with_it(seed, tmp_path):
    conditions = Conditions(checkpoint_dir=str(tmp_path), checkpoint_every=0.0)
    trial = unlucky(1, seed=seed, steps=100, pause=0.02)
    undisturbed = run_trial(trial)
    first = Attempt(trial, conditions)
    while not first.restarts.entries or first.step < 5:
        first.advance(0.001)  # one slice at a time
        assert first.ending is None
    del first  # as if killed: nothing but the files is left
    second = Attempt(trial, conditions)
    assert second.restarts.entries
    assert second.step > 0
    while second.ending is None:
        second.advance(1.0)
    assert content(second.record()) == content(undisturbed)
    second.forget_checkpoint()
    assert not list(tmp_path.iterdir())


def test_a_slice_is_measured_by_the_steps_that_were_trained(seed):
    """Else a run that diverges early in its slice makes the next one far too long."""
    first = Attempt(unlucky(1, seed=seed, steps=1_000, pause=0.02), Conditions())
    first._slice = 500
    first.advance(0.001)
    assert first.restarts.entries
    assert first._slice < 20, "of at least .02 s each, for a quarter of a second"


def test_the_time_of_all_runs_counts_against_the_limit():
    row = run_trial(
        plugin().trouble(fault="diverge", restarts=10_000, pause=0.01), Conditions(time_limit=0.3)
    ).row
    assert row.outcome == "timeout"
    assert row.seconds > 0.3
    assert json.loads(row.restarts)


def test_a_replay_restarts_in_the_same_way(seed):
    row = run_trial(unlucky(1, seed=seed)).row
    differences, _ = compare_with_replay(row, Conditions())
    assert differences == []


def test_no_log_is_written_where_there_are_no_checkpoints():
    log = RestartLog().with_entry(5, "loss is nan", 0, time.monotonic())
    log.write(None)
    assert RestartLog.read(None) == RestartLog()


def test_the_row_gives_back_the_trial(seed):
    trial = unlucky(2, seed=seed)
    assert Trial.from_facts(json.loads(run_trial(trial).row.spec)).id == trial.id


@pytest.mark.parametrize("content", ["", "{", '[{"step": 5}]'])
def test_a_damaged_log_counts_as_none(tmp_path, content):
    (tmp_path / "abc.restarts.json").write_text(content)
    assert RestartLog.read(tmp_path / "abc.pt") == RestartLog()


def test_who_finishes_a_trial_leaves_alone_what_another_driver_is_saving(tmp_path, monkeypatch):
    trial, conditions = plugin().trouble(steps=60, pause=0.005), Conditions(checkpoint_dir=str(tmp_path))
    attempt, replace = Attempt(trial, conditions), os.replace
    attempt.advance(0.02)

    def be_overtaken_and_replace(source, target):
        forget_checkpoint(attempt.checkpoint)
        replace(source, target)

    monkeypatch.setattr(os, "replace", be_overtaken_and_replace)
    attempt.save()
    RestartLog().with_entry(5, "loss is nan", 0, 1.0).write(attempt.checkpoint)
    assert attempt.unsaved is None
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{trial.id}.restarts.json"], (
        "the last to be renamed"
    )


def test_what_killed_processes_left_goes_when_it_is_a_day_old(tmp_path):
    names = [".abc.pt.7.tmp", ".abc.restarts.json.7.tmp", ".other.pt.7.tmp"]
    for name in [*names, ".abc.pt.8.tmp"]:
        (tmp_path / name).write_text("half of it")
    for name in names:
        os.utime(tmp_path / name, (time.time() - ABANDONED - 60,) * 2)
    forget_checkpoint(tmp_path / "abc.pt")
    assert [path.name for path in tmp_path.iterdir()] == [".abc.pt.8.tmp"]


def test_a_log_that_goes_while_it_is_looked_at_counts_as_none(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "is_file", lambda self: True)
    assert RestartLog.read(tmp_path / "abc.pt") == RestartLog()

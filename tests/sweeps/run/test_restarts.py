"""Restarts after divergence: their seeds and log, and that a killed trial and a replay repeat them."""

import json
import os
import time
from pathlib import Path

import pytest
from engine_helpers import content, plugin

from sweeps.run.attempt import Attempt, run_trial
from sweeps.run.checkpoint_store import CheckpointStore
from sweeps.run.conditions import Conditions
from sweeps.run.replay import replay_row
from sweeps.run.restarts import RestartLog, name_log
from sweeps.store.local_folder import ABANDONED
from sweeps.trial.identity import Trial

pytestmark = pytest.mark.usefixtures("trouble_plugin")


def unlucky(restarts=0, **settings):
    return plugin().trouble(fault="unlucky", restarts=restarts, **settings)


def find_unlucky_seed():
    """A seed whose run diverges, and whose first restart does not."""
    for seed in range(50):
        row = run_trial(unlucky(1, seed=seed)).row
        if row.outcome == "ok" and row.restarts != "[]":
            return seed
    raise AssertionError("no seed below 50 diverges exactly once")


@pytest.fixture(scope="module")
def seed(request):
    request.getfixturevalue("trouble_plugin")
    return find_unlucky_seed()


def test_a_trial_without_restarts_stays_diverged(seed):
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


def test_there_are_as_many_restarts_as_allowed_each_with_another_seed():
    row = run_trial(plugin().trouble(fault="diverge", restarts=3)).row
    seeds = [restart["seed"] for restart in json.loads(row.restarts)]
    assert row.outcome == "diverged"
    assert len(seeds) == len(set(seeds)) == 3


def test_the_number_of_restarts_is_part_of_the_identity():
    assert unlucky(0).id != unlucky(1).id


def test_a_trial_killed_after_a_restart_resumes_with_it(seed, tmp_path):
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
    second.checkpoints.delete()
    assert not list(tmp_path.iterdir())


def test_the_length_of_a_slice_follows_from_the_steps_that_were_done(seed):
    """Otherwise a run that diverges early in its slice makes the next slice far too long."""
    first = Attempt(unlucky(1, seed=seed, steps=1_000, pause=0.02), Conditions())
    first._slice_steps = 500
    first.advance(0.001)
    assert first.restarts.entries
    assert first._slice_steps < 20, "steps of at least 0.02 s, for a quarter of a second"


def test_the_time_limit_includes_all_restarts():
    row = run_trial(
        plugin().trouble(fault="diverge", restarts=10_000, pause=0.01), Conditions(time_limit=0.3)
    ).row
    assert row.outcome == "timeout"
    assert row.seconds > 0.3
    assert json.loads(row.restarts)


def test_a_replay_has_the_same_restarts(seed):
    row = run_trial(unlucky(1, seed=seed)).row
    differences = replay_row(row, Conditions()).differences
    assert differences == []


def test_without_checkpoints_no_log_is_written():
    log = RestartLog().add(5, "loss is nan", 0, time.monotonic())
    log.write(None)
    assert RestartLog.read(None) == RestartLog()


def test_a_trial_with_restarts_can_be_built_from_its_row(seed):
    trial = unlucky(2, seed=seed)
    assert Trial.from_facts(json.loads(run_trial(trial).row.spec)).id == trial.id


@pytest.mark.parametrize("content", ["", "{", '[{"step": 5}]'])
def test_a_damaged_log_counts_as_empty(tmp_path, content):
    (tmp_path / "abc.restarts.json").write_text(content)
    assert RestartLog.read(tmp_path / "abc.pt") == RestartLog()


def test_deleting_a_checkpoint_spares_the_files_that_another_driver_is_writing(tmp_path, monkeypatch):
    trial, conditions = plugin().trouble(steps=60, pause=0.005), Conditions(checkpoint_dir=str(tmp_path))
    attempt, replace = Attempt(trial, conditions), os.replace
    attempt.advance(0.02)

    def delete_then_replace(source, target):
        attempt.checkpoints.delete()
        replace(source, target)

    monkeypatch.setattr(os, "replace", delete_then_replace)
    attempt.save()
    RestartLog().add(5, "loss is nan", 0, 1.0).write(attempt.checkpoint)
    assert attempt.save_error is None
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{trial.id}.restarts.json"], (
        "the file that was renamed last"
    )


def test_temporary_files_of_killed_processes_are_deleted_after_a_day(tmp_path):
    names = [".abc.pt.7.tmp", ".abc.restarts.json.7.tmp", ".other.pt.7.tmp"]
    for name in [*names, ".abc.pt.8.tmp"]:
        (tmp_path / name).write_text("half of it")
    for name in names:
        os.utime(tmp_path / name, (time.time() - ABANDONED - 60,) * 2)
    CheckpointStore(tmp_path / "abc.pt").delete()
    assert [path.name for path in tmp_path.iterdir()] == [".abc.pt.8.tmp"]


def test_a_log_that_is_deleted_while_it_is_read_counts_as_empty(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "is_file", lambda self: True)
    assert RestartLog.read(tmp_path / "abc.pt") == RestartLog()


@pytest.mark.parametrize(
    "change",
    [{"step": -1}, {"step": "5"}, {"seconds": float("nan")}, {"seconds": -1.0}, {"seed": 0.5}, {"reason": 1}],
)
def test_a_tampered_log_counts_as_empty(change, tmp_path):
    checkpoint = tmp_path / "trial.pt"
    RestartLog().add(5, "loss is nan", 3, 1.5).write(checkpoint)
    assert len(RestartLog.read(checkpoint).entries) == 1
    (entry,) = json.loads(name_log(checkpoint).read_text())
    name_log(checkpoint).write_text(json.dumps([entry | change]))
    assert RestartLog.read(checkpoint).entries == ()

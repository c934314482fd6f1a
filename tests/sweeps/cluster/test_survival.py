"""Faults that the engine must survive: killed workers and drivers, Ctrl-C, SIGTERM, two drivers at once, and
a store that cannot be written.

The first test is a story: the worker of a sweep is killed, then its driver; then the sweep is interrupted,
and then it runs to its end. It is one test, because parallel test processes would repeat a shared story. Each
step of a trial leaves a line in a log: process, step and seed.
"""

import os
import signal
import threading
from collections import Counter
from itertools import pairwise
from types import SimpleNamespace

import pytest
from cluster_helpers import (
    is_alive,
    read_log,
    read_processes,
    read_record,
    read_rows,
    read_seeds,
    run_here,
)
from engine_helpers import PLUGIN, finish, results, start, wait_for

from sweeps.cluster import tuner
from sweeps.run.attempt import run_attempt, run_trial
from sweeps.run.conditions import Conditions
from sweeps.store.store import Store
from sweeps.trial.sweep import find_sweep

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("trouble_plugin")]
STEPS = 250


def press_ctrl_c(driver):
    """Send SIGINT as a terminal does: to the driver and to all processes that it started."""
    os.killpg(driver.pid, signal.SIGINT)


def assert_one_line(err):
    (line,) = err.splitlines()
    assert line.startswith("vera: Interrupted")
    assert "same command" in line


def tell_story(folder, shared_ray):
    """Run the sweep with all its faults; what was seen on the way."""
    log, gate = folder / "log", folder / "gate"
    place = ("--results-dir", folder, "--plugin", PLUGIN)
    command = ("run", "patience", "--seeds", 4, *place, "--max-concurrent", 2, "--checkpoint-every")
    trials = {trial.spec.seed: trial for trial in find_sweep("patience").trials("laptop", range(4))}

    def list_saved():
        return [path.stem for path in (folder / "checkpoints").glob("*.pt")]

    def find_running(process):
        """The seed of a trial that has a checkpoint, and the process that runs it."""
        names = wait_for(list_saved, process)
        seed = next(seed for seed, trial in trials.items() if trial.id in names)
        return seed, next(pid for pid, _, s, _ in reversed(read_log(log)) if s == seed)

    # The trials wait half-way until the victim has a new worker: none ends before.
    driver = start(*command, 0, TROUBLE_LOG=log, TROUBLE_GATE=gate)
    victim, worker = find_running(driver)
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: len(read_processes(log, victim)) > 1, driver)
    gate.touch()
    wait_for(lambda: read_rows(folder), driver)
    before_kill = read_rows(folder)
    driver.kill()
    driver.communicate()
    workers = {pid for pid, *_ in read_log(log)}
    wait_for(lambda: not any(map(is_alive, workers)))
    after_kill = read_rows(folder)
    fresh = {trial.id for trial in trials.values()} - after_kill.keys() - set(list_saved())

    def list_running():
        """Fresh trials that the second driver runs."""
        seeds = {seed for pid, _, seed, _ in read_log(log) if pid not in workers}
        return fresh & {trials[seed].id for seed in seeds}

    # The second driver saves no checkpoint before the interrupt.
    driver = start(*command, 10_000, TROUBLE_LOG=log)
    running = wait_for(list_running, driver)
    press_ctrl_c(driver)
    interrupted = finish(driver)
    left, before_last = list_saved(), read_rows(folder)

    last = run_here(*command, 0)
    with log.open("a") as file:
        file.write(shared_ray.log.read_text())
    return SimpleNamespace(**locals())


def test_a_sweep_survives_a_killed_worker_a_killed_driver_and_ctrl_c(
    tmp_path, trouble_plugin, shared_ray, monkeypatch
):
    story = tell_story(tmp_path, shared_ray)
    check_the_trial_of_the_killed_worker_continued_from_its_checkpoint(story)
    check_the_killed_driver_lost_no_finished_trial(story)
    check_ctrl_c_named_the_next_command_and_saved_running_trials_before_a_checkpoint_was_due(story)
    check_every_trial_has_one_row_and_no_temporary_file_remains(story)
    monkeypatch.setattr(trouble_plugin.time, "sleep", lambda seconds: None)
    check_the_rows_and_models_equal_those_of_undisturbed_runs(story)


def check_the_trial_of_the_killed_worker_continued_from_its_checkpoint(story):
    lives = read_processes(story.log, story.victim)
    assert next(iter(lives)) == story.worker
    assert len(lives) > 1
    first, *later = lives.values()
    assert first[0] == 1
    for before, after in pairwise([first, *later]):
        assert 1 < after[0] <= before[-1] + 1
    assert later[-1][-1] == STEPS


def check_the_rows_and_models_equal_those_of_undisturbed_runs(story):
    store = Store(story.folder / "trials")
    for trial in story.trials.values():
        undisturbed = run_attempt(trial, Conditions())
        assert results(read_record(store, trial.id)) == results(undisturbed.record())
        assert store.models.read(trial.id) == undisturbed.encode_model(), "the same bytes"


def check_the_killed_driver_lost_no_finished_trial(story):
    assert story.before_kill
    rows = read_rows(story.folder)
    assert {name: rows[name] for name in story.after_kill} == story.after_kill
    assert story.before_kill.items() <= story.after_kill.items()


def check_every_trial_has_one_row_and_no_temporary_file_remains(story):
    assert (story.last[0], story.last[2]) == (0, "")
    store = Store(story.folder / "trials")
    rows = store.read_rows()
    assert sorted(row.trial_id for row in rows) == sorted(trial.id for trial in story.trials.values())
    assert {(row.outcome, row.attempt) for row in rows} == {("ok", 1)}
    assert store.problems == []
    assert len(list((story.folder / "trials" / "rows").iterdir())) == len(story.trials)
    assert list((story.folder / "checkpoints").glob("*.pt")) == []


def check_ctrl_c_named_the_next_command_and_saved_running_trials_before_a_checkpoint_was_due(story):
    code, _, err = story.interrupted
    assert code == 130
    assert_one_line(err)
    assert story.running <= set(story.left)
    assert {row.outcome for row in story.before_last.values()} == {"ok"}
    assert len(story.before_last) < len(story.trials)


def build_command(folder, *flags):
    """A run of two patient trials at once."""
    place = ("--results-dir", folder, "--plugin", PLUGIN)
    return ("run", "patience", "--seeds", 2, *place, "--max-concurrent", 2, *flags)


def run_and_disturb(log, disturb, *command):
    """Run the command in this process, and call `disturb` once both of its trials run."""

    is_over = threading.Event()

    def wait_and_disturb():
        wait_for(lambda: is_over.is_set() or len(read_seeds(log)) == 2)
        if not is_over.is_set():
            disturb()

    thread = threading.Thread(target=wait_and_disturb)
    thread.start()
    try:
        return run_here(*command)
    finally:
        is_over.set()
        thread.join()


def test_sigterm_saves_running_trials_before_a_checkpoint_is_due(tmp_path, shared_ray):
    saved_before = []

    def terminate():
        saved_before.extend((tmp_path / "checkpoints").glob("*.pt"))
        os.kill(os.getpid(), signal.SIGTERM)

    command = build_command(tmp_path, "--checkpoint-every", 10_000)
    code, _, err = run_and_disturb(shared_ray.log, terminate, *command)
    assert code == 143
    assert_one_line(err)
    assert saved_before == []
    assert len(list((tmp_path / "checkpoints").glob("*.pt"))) == 2


def test_a_store_that_becomes_unwritable_stops_the_run_and_loses_no_training(tmp_path, shared_ray):
    away = tmp_path / "away"

    def break_store():
        (tmp_path / "trials").rename(away)
        (tmp_path / "trials").write_text("no directory any more")

    code, _, err = run_and_disturb(shared_ray.log, break_store, *build_command(tmp_path))
    assert code == 2
    assert "same command" in err
    (tmp_path / "trials").unlink()
    away.rename(tmp_path / "trials")
    assert read_rows(tmp_path) == {}
    steps_before = len(read_log(shared_ray.log))
    assert run_here(*build_command(tmp_path))[0] == 0
    assert [row.outcome for row in read_rows(tmp_path).values()] == ["ok", "ok"]
    assert len(read_log(shared_ray.log)) - steps_before < 2 * STEPS, "trained steps are not trained again"


def test_two_drivers_on_one_store_leave_one_row_per_trial(tmp_path, shared_ray, monkeypatch):
    """The first trial waits until both drivers run it."""
    place = ("--results-dir", tmp_path, "--plugin", PLUGIN, "--max-concurrent", 1)
    other = start("run", "pair", *place, TROUBLE_LOG=shared_ray.log)
    ends = [run_here("run", "pair", *place), finish(other)]
    assert [(code, err) for code, _, err in ends] == [(0, ""), (0, "")]
    assert len(read_processes(shared_ray.log, 0)) == 2
    store, trials = Store(tmp_path / "trials"), find_sweep("pair").trials("smoke")
    assert [row.outcome for row in store.read_rows()] == ["ok", "ok"]
    assert len(list((tmp_path / "trials" / "rows").iterdir())) == 2
    monkeypatch.setenv("TROUBLE_LOG", str(shared_ray.log))
    for trial in trials:
        assert results(read_record(store, trial.id)) == results(run_trial(trial))


def test_eight_trials_share_two_logical_gpus_and_each_sees_its_own(tmp_path, shared_ray):
    """Every trial waits at its first step for all others, so the sweep ends only if all run at once."""
    shares = ("--gpus-per-trial", 0.25, "--cpus-per-trial", 0.25)
    place = ("--plugin", PLUGIN, "--results-dir", tmp_path)
    code, _, err = run_here("run", "meeting", "--seeds", 8, *shares, *place)
    assert (code, err) == (0, "")
    rows = read_rows(tmp_path).values()
    assert [(row.outcome, row.gpus, row.device) for row in rows] == [("ok", 0.25, "cpu")] * 8
    seen = {(seed, devices) for _, _, seed, devices in read_log(shared_ray.log)}
    assert sorted(seed for seed, _ in seen) == list(range(8)), "a trial's device does not change"
    assert Counter(devices for _, devices in seen) == {"0": 4, "1": 4}


def test_a_trial_that_loses_every_worker_ends_as_a_row_with_its_last_report(
    tmp_path, shared_ray, monkeypatch
):
    assert tuner.MAX_FAILURES == 3
    monkeypatch.setattr(tuner, "MAX_FAILURES", 1)
    place = ("--results-dir", tmp_path, "--plugin", PLUGIN, "--max-concurrent", 1)
    code, _, err = run_here("run", "doomed", *place)
    assert code == 1, err
    rows = {row.label: row for row in read_rows(tmp_path).values()}
    assert rows["good"].outcome == "ok"
    assert rows["doomed"].outcome == "error"
    assert rows["doomed"].log_tail
    assert len(read_processes(shared_ray.log, 7)) == 2, "the first worker, and one more"

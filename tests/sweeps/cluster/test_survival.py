"""What the engine must survive: killed workers, killed drivers, Ctrl-C, two drivers at once; and logical
GPUs.

The first tests read one story: a sweep of patient trials whose worker is killed, then its driver, then it is
interrupted, and which is then left alone. Each step of a trial leaves a line in a log: which process, which
step, whose trial.
"""

import os
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from engine_helpers import PATIENCE, PLUGIN, ROOT, finish, results, start, vera, wait_for
from node_helpers import cluster

from sweeps.run.attempt import run_trial
from sweeps.store.row import Record
from sweeps.store.store import Store
from sweeps.trial.sweep import find_sweep

STOPPED = "vera: Interrupted. What is finished is stored, what was running can go on: the same command runs the rest.\n"
STEPS = 250
EARLY = 100
"""A trial that is no further cannot end within a slice."""


def read_log(path):
    """[(process id, step, seed, CUDA_VISIBLE_DEVICES)]; a line that is being written is left out."""
    lines = [line.split() for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return [
        (int(pid), int(step), round(float(pause) * 1e6) % 10_000, devices)
        for pid, step, pause, devices in lines
    ]


def processes_of(log, seed):
    """The processes that ran a trial, in order, and the steps that each took."""
    lives = defaultdict(list)
    for pid, step, whose, _ in read_log(log):
        if whose == seed:
            lives[pid].append(step)
    return lives


def last_steps(log):
    """How far each process has come with what it runs."""
    return {pid: step for pid, step, *_ in read_log(log)}


def alive(pid):
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def ctrl_c(driver):
    """As a terminal sends it: to the driver and to all that it started."""
    os.killpg(driver.pid, signal.SIGINT)


def terminate(driver):
    """As `kill` sends it: to the driver alone."""
    driver.terminate()


def stored(folder):
    return {row.trial_id: row for row in Store(folder / "trials").rows()}


def record_of(store, trial_id):
    return Record(store.row(trial_id), store.curves(trial_id), store.arrays(trial_id))


@pytest.fixture(scope="module")
def story(tmp_path_factory, trouble_plugin):
    folder = tmp_path_factory.mktemp("story")
    log = folder / "log"
    command = (
        "run",
        "patience",
        "--results-dir",
        folder,
        "--plugin",
        PLUGIN,
        "--checkpoint-every",
        0,
        "--max-concurrent",
        2,
    )
    trials = {trial.spec.seed: trial for trial in find_sweep("patience").trials("laptop")}
    saved = lambda: [path.stem for path in (folder / "checkpoints").glob("*.pt")]  # noqa: E731

    def running(process):
        """The seed of a trial that is saved and not over, and the process that runs it."""
        names = wait_for(saved, process)
        seed = next(seed for seed, trial in trials.items() if trial.id in names)
        return seed, next(pid for pid, _, s, _ in reversed(read_log(log)) if s == seed)

    driver = start(*command, TROUBLE_LOG=log)
    victim, worker = running(driver)
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: stored(folder) and len(processes_of(log, victim)) > 1, driver)
    before_kill = stored(folder)
    driver.kill()
    driver.communicate()
    workers = {pid for pid, *_ in read_log(log)}
    wait_for(lambda: not any(map(alive, workers)))
    after_kill = stored(folder)

    driver = start(*command, TROUBLE_LOG=log)
    wait_for(
        lambda: any(step <= EARLY for pid, step in last_steps(log).items() if pid not in workers), driver
    )
    ctrl_c(driver)
    interrupted = finish(driver)
    left, before_last = saved(), stored(folder)

    last = vera(*command, TROUBLE_LOG=log)
    return SimpleNamespace(**locals())


def test_a_trial_whose_worker_is_killed_goes_on_from_its_checkpoint(story):
    lives = processes_of(story.log, story.victim)
    assert next(iter(lives)) == story.worker
    assert len(lives) > 1
    first, *later = lives.values()
    assert first[0] == 1
    for before, after in pairwise([first, *later]):
        assert 1 < after[0] <= before[-1] + 1
    assert later[-1][-1] == STEPS


def test_the_rows_equal_those_of_undisturbed_runs(story, monkeypatch):
    monkeypatch.setattr(story.trouble_plugin.time, "sleep", lambda seconds: None)
    store = Store(story.folder / "trials")
    for trial in story.trials.values():
        assert results(record_of(store, trial.id)) == results(run_trial(trial))


def test_a_killed_driver_costs_no_finished_trial(story):
    assert story.before_kill
    rows = stored(story.folder)
    assert {name: rows[name] for name in story.after_kill} == story.after_kill
    assert story.before_kill.items() <= story.after_kill.items()


def test_every_trial_has_one_row_in_the_end_and_nothing_half_written_is_left(story):
    assert (story.last[0], story.last[2]) == (0, "")
    rows = Store(story.folder / "trials")
    assert sorted(row.trial_id for row in rows.rows()) == sorted(trial.id for trial in story.trials.values())
    assert {row.outcome for row in rows.rows()} == {"ok"}
    assert {row.attempt for row in rows.rows()} == {1}
    assert rows.problems == []
    assert len(list((story.folder / "trials" / "rows").iterdir())) == len(story.trials)
    assert list((story.folder / "checkpoints").glob("*.pt")) == []


def test_ctrl_c_says_how_to_go_on_and_leaves_trials_resumable(story):
    code, _, err = story.interrupted
    assert code == 130
    assert err == STOPPED
    assert story.left
    assert {row.outcome for row in story.before_last.values()} == {"ok"}
    assert len(story.before_last) < len(story.trials)


def test_two_drivers_on_one_store_leave_one_row_a_trial(tmp_path):
    command = (
        "run",
        "toy-demo",
        "--profile",
        "smoke",
        "--only",
        "method=ml",
        "--results-dir",
        tmp_path,
        "--max-concurrent",
        1,
    )
    drivers = [start(*command), start(*command)]
    ends = [finish(driver) for driver in drivers]
    assert [(code, err) for code, _, err in ends] == [(0, ""), (0, "")]
    store = Store(tmp_path / "trials")
    assert [row.outcome for row in store.rows()] == ["ok"] * 3
    assert len(list((tmp_path / "trials" / "rows").iterdir())) == 3
    for row in store.rows():
        trial = next(t for t in find_sweep("toy-demo").trials("smoke") if t.id == row.trial_id)
        assert results(record_of(store, row.trial_id)) == results(run_trial(trial))


GPUS = """
import sys
from bench.cli.main import main
from sweeps.cluster.connection import connected

with connected(cpus=16, gpus=4):
    sys.exit(main(sys.argv[1:]))
"""


def test_sixteen_trials_share_four_logical_gpus_and_each_sees_its_own(tmp_path):
    """Every trial waits at its first step until all sixteen are there, so the sweep ends only if they run at
    once."""
    log = tmp_path / "log"
    command = ["run", "meeting", "--gpus-per-trial", "0.25", "--plugin", PLUGIN, "--results-dir", tmp_path]
    done = subprocess.run(
        [sys.executable, "-c", GPUS, *map(str, command)],
        cwd=ROOT, env=os.environ | {"TROUBLE_LOG": str(log)}, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    rows = Store(tmp_path / "trials").rows()
    assert [(row.outcome, row.gpus, row.device) for row in rows] == [("ok", 0.25, "cpu")] * 16
    seen = {(seed, devices) for _, _, seed, devices in read_log(log)}
    assert sorted(seed for seed, _ in seen) == list(range(16)), "a trial's device does not change"
    assert Counter(devices for _, devices in seen) == {"0": 4, "1": 4, "2": 4, "3": 4}


def test_a_store_that_becomes_unwritable_stops_the_run_and_costs_nothing(tmp_path):
    log, away = tmp_path / "log", tmp_path / "away"
    command = (
        "run",
        "patience",
        "--seeds",
        2,
        "--results-dir",
        tmp_path,
        "--plugin",
        PLUGIN,
        "--max-concurrent",
        2,
    )
    driver = start(*command, TROUBLE_LOG=log)
    wait_for(lambda: log.exists() and len({seed for _, _, seed, _ in read_log(log)}) == 2, driver)
    (tmp_path / "trials").rename(away)
    (tmp_path / "trials").write_text("no directory any more")
    code, _, err = finish(driver)
    assert code == 2
    assert "The run was stopped, its trials can go on: mend that, then the same command." in err
    (tmp_path / "trials").unlink()
    away.rename(tmp_path / "trials")
    assert stored(tmp_path) == {}
    steps_before = len(read_log(log))
    assert vera(*command, TROUBLE_LOG=log)[0] == 0
    assert [row.outcome for row in stored(tmp_path).values()] == ["ok", "ok"]
    assert len(read_log(log)) - steps_before < 2 * STEPS, "what was trained is not trained again"


def test_trials_of_a_node_that_dies_finish_elsewhere(tmp_path):
    """Both trials wait half-way until the node is dead, so neither can end before."""
    log, gate, checkpoints = tmp_path / "log", tmp_path / "gate", tmp_path / "checkpoints"
    command = (
        "run",
        "patience",
        "--seeds",
        2,
        "--plugin",
        PLUGIN,
        "--results-dir",
        tmp_path,
        "--checkpoint-every",
        0,
    )
    with cluster(TROUBLE_LOG=log, TROUBLE_GATE=gate) as nodes:
        nodes.head()
        second = nodes.another()
        driver = start(*command, "--address", nodes.address, **nodes.environment)
        wait_for(lambda: len(list(checkpoints.glob("*.pt"))) == 2, driver)
        second.kill()
        gate.touch()
        code, _, err = finish(driver)
    assert code == 0, err
    assert [row.outcome for row in stored(tmp_path).values()] == ["ok", "ok"]
    stayed, moved = sorted((list(processes_of(log, seed).values()) for seed in range(2)), key=len)
    assert (len(stayed), len(moved)) == (1, 2)
    assert moved[1][0] > 1


@pytest.mark.parametrize(("send", "code"), [(ctrl_c, 130), (terminate, 143)])
def test_who_stops_a_run_finds_what_ran_saved_though_no_checkpoint_was_due(tmp_path, send, code):
    log = tmp_path / "log"
    command = (
        "run",
        "patience",
        "--seeds",
        2,
        "--results-dir",
        tmp_path,
        "--plugin",
        PLUGIN,
        "--max-concurrent",
        2,
    )
    driver = start(*command, "--checkpoint-every", 10_000, TROUBLE_LOG=log)
    wait_for(lambda: log.exists() and len({seed for _, _, seed, _ in read_log(log)}) == 2, driver)
    assert not list((tmp_path / "checkpoints").glob("*.pt"))
    send(driver)
    assert finish(driver)[::2] == (code, STOPPED)
    assert len(list((tmp_path / "checkpoints").glob("*.pt"))) == 2


def test_a_trial_that_loses_every_worker_ends_as_a_row_with_its_last_report(tmp_path):
    log = tmp_path / "log"
    command = ("run", "doomed", "--results-dir", tmp_path, "--plugin", PLUGIN, "--max-concurrent", 1)
    code, _, err = vera(*command, TROUBLE_LOG=log)
    assert code == 1, err
    rows = {row.label: row for row in stored(tmp_path).values()}
    assert rows["good"].outcome == "ok"
    assert rows["doomed"].outcome == "error"
    assert rows["doomed"].log_tail
    assert len({pid for pid, step, seed, _ in read_log(log) if seed == 7}) == 4, "the first, and three more"

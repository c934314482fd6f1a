"""GPU packing: how many trials fit, from footprints as data; what is measured, on a device that is made up;
the second attempt."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field, replace

import pytest
import torch
from engine_helpers import PATIENCE, PLUGIN, ROOT, make_row
from hypothesis import given
from hypothesis import strategies as st

from bench.cli.main import main, parser
from sweeps.cluster.gpu_packing import (
    GRAIN,
    MARGIN,
    MOST,
    SMOKE_STEPS,
    Footprint,
    check_packable,
    measure,
    needs_whole,
    repeats,
    share,
)
from sweeps.errors import EngineError
from sweeps.run.attempt import run_trial
from sweeps.run.conditions import Conditions
from sweeps.store.store import Store
from sweeps.trial.plan import kind

GB = 2**30


@pytest.mark.parametrize(
    ("peak", "cpus_per_gpu", "cpus", "expected"),
    [
        (1.0, 16, 1, 0.0666),  # 1.7 GB each of 26
        (2.0, 16, 1, 0.125),  # 2.9
        (6.0, 16, 1, 0.3333),
        (10.0, 16, 1, 0.5),
        (15.0, 16, 1, 1.0),
        (30.0, 16, 1, 1.0),
        (2.0, 4, 1, 0.25),
        (2.0, 4, 2, 0.5),
        (2.0, 1, 2, 1.0),
    ],
)
def test_as_many_share_a_gpu_as_fit_into_its_memory_and_have_cpus(peak, cpus_per_gpu, cpus, expected):
    assert share(Footprint(int(peak * GB), GB // 2, 26 * GB), cpus_per_gpu, cpus) == expected


@given(
    st.integers(0, 80 * GB),
    st.integers(1, 2 * GB),
    st.integers(8 * GB, 80 * GB),
    st.integers(1, 128),
    st.integers(1, 8),
)
def test_what_is_chosen_fits_and_one_more_would_not(peak, context, memory, cpus_per_gpu, cpus):
    part = share(Footprint(peak, context, memory), cpus_per_gpu, cpus)
    assert 0 < part <= 1
    assert part == round(part, 4), "Ray counts no finer"
    count, each = int(1 / part), MARGIN * peak + context
    if count > 1:
        assert count * each <= memory
        assert count * cpus <= cpus_per_gpu
    assert count == MOST or (count + 1) * each > memory or (count + 1) * cpus > cpus_per_gpu


@given(st.integers(1, MOST))
def test_so_many_trials_of_a_share_go_on_a_gpu_and_no_more(count):
    part = share(Footprint(0, 1, count), 1_000, 1)
    assert count * round(part * GRAIN) <= GRAIN < (count + 1) * round(part * GRAIN)


@dataclass
class MadeUpDevice:
    """Says what it is told to, and remembers what it was asked."""

    found: Footprint
    asked: list = field(default_factory=list)

    def watch(self):
        self.asked.append("watch")

    def footprint(self):
        self.asked.append("footprint")
        return self.found


def test_a_short_run_is_watched_from_its_beginning_to_its_end(trouble_plugin, monkeypatch, tmp_path):
    device, ran = MadeUpDevice(Footprint(1, 2, 3)), []

    def watched(trial, conditions):
        device.asked.append("run")
        ran.append((trial.spec.steps, conditions))
        return run_trial(trial, conditions)

    monkeypatch.setattr("sweeps.cluster.gpu_packing.run_trial", watched)
    trial = trouble_plugin.trouble(steps=1_000_000)
    conditions = Conditions(checkpoint_dir=str(tmp_path), gpus=0.25, time_limit=1.0, cpus=1)
    assert measure(trial, conditions, device) == Footprint(1, 2, 3)
    assert device.asked == ["watch", "run", "footprint"]
    assert ran == [(SMOKE_STEPS, Conditions(gpus=1.0, cpus=1))]
    assert list(tmp_path.iterdir()) == [], "a short run leaves no checkpoint for the long one"


def test_of_a_run_that_fails_nothing_is_known(trouble_plugin):
    device = MadeUpDevice(Footprint(1, 2, 3))
    assert measure(trouble_plugin.trouble(fault="raise"), Conditions(), device) is None
    assert measure(trouble_plugin.trouble(fault="diverge"), Conditions(), device) == Footprint(1, 2, 3)


def test_one_run_speaks_for_all_trials_of_its_kind(trouble_plugin):
    first = trouble_plugin.trouble(seed=0)
    assert kind(first) == kind(trouble_plugin.trouble(seed=1, lr=0.5))
    assert kind(first) != kind(replace(first, spec=replace(first.spec, batch_size=51)))


class Held:
    """A store that holds these rows."""

    def __init__(self, *rows):
        self.rows = lambda: list(rows)


@pytest.mark.parametrize(
    ("outcome", "gpus", "again"),
    [
        ("out_of_memory", 0.25, True),
        ("out_of_memory", 1.0, False),
        ("out_of_memory", 0.0, False),
        ("out_of_memory", 2.0, False),
        ("error", 0.25, False),
        ("diverged", 0.25, False),
        ("ok", 0.25, False),
    ],
)
def test_only_too_little_memory_on_a_part_of_a_gpu_is_run_again(outcome, gpus, again):
    assert needs_whole(outcome, gpus) is again
    job = {"id": "abc0", "attempt": 1, "gpus": gpus, "before": ""}
    assert bool(list(repeats([job], Held(make_row(outcome=outcome, gpus=gpus, attempt=1))))) is again


def test_the_second_attempt_has_a_whole_gpu_and_knows_of_the_first():
    job = {"id": "abc0", "attempt": 3, "gpus": 0.25, "before": "", "label": "kept"}
    row = make_row(outcome="out_of_memory", gpus=0.25, attempt=3, outcome_step=7, reason="CUDA out of memory")
    (again,) = repeats([job], Held(row))
    assert (again["attempt"], again["gpus"], again["label"]) == (4, 1.0, "kept")
    assert again["before"].startswith(
        "Attempt 3 ended out_of_memory at step 7 with 0.25 of a GPU: CUDA out of memory\n"
    )
    assert list(repeats([again], Held(replace(row, attempt=4, gpus=1.0)))) == [], "once"
    assert list(repeats([job], Held(replace(row, attempt=2)))) == [], (
        "the row of an older attempt says nothing"
    )
    assert list(repeats([job], Held())) == []


def test_what_was_before_stands_at_the_beginning_of_the_log(trouble_plugin):
    good = run_trial(trouble_plugin.trouble(steps=2), Conditions(before="Attempt 1 ended")).row
    assert (good.outcome, good.reason, good.log_tail) == ("ok", "", "Attempt 1 ended")
    bad = run_trial(trouble_plugin.trouble(fault="memory"), Conditions(before="Attempt 1 ended")).row
    assert bad.log_tail.startswith("Attempt 1 ended\nTraceback")


GPUS = """
import sys
from bench.cli.main import main
from sweeps.cluster.connection import connected

with connected(cpus=4, gpus=1):
    sys.exit(main(sys.argv[1:]))
"""


def on_one_logical_gpu(tmp_path, *arguments):
    command = ["run", "crowded", "--plugin", PLUGIN, "--results-dir", tmp_path, *arguments]
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", GPUS, *map(str, command)],
        cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, timeout=4 * PATIENCE, check=False,
    )  # fmt: skip


def test_a_trial_too_large_for_its_part_of_a_gpu_gets_a_whole_one_once(tmp_path):
    done = on_one_logical_gpu(tmp_path, "--gpus-per-trial", "0.25")
    rows = {row.label: row for row in Store(tmp_path / "trials").rows()}
    assert {label: (row.outcome, row.attempt, row.gpus) for label, row in rows.items()} == {
        "small": ("ok", 1, 0.25), "large": ("ok", 2, 1.0), "huge": ("out_of_memory", 2, 1.0),
    }, done.stderr  # fmt: skip
    assert done.returncode == 1
    first = "with 0.25 of a GPU: CUDA out of memory on request\nThis attempt had a whole GPU."
    assert rows["large"].log_tail == f"Attempt 1 ended out_of_memory at step 4 {first}"
    assert json.loads(rows["large"].restarts) == []
    assert rows["huge"].log_tail.count("Traceback") == 1
    assert rows["small"].log_tail == ""
    assert "2 of 3 trials are done" in done.stdout


@pytest.mark.skipif(
    torch.cuda.is_available(), reason="the GPU must be one that Ray counts and torch cannot use"
)
def test_auto_says_what_it_waits_for_before_it_measures(tmp_path):
    done = on_one_logical_gpu(tmp_path, "--gpus-per-trial", "auto")
    assert done.returncode == 2
    assert (
        "measuring how many trials share a GPU: 20 steps of one of each kind (3), once a whole GPU is free"
        in done.stdout + done.stderr
    )
    assert "torch cannot use the GPU that Ray sees" in done.stderr
    assert not list((tmp_path / "trials").rglob("*.parquet"))


def test_auto_needs_a_gpu():
    with pytest.raises(
        EngineError, match="--gpus-per-trial auto measures a trial on a GPU, and no node has one"
    ):
        check_packable({"CPU": 8.0, "GPU": 0.0})
    check_packable({"CPU": 8.0, "GPU": 1.0})


def test_auto_without_a_gpu_is_one_line_and_no_trial_is_run(tmp_path, capsys, monkeypatch):
    from contextlib import contextmanager

    @contextmanager
    def bare(address):
        yield {"CPU": 2.0, "GPU": 0.0}

    monkeypatch.setattr("sweeps.cluster.execute.connected", bare)
    command = [
        "run",
        "toy-demo",
        "--profile",
        "smoke",
        "--results-dir",
        str(tmp_path),
        "--gpus-per-trial",
        "auto",
    ]
    assert main(command) == 2
    assert capsys.readouterr().err == (
        "vera: --gpus-per-trial auto measures a trial on a GPU, and no node has one: leave it out to run on CPUs.\n"
    )


def test_the_flag_takes_a_number_or_auto(capsys):
    def given_to(text):
        return parser().parse_args(["run", "toy-demo", "--gpus-per-trial", text]).gpus_per_trial

    assert (given_to("auto"), given_to("0.5"), given_to("2")) == ("auto", 0.5, 2.0)
    with pytest.raises(SystemExit):
        given_to("some")
    assert "--gpus-per-trial" in capsys.readouterr().err

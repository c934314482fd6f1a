"""GPU packing: shares from footprints, measurement with a fake meter, and the retry on a whole GPU."""

import json
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import pytest
import torch
from cluster_helpers import run_here
from engine_helpers import PLUGIN
from facts import raises_with
from hypothesis import given
from hypothesis import strategies as st
from store_helpers import make_row

from bench.cli.main import build_parser
from sweeps.cluster.gpu_packing import (
    GRAIN,
    MARGIN,
    MOST_TRIALS,
    SMOKE_STEPS,
    Footprint,
    check_packable,
    compute_share,
    list_retries,
    measure_footprint,
)
from sweeps.errors import EngineError
from sweeps.run.attempt import run_trial
from sweeps.run.conditions import Conditions
from sweeps.store.store import Store
from sweeps.trial.plan import get_cost_class

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
def test_the_share_depends_on_memory_and_cpus(peak, cpus_per_gpu, cpus, expected):
    assert compute_share(Footprint(int(peak * GB), GB // 2, 26 * GB), cpus_per_gpu, cpus) == expected


@given(
    st.integers(0, 80 * GB),
    st.integers(1, 2 * GB),
    st.integers(8 * GB, 80 * GB),
    st.integers(1, 128),
    st.integers(1, 8),
)
def test_the_chosen_number_of_trials_fits_and_one_more_does_not(peak, context, memory, cpus_per_gpu, cpus):
    share = compute_share(Footprint(peak, context, memory), cpus_per_gpu, cpus)
    assert 0 < share <= 1
    assert share == round(share, 4), "Ray counts no finer"
    count, each = int(1 / share), MARGIN * peak + context
    if count > 1:
        assert count * each <= memory
        assert count * cpus <= cpus_per_gpu
    assert count == MOST_TRIALS or (count + 1) * each > memory or (count + 1) * cpus > cpus_per_gpu


@given(st.integers(1, MOST_TRIALS))
def test_exactly_the_intended_number_of_shares_fits_on_a_gpu(count):
    share = compute_share(Footprint(0, 1, count), 1_000, 1)
    assert count * round(share * GRAIN) <= GRAIN < (count + 1) * round(share * GRAIN)


@dataclass
class FakeMeter:
    """Returns a given footprint and records its calls."""

    footprint: Footprint
    calls: list = field(default_factory=list)

    def reset(self):
        self.calls.append("reset")

    def measure(self):
        self.calls.append("measure")
        return self.footprint


def test_a_short_run_is_measured_from_start_to_end(trouble_plugin, monkeypatch, tmp_path):
    meter, ran = FakeMeter(Footprint(1, 2, 3)), []

    def run(trial, conditions):
        meter.calls.append("run")
        ran.append((trial.spec.steps, conditions))
        return run_trial(trial, conditions)

    monkeypatch.setattr("sweeps.cluster.gpu_packing.run_trial", run)
    trial = trouble_plugin.trouble(steps=1_000_000)
    conditions = Conditions(checkpoint_dir=str(tmp_path), gpus=0.25, time_limit=1.0, cpus=1)
    assert measure_footprint(trial, conditions, meter) == Footprint(1, 2, 3)
    assert meter.calls == ["reset", "run", "measure"]
    assert ran == [(SMOKE_STEPS, Conditions(gpus=1.0, cpus=1))]
    assert list(tmp_path.iterdir()) == [], "a short run leaves no checkpoint for the long one"


def test_a_failed_run_has_no_footprint(trouble_plugin):
    meter = FakeMeter(Footprint(1, 2, 3))
    assert measure_footprint(trouble_plugin.trouble(fault="raise"), Conditions(), meter) is None
    assert measure_footprint(trouble_plugin.trouble(fault="diverge"), Conditions(), meter) == Footprint(
        1, 2, 3
    )


def test_trials_of_one_kind_differ_only_in_seed_and_learning_rate(trouble_plugin):
    first = trouble_plugin.trouble(seed=0)
    larger = replace(first, spec=replace(first.spec, batch_size=51))
    assert get_cost_class(first.facts) == get_cost_class(trouble_plugin.trouble(seed=1, lr=0.5).facts)
    assert get_cost_class(first.facts) != get_cost_class(larger.facts)


class FakeStore:
    """A store with these rows."""

    def __init__(self, *rows):
        self.read_rows = lambda: list(rows)


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
def test_only_a_trial_out_of_memory_on_a_share_of_a_gpu_is_retried(outcome, gpus, again):
    job = {"id": "abc0", "attempt": 1, "gpus": gpus, "before": ""}
    assert (
        bool(list(list_retries([job], FakeStore(make_row(outcome=outcome, gpus=gpus, attempt=1))))) is again
    )


def test_the_retry_has_a_whole_gpu_and_describes_the_first_attempt():
    job = {"id": "abc0", "attempt": 3, "gpus": 0.25, "before": "", "label": "kept"}
    row = make_row(outcome="out_of_memory", gpus=0.25, attempt=3, outcome_step=7, reason="CUDA out of memory")
    (again,) = list_retries([job], FakeStore(row))
    assert (again["attempt"], again["gpus"], again["label"]) == (4, 1.0, "kept")
    assert again["before"].startswith(
        "Attempt 3 ended out_of_memory at step 7 with 0.25 of a GPU: CUDA out of memory\n"
    )
    assert list(list_retries([again], FakeStore(replace(row, attempt=4, gpus=1.0)))) == [], "once"
    assert list(list_retries([job], FakeStore(replace(row, attempt=2)))) == [], (
        "the row belongs to an older attempt"
    )
    assert list(list_retries([job], FakeStore())) == []


def test_the_log_starts_with_the_earlier_attempt(trouble_plugin):
    good = run_trial(trouble_plugin.trouble(steps=2), Conditions(before="Attempt 1 ended")).row
    assert (good.outcome, good.reason, good.log_tail) == ("ok", "", "Attempt 1 ended")
    bad = run_trial(trouble_plugin.trouble(fault="memory"), Conditions(before="Attempt 1 ended")).row
    assert bad.log_tail.startswith("Attempt 1 ended\nTraceback")


@pytest.mark.long
@pytest.mark.usefixtures("trouble_plugin")
def test_a_trial_too_large_for_its_share_gets_a_whole_gpu_once(tmp_path, shared_ray):
    place = ("--plugin", PLUGIN, "--results-dir", tmp_path, "--max-concurrent", 1)
    code, out, err = run_here("run", "crowded", *place, "--gpus-per-trial", 0.25)
    rows = {row.label: row for row in Store(tmp_path / "trials").read_rows()}
    assert {label: (row.outcome, row.attempt, row.gpus) for label, row in rows.items()} == {
        "small": ("ok", 1, 0.25),
        "large": ("ok", 2, 1.0),
        "huge": ("out_of_memory", 2, 1.0),
    }, err
    assert code == 1
    log = rows["large"].log_tail
    facts = ("Attempt 1", "out_of_memory", "step 4", "0.25 of a GPU", "CUDA out of memory on request")
    assert [fact for fact in facts if fact not in log] == []
    assert "Traceback" not in log
    assert json.loads(rows["large"].restarts) == []
    assert rows["huge"].log_tail.count("Traceback") == 1
    assert rows["small"].log_tail == ""
    assert "2 of 3" in out


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a GPU that Ray counts and torch cannot use")
@pytest.mark.usefixtures("trouble_plugin", "shared_ray")
def test_auto_reports_the_measurement_and_fails_if_torch_cannot_use_the_gpu(tmp_path):
    place = ("--plugin", PLUGIN, "--results-dir", tmp_path)
    code, out, err = run_here("run", "crowded", *place, "--gpus-per-trial", "auto")
    assert code == 2
    assert f"{SMOKE_STEPS} steps of one trial of each kind (3)" in out
    assert "torch" in err
    assert len(err.splitlines()) == 1
    assert not list((tmp_path / "trials").rglob("*.parquet"))


def test_auto_needs_a_gpu():
    with raises_with(EngineError, "--gpus-per-trial auto"):
        check_packable({"CPU": 8.0, "GPU": 0.0})
    check_packable({"CPU": 8.0, "GPU": 1.0})


def test_auto_without_a_gpu_is_refused_in_one_line(tmp_path, monkeypatch):
    @contextmanager
    def connect_without_gpu(address, scratch):
        yield {"CPU": 2.0, "GPU": 0.0}

    monkeypatch.setattr("sweeps.cluster.engine.connect", connect_without_gpu)
    place = ("--profile", "smoke", "--results-dir", tmp_path)
    code, _, err = run_here("run", "toy-demo", *place, "--gpus-per-trial", "auto")
    assert code == 2
    assert "--gpus-per-trial auto" in err
    assert len(err.splitlines()) == 1


def test_the_flag_takes_a_number_or_auto(capsys):
    def parse(text):
        return build_parser().parse_args(["run", "toy-demo", "--gpus-per-trial", text]).gpus_per_trial

    assert (parse("auto"), parse("0.5"), parse("2")) == ("auto", 0.5, 2.0)
    with pytest.raises(SystemExit):
        parse("some")
    assert "--gpus-per-trial" in capsys.readouterr().err

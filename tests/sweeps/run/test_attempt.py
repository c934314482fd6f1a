"""One attempt at a trial, without Ray: outcomes, checkpoints, and rows without private details."""

import getpass
import json
import math
import re
import socket
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from engine_helpers import TIMING, content, plugin

from sweeps.run.attempt import Attempt, run_trial
from sweeps.run.conditions import Conditions
from sweeps.run.record import Ending, build_record_from_report
from sweeps.run.restarts import RestartLog
from sweeps.run.scrub import scrub
from sweeps.store.store import Store
from vera.tasks.contract import Measurement
from vera.tasks.density import DensityTask

pytestmark = pytest.mark.usefixtures("trouble_plugin")


def trouble(**settings):
    return plugin().trouble(**settings)


def outcome_of(record):
    row = record.row
    return row.outcome, row.outcome_step, row.reason


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("none", ("ok", 20, "")),
        ("raise", ("error", 4, "ValueError: raised on request")),
        ("memory", ("out_of_memory", 4, "no memory on request")),
        ("cuda-memory", ("out_of_memory", 4, "RuntimeError: CUDA error: out of memory")),
    ],
)
def test_each_fault_gives_its_outcome(fault, expected):
    record = run_trial(trouble(fault=fault))
    assert outcome_of(record) == expected
    assert bool(record.row.log_tail) == (fault != "none")


def test_divergence_names_the_step_and_keeps_the_last_finite_metrics():
    record = run_trial(trouble(fault="diverge", steps=200))
    assert record.row.outcome == "diverged"
    assert record.row.outcome_step == plugin().FAULT_AT
    assert "loss" in record.row.reason
    assert all(math.isfinite(value) for value in json.loads(record.row.metrics).values())
    assert all(math.isfinite(point.value) for point in record.curves)


def test_a_trial_over_its_time_limit_is_a_timeout():
    record = run_trial(trouble(steps=100_000, pause=0.01), Conditions(time_limit=0.1))
    assert record.row.outcome == "timeout"
    assert "0.1 s" in record.row.reason
    assert "--time-limit" in record.row.reason
    assert 0 < record.row.outcome_step < 100_000
    assert record.row.seconds > 0.1


def test_a_retry_of_a_timeout_with_a_larger_limit_resumes(tmp_path):
    trial, short = trouble(steps=60, pause=0.01), Conditions(checkpoint_dir=str(tmp_path), time_limit=0.1)
    first = run_trial(trial, short).row
    again = run_trial(trial, replace(short, attempt=2)).row
    # The limit includes the time of the first attempt.
    assert (again.outcome, again.outcome_step) == ("timeout", first.outcome_step)
    longer = Attempt(trial, replace(short, attempt=3, time_limit=60.0))
    assert longer.step == first.outcome_step > 0
    while longer.ending is None:
        longer.advance(1.0)
    undisturbed = run_trial(trial).row
    assert outcome_of(longer.record()) == ("ok", 60, "")
    assert longer.record().row.metrics == undisturbed.metrics


def test_an_ending_is_final():
    attempt = Attempt(trouble(steps=100_000, pause=0.01), Conditions(time_limit=0.05))
    while attempt.ending is None:
        attempt.advance(0.05)
    ending = attempt.ending
    attempt.advance(0.05)
    assert (attempt.ending, attempt.step) == (ending, ending.step)


def test_a_trial_that_cannot_be_built_ends_as_an_error():
    record = run_trial(trouble(), Conditions(device="nonsense"))
    assert record.row.outcome == "error"
    assert "nonsense" in record.row.reason
    assert (record.row.outcome_step, record.row.metrics, record.curves, record.arrays) == (0, "{}", [], {})


def test_an_attempt_whose_process_is_gone_ends_as_a_row(tmp_path):
    record = build_record_from_report(
        trouble(), Conditions(attempt=3), Ending("error", 0, "the node is gone"), {}
    )
    assert (record.row.outcome, record.row.reason, record.row.attempt) == ("error", "the node is gone", 3)
    Store(tmp_path).write(record)
    assert Store(tmp_path).read_row(record.row.trial_id) == record.row


def test_a_row_holds_settings_and_provenance():
    trial = trouble(seed=3, label="mine")
    row = run_trial(trial, Conditions(cpus=1, gpus=0, attempt=2)).row
    assert (row.trial_id, row.task, row.profile, row.label) == (trial.id, "density", "smoke", "mine")
    assert (row.dataset, row.energy, row.method, row.seed, row.steps, row.batch_size) == (
        "moons",
        "mixture",
        "trouble",
        3,
        20,
        50,
    )
    assert (row.attempt, row.cpus, row.gpus, row.device) == (2, 1, 0, "cpu")
    assert json.loads(row.spec) == trial.facts
    assert {"python", "torch", "numpy"} <= json.loads(row.versions).keys()
    assert row.started_at <= row.finished_at
    assert {"loss", "test_log_likelihood", "best_of_ten_batches"} <= json.loads(row.metrics).keys()


def test_a_record_holds_curves_and_arrays():
    record = run_trial(trouble())
    kinds = {(point.kind, point.step) for point in record.curves}
    assert {("training", 20), ("evaluation", 10), ("evaluation", 20)} <= kinds
    assert {point.trial_id for point in record.curves} == {record.row.trial_id}
    assert record.arrays["density_image"].ndim == 2
    assert record.arrays["exact_samples"].shape == (1_000, 2)


def test_no_path_user_or_host_is_in_any_row(monkeypatch, tmp_path):
    names = f"{getpass.getuser()} on {socket.gethostname()}"
    monkeypatch.setenv("TROUBLE_NAME", names)
    conditions = Conditions(data_dir=str(tmp_path), checkpoint_dir=str(tmp_path / "checkpoints"))
    row = run_trial(trouble(fault="path"), conditions).row
    assert row.outcome == "error"
    assert "trouble_plugin.py" in row.log_tail
    text = " ".join(map(str, vars(row).values()))
    for private in (str(Path.home()), str(tmp_path), str(Path(__file__).parent)):
        assert private not in text
    assert not {getpass.getuser(), socket.gethostname()} & set(re.findall(r"\w+", text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('File "/home/x/y/z.py", line 3', 'File "…/z.py", line 3'),
        ("and/or 1/2 a ratio", "and/or 1/2 a ratio"),
        ("at s3://bucket or C:\\Users\\x\\y.py", "at s3://bucket or C:…/y.py"),
        ("./here/there", "./here/there"),
    ],
)
def test_only_the_file_name_of_a_path_remains(text, expected):
    assert scrub(text) == expected


def test_a_resumed_attempt_gives_the_same_record_as_an_undisturbed_one(tmp_path):
    trial, conditions = trouble(steps=60, pause=0.005), Conditions(checkpoint_dir=str(tmp_path))
    first = Attempt(trial, conditions)
    first.advance(0.05)
    first.save()
    assert 0 < first.step < 60
    second = Attempt(trial, conditions)
    assert second.step == first.step
    while second.ending is None:
        second.advance(1.0)
    assert content(second.record()) == content(run_trial(trial))
    second.checkpoints.delete()
    assert list(tmp_path.iterdir()) == []


def test_a_running_trial_is_saved_and_an_ended_one_is_not(tmp_path):
    attempt = Attempt(
        trouble(steps=60, pause=0.005), Conditions(checkpoint_dir=str(tmp_path), checkpoint_every=0)
    )
    attempt.advance(0.02)
    assert attempt.checkpoint.is_file()
    while attempt.ending is None:
        attempt.advance(1.0)
    attempt.checkpoints.delete()
    attempt.save()
    assert list(tmp_path.iterdir()) == []


def test_a_corrupt_checkpoint_is_deleted_and_the_trial_starts_from_scratch(tmp_path):
    trial = trouble()
    (tmp_path / f"{trial.id}.pt").write_bytes(b"half a checkpo")
    attempt = Attempt(trial, Conditions(checkpoint_dir=str(tmp_path)))
    assert (attempt.step, attempt.ending, list(tmp_path.iterdir())) == (0, None, [])
    assert content(run_trial(trial, Conditions(checkpoint_dir=str(tmp_path)))) == content(run_trial(trial))


@pytest.mark.parametrize(
    ("key", "value"),
    [("step", -1), ("step", None), ("seconds", float("nan")), ("method", {}), ("journal", [])],
)
def test_a_tampered_checkpoint_is_not_used_and_the_attempt_says_so(key, value, tmp_path):
    trial, conditions = trouble(), Conditions(checkpoint_dir=str(tmp_path))
    began = Attempt(trial, conditions)
    began.trainer.run(until=3)
    began.save()
    state = torch.load(began.checkpoint, weights_only=True)
    torch.save(state | {key: value}, began.checkpoint)
    attempt = Attempt(trial, conditions)
    assert (attempt.step, attempt.ending) == (0, None)
    assert trial.id in attempt.afresh
    assert str(tmp_path) not in attempt.afresh
    assert not began.checkpoint.exists()
    assert content(run_trial(trial, conditions)) == content(run_trial(trial))


def test_a_checkpoint_of_another_trial_is_not_used(tmp_path):
    other = Attempt(trouble(seed=1), Conditions(checkpoint_dir=str(tmp_path)))
    other.save()
    trial = trouble()
    other.checkpoint.rename(tmp_path / f"{trial.id}.pt")
    assert content(run_trial(trial, Conditions(checkpoint_dir=str(tmp_path)))) == content(run_trial(trial))


def test_a_measurement_that_is_not_finite_is_a_divergence(monkeypatch):
    monkeypatch.setattr(
        DensityTask, "measure", lambda self, trainer: Measurement({"score": float("inf"), "fine": 1.0})
    )
    row = run_trial(trouble()).row
    assert (row.outcome, row.outcome_step, row.reason) == ("diverged", 20, "score is not finite")
    assert json.loads(row.metrics)["fine"] == 1.0
    assert "score" not in json.loads(row.metrics)


def test_without_a_usable_gpu_the_device_is_the_cpu():
    assert not torch.cuda.is_available()
    assert run_trial(trouble(), Conditions(device="auto", gpus=0.25)).row.device == "cpu"
    assert run_trial(trouble(), Conditions(device="auto")).row.device == "cpu"


def test_two_runs_of_a_trial_differ_in_timing_only():
    one, other = run_trial(trouble()), run_trial(trouble())
    assert content(one) == content(other)
    assert set(TIMING) <= vars(one.row).keys()


def test_a_checkpoint_that_cannot_be_written_stops_the_attempt_and_keeps_the_last_one(tmp_path):
    conditions = Conditions(checkpoint_dir=str(tmp_path / "checkpoints"), checkpoint_every=0.0)
    attempt = Attempt(trouble(steps=10_000, pause=0.001), conditions)
    attempt.advance(0.05)
    kept = attempt.checkpoint.read_bytes()
    (tmp_path / "checkpoints").rename(tmp_path / "away")
    (tmp_path / "checkpoints").write_text("a file")
    attempt.advance(0.05)
    assert attempt.save_error
    assert attempt.ending is None, "the trial itself has not failed"
    assert (tmp_path / "away" / attempt.checkpoint.name).read_bytes() == kept


def test_a_checkpoint_that_could_not_be_read_is_not_deleted(tmp_path, monkeypatch):
    conditions = Conditions(checkpoint_dir=str(tmp_path), checkpoint_every=0.0)
    attempt = Attempt(trouble(steps=10_000, pause=0.001), conditions)
    attempt.advance(0.05)
    kept = attempt.checkpoint.read_bytes()
    monkeypatch.setattr("vera.training.state.checkpoint.torch.load", broken(OSError("input/output error")))
    assert Attempt(attempt.trial, conditions).ending.outcome == "error"
    assert attempt.checkpoint.read_bytes() == kept
    monkeypatch.setattr(
        "vera.training.state.checkpoint.torch.load", broken(torch.OutOfMemoryError("CUDA out of memory"))
    )
    assert Attempt(attempt.trial, conditions).ending.outcome == "out_of_memory"
    assert attempt.checkpoint.read_bytes() == kept


def broken(error):
    def load(*arguments, **settings):
        raise error

    return load


@pytest.mark.parametrize("metrics", [{"loss": torch.ones(2)}, {"loss": "much"}], ids=["tensor", "text"])
def test_metrics_that_cannot_be_stored_give_a_row_with_an_error(metrics, monkeypatch, tmp_path):
    monkeypatch.setattr(math, "isfinite", lambda value: True)  # a plug-in's task may return anything
    monkeypatch.setattr(DensityTask, "measure", lambda self, trainer: Measurement(metrics))
    record = run_trial(trouble())
    assert record.row.outcome == "error"
    assert record.row.reason
    Store(tmp_path).write(record)


def test_an_array_that_cannot_be_stored_gives_a_row_with_an_error(monkeypatch):
    odd = Measurement({}, {"samples": torch.ones(2, dtype=torch.bfloat16)})
    monkeypatch.setattr(DensityTask, "measure", lambda self, trainer: odd)
    assert run_trial(trouble()).row.outcome == "error"


def test_a_record_from_a_report_has_its_metrics_and_the_logged_restarts(tmp_path):
    trial, conditions = trouble(), Conditions(checkpoint_dir=str(tmp_path))
    RestartLog().add(5, "loss is nan", 0, 1.5).write(tmp_path / f"{trial.id}.pt")
    row = build_record_from_report(trial, conditions, Ending("error", 7, "gone"), {"loss": 0.5}).row
    assert (row.outcome, row.outcome_step, json.loads(row.metrics)) == ("error", 7, {"loss": 0.5})
    assert [restart["step"] for restart in json.loads(row.restarts)] == [5]
    assert row.seconds == 1.5
    longer = build_record_from_report(trial, conditions, Ending("error", 7, "gone"), {}, seconds=4.0).row
    assert longer.seconds == 4.0, "reported seconds include those of the restarts"


def test_torch_uses_as_many_threads_as_the_trial_has_cpus():
    before = torch.get_num_threads()
    try:
        run_trial(trouble(), Conditions(cpus=2.0))
        assert torch.get_num_threads() == 2
        assert Attempt(trouble(), Conditions(cpus=2.0)).trainer.threads == 2, (
            "the Trainer chooses none itself"
        )
        run_trial(trouble(), Conditions(cpus=0.5))
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)

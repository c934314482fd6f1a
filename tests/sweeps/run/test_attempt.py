"""One attempt at a trial, without Ray: every outcome is a row, a checkpoint is found again, nothing tells
whose machine it was."""

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

from sweeps.run.attempt import Attempt, Ending, run_trial
from sweeps.run.conditions import Conditions
from sweeps.run.scrub import scrubbed
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
def test_each_way_to_end_is_an_outcome(fault, expected):
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


def test_a_trial_that_takes_too_long_is_a_timeout():
    record = run_trial(trouble(steps=100_000, pause=0.01), Conditions(time_limit=0.1))
    assert record.row.outcome == "timeout"
    assert record.row.reason == "longer than 0.1 s over all attempts: retry with a larger --time-limit"
    assert 0 < record.row.outcome_step < 100_000
    assert record.row.seconds > 0.1


def test_a_timeout_is_saved_and_a_larger_limit_goes_on_from_there(tmp_path):
    trial, short = trouble(steps=60, pause=0.01), Conditions(checkpoint_dir=str(tmp_path), time_limit=0.1)
    first = run_trial(trial, short).row
    again = run_trial(trial, replace(short, attempt=2)).row
    assert (again.outcome, again.outcome_step) == (
        "timeout",
        first.outcome_step,
    )  # the limit counts what the first took
    longer = Attempt(trial, replace(short, attempt=3, time_limit=60.0))
    assert longer.step == first.outcome_step > 0
    while longer.ending is None:
        longer.advance(1.0)
    undisturbed = run_trial(trial).row
    assert outcome_of(longer.record()) == ("ok", 60, "")
    assert longer.record().row.metrics == undisturbed.metrics


def test_a_trial_can_be_stopped_early_and_an_ending_is_final():
    attempt = Attempt(trouble(steps=100_000, pause=0.01), Conditions())
    attempt.advance(0.05)
    attempt.stop("not promising")
    attempt.stop("twice")
    step = attempt.step
    attempt.advance(0.05)
    assert outcome_of(attempt.record()) == ("stopped_early", step, "not promising")


def test_what_cannot_be_built_is_an_error_with_a_row():
    record = run_trial(trouble(), Conditions(device="nonsense"))
    assert record.row.outcome == "error"
    assert "nonsense" in record.row.reason
    assert (record.row.outcome_step, record.row.metrics, record.curves, record.arrays) == (0, "{}", [], {})


def test_an_attempt_of_which_nothing_is_left_is_a_row_too(tmp_path):
    record = Attempt.lost(
        trouble(), Conditions(attempt=3), Ending("error", 0, "the node is gone"), {}
    ).record()
    assert (record.row.outcome, record.row.reason, record.row.attempt) == ("error", "the node is gone", 3)
    Store(tmp_path).write(record)
    assert Store(tmp_path).row(record.row.trial_id) == record.row


def test_a_row_says_what_ran_and_with_what():
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


def test_curves_and_arrays_are_kept():
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
def test_paths_are_cut_to_their_last_part(text, expected):
    assert scrubbed(text) == expected


def test_a_resumed_attempt_ends_like_an_undisturbed_one(tmp_path):
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
    second.forget_checkpoint()
    assert list(tmp_path.iterdir()) == []


def test_a_trial_saves_itself_on_the_way_but_not_once_it_has_ended(tmp_path):
    attempt = Attempt(
        trouble(steps=60, pause=0.005), Conditions(checkpoint_dir=str(tmp_path), checkpoint_every=0)
    )
    attempt.advance(0.02)
    assert attempt.checkpoint.is_file()
    attempt.stop("enough")
    attempt.forget_checkpoint()
    attempt.save()
    assert list(tmp_path.iterdir()) == []


def test_a_corrupt_checkpoint_is_dropped_and_the_trial_starts_afresh(tmp_path):
    trial = trouble()
    (tmp_path / f"{trial.id}.pt").write_bytes(b"half a checkpo")
    attempt = Attempt(trial, Conditions(checkpoint_dir=str(tmp_path)))
    assert (attempt.step, attempt.ending, list(tmp_path.iterdir())) == (0, None, [])
    assert content(run_trial(trial, Conditions(checkpoint_dir=str(tmp_path)))) == content(run_trial(trial))


def test_a_checkpoint_of_another_trial_is_not_taken(tmp_path):
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


def test_a_gpu_is_used_where_torch_can_use_it():
    assert not torch.cuda.is_available()
    assert run_trial(trouble(), Conditions(device="auto", gpus=0.25)).row.device == "cpu"
    assert run_trial(trouble(), Conditions(device="auto")).row.device == "cpu"


def test_two_runs_of_a_trial_differ_in_timing_alone():
    one, other = run_trial(trouble()), run_trial(trouble())
    assert content(one) == content(other)
    assert set(TIMING) <= vars(one.row).keys()


def test_a_checkpoint_that_cannot_be_written_stops_the_attempt_and_keeps_the_last_one(tmp_path):
    conditions = Conditions(checkpoint_dir=str(tmp_path / "checkpoints"), checkpoint_every=0.0)
    attempt = Attempt(trouble(steps=10_000, pause=0.001), conditions)
    attempt.advance(0.05)
    kept = attempt.checkpoint.read_bytes()
    (tmp_path / "checkpoints").rename(tmp_path / "away")
    (tmp_path / "checkpoints").write_text("no directory any more")
    attempt.advance(0.05)
    assert attempt.unsaved
    assert attempt.ending is None, "it is healthy"
    assert (tmp_path / "away" / attempt.checkpoint.name).read_bytes() == kept


def test_a_checkpoint_that_could_not_be_read_is_not_thrown_away(tmp_path, monkeypatch):
    conditions = Conditions(checkpoint_dir=str(tmp_path), checkpoint_every=0.0)
    attempt = Attempt(trouble(steps=10_000, pause=0.001), conditions)
    attempt.advance(0.05)
    kept = attempt.checkpoint.read_bytes()
    monkeypatch.setattr("vera.training.checkpoint.torch.load", broken(OSError("input/output error")))
    assert Attempt(attempt.trial, conditions).ending.outcome == "error"
    assert attempt.checkpoint.read_bytes() == kept
    monkeypatch.setattr(
        "vera.training.checkpoint.torch.load", broken(torch.OutOfMemoryError("CUDA out of memory"))
    )
    assert Attempt(attempt.trial, conditions).ending.outcome == "out_of_memory"
    assert attempt.checkpoint.read_bytes() == kept


def broken(error):
    def load(*arguments, **settings):
        raise error

    return load


@pytest.mark.parametrize("metrics", [{"loss": torch.ones(2)}, {"loss": "much"}], ids=["tensor", "text"])
def test_a_measurement_that_the_store_cannot_keep_is_an_error_in_the_row(metrics, monkeypatch, tmp_path):
    monkeypatch.setattr(math, "isfinite", lambda value: True)  # the plug-in's own task would not have asked
    monkeypatch.setattr(DensityTask, "measure", lambda self, trainer: Measurement(metrics))
    record = run_trial(trouble())
    assert record.row.outcome == "error"
    assert record.row.reason
    Store(tmp_path).write(record)


def test_an_array_that_the_store_cannot_keep_is_an_error_in_the_row(monkeypatch):
    odd = Measurement({}, {"samples": torch.ones(2, dtype=torch.bfloat16)})
    monkeypatch.setattr(DensityTask, "measure", lambda self, trainer: odd)
    assert run_trial(trouble()).row.outcome == "error"


def test_what_is_lost_keeps_its_restarts_and_its_last_report(tmp_path):
    from sweeps.run.restarts import RestartLog

    trial, conditions = trouble(), Conditions(checkpoint_dir=str(tmp_path))
    RestartLog().with_entry(5, "loss is nan", 0, 1.5).write(tmp_path / f"{trial.id}.pt")
    row = Attempt.lost(trial, conditions, Ending("error", 7, "gone"), {"loss": 0.5}).record().row
    assert (row.outcome, row.outcome_step, json.loads(row.metrics)) == ("error", 7, {"loss": 0.5})
    assert [restart["step"] for restart in json.loads(row.restarts)] == [5]
    assert row.seconds == 1.5
    longer = Attempt.lost(trial, conditions, Ending("error", 7, "gone"), {}, seconds=4.0).record().row
    assert longer.seconds == 4.0, "what was reported has the seconds of the restarts in it"


def test_torch_gets_the_threads_that_the_trial_was_given():
    before = torch.get_num_threads()
    try:
        run_trial(trouble(), Conditions(cpus=2.0))
        assert torch.get_num_threads() == 2
        run_trial(trouble(), Conditions(cpus=0.5))
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)

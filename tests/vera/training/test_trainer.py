"""The Trainer's loop: what it runs, keeps and evaluates."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from conformance import differences, expect_refusal, numbers, probe
from trainer_helpers import losses, scripted

from vera.errors import VeraError
from vera.training.trainer import TrainingResult


def test_run_until_pauses_and_goes_on():
    trainer = scripted()
    assert trainer.run(until=3) is None
    assert (trainer.step, trainer.result) == (3, None)
    assert trainer.run(until=2) is None
    assert trainer.step == 3
    result = trainer.run()
    assert result is trainer.result
    assert (result.outcome, result.step, result.reason) == ("ok", 10, "")


def test_run_never_goes_past_the_end_nor_past_a_result():
    trainer = scripted()
    result = trainer.run(until=1000)
    assert trainer.run() is result
    assert (trainer.step, int(trainer.method.count)) == (10, 10)


def test_a_result_is_plain_and_frozen():
    result = TrainingResult("ok", 3)
    assert (result.reason, result.metrics) == ("", {})
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.step = 4


def test_history_holds_the_means_of_blocks_and_of_the_last_partial_block():
    trainer = scripted()
    result = trainer.run()
    assert losses(trainer) == [(4, 2.5), (8, 6.5), (10, 9.5)]
    assert result.metrics == {name: value for name, value in trainer.history[-1].items() if name != "step"}


@pytest.mark.parametrize("stops", [(1, 2, 3, 4, 5, 6, 7, 8, 9), (4, 8), (5,), (9,)])
def test_history_does_not_depend_on_where_a_run_pauses_or_is_restored(stops, tmp_path):
    straight, paused = scripted(), scripted()
    straight.run()
    for stop in stops:
        paused.run(until=stop)
        paused.save(tmp_path / "run.pt")
        paused = scripted()
        paused.restore(tmp_path / "run.pt")
    paused.run()
    assert differences(numbers(straight), numbers(paused)) == []


def test_seconds_add_up_over_runs_and_checkpoints(monkeypatch, tmp_path):
    clock = iter(range(0, 1000, 10))
    trainer = scripted()
    monkeypatch.setattr("vera.training.trainer.time.monotonic", lambda: next(clock))
    trainer.run(until=2)
    trainer.run(until=4)
    assert trainer.seconds == 20
    trainer.save(tmp_path / "run.pt")
    later = scripted()
    later.restore(tmp_path / "run.pt")
    later.run()
    assert later.seconds == 30


@pytest.mark.parametrize(("progress", "shown"), [(True, True), (False, False), (None, False)])
def test_the_progress_bar_is_drawn_on_stderr_where_it_is_wanted(progress, shown, capsys):
    scripted(progress=progress).run()
    out, err = capsys.readouterr()
    assert out == ""
    assert ("Scripted" in err and "10/10" in err) == shown
    assert shown or err == ""


def test_evaluations_come_at_their_steps_and_at_the_end():
    trainer = scripted(evaluate=lambda method: {"seen": int(method.count)}, evaluate_every=4)
    result = trainer.run()
    assert trainer.evaluations == [{"step": step, "seen": step} for step in (4, 8, 10)]
    assert result.metrics["seen"] == 10
    assert result.metrics["loss"] == 9.5


def test_without_an_interval_there_is_one_evaluation_at_the_end():
    trainer = scripted(evaluate=lambda method: {"seen": int(method.count)})
    trainer.run()
    assert trainer.evaluations == [{"step": 10, "seen": 10}]


def test_looking_more_often_changes_nothing_else():
    runs = [scripted(evaluate=probe, evaluate_every=every) for every in (1, 5)]
    for trainer in runs:
        trainer.run()
    often, seldom = ({row["step"]: row for row in trainer.evaluations} for trainer in runs)
    assert runs[0].history == runs[1].history
    assert often[5] == seldom[5]


@pytest.mark.parametrize("value", [np.float64(1.5), np.float32(1.5), torch.tensor(1.5), 1.5])
def test_whatever_kind_of_number_an_evaluation_returns_is_kept_as_a_plain_one(value, tmp_path):
    trainer = scripted(evaluate=lambda method: {"value": value})
    trainer.run()
    assert [type(row["value"]) for row in trainer.evaluations] == [float]
    trainer.save(tmp_path / "run.pt")
    other = scripted()
    other.restore(tmp_path / "run.pt")
    assert other.evaluations == [{"step": 10, "value": 1.5}]


@pytest.mark.parametrize("returned", [None, 1.0, {"value": "high"}])
def test_an_evaluation_that_returns_no_numbers_is_refused(returned):
    with expect_refusal("evaluat"):
        scripted(evaluate=lambda method: returned).run()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_an_evaluation_that_is_not_finite_ends_the_run(bad):
    trainer = scripted(evaluate=lambda method: {"score": 1.0 if method.count < 8 else bad}, evaluate_every=2)
    result = trainer.run()
    assert (result.outcome, result.step, result.reason) == ("diverged", 8, f"score is {bad}")
    assert [row["step"] for row in trainer.evaluations] == [2, 4, 6]
    assert result.metrics["score"] == 1.0
    assert result.metrics["loss"] == 6.5


def test_an_evaluation_that_ends_the_run_inside_a_block_keeps_the_blocks_finite_metrics():
    trainer = scripted(evaluate=lambda method: {"score": math.nan}, evaluate_every=6)
    result = trainer.run()
    assert (result.outcome, result.step) == ("diverged", 6)
    assert losses(trainer) == [(4, 2.5), (6, 5.5)]
    assert result.metrics["loss"] == 5.5


def test_a_loss_that_broke_before_an_evaluation_is_the_one_that_is_named():
    broken = scripted(
        lambda step: math.nan if step >= 6 else step,
        log_every=10,
        evaluate=lambda m: {"score": math.nan},
        evaluate_every=8,
    )
    result = broken.run()
    assert (result.step, result.reason) == (6, "loss is nan")
    assert result.metrics["loss"] == 3.0


def test_a_checkpoint_is_not_written_inside_an_evaluation(tmp_path):
    trainers = []

    def save(method):
        trainers[0].save(tmp_path / "run.pt")
        return {}

    trainers.append(scripted(evaluate=save, evaluate_every=4))
    with expect_refusal("inside an evaluation", kind=VeraError):
        trainers[0].run()
    assert list(tmp_path.iterdir()) == []

"""The training loop: pauses, history, evaluations and time."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from conformance import find_differences, get_state, probe
from facts import raises_with
from trainer_helpers import list_losses, make_scripted_trainer

from vera.errors import VeraError
from vera.training.state.run_state import TrainingResult


def test_run_until_pauses_and_a_later_run_continues():
    trainer = make_scripted_trainer()
    assert trainer.run(until=3) is None
    assert (trainer.step, trainer.result) == (3, None)
    assert trainer.run(until=2) is None
    assert trainer.step == 3
    result = trainer.run()
    assert result is trainer.result
    assert (result.outcome, result.step, result.reason) == ("ok", 10, "")


def test_run_stops_at_the_end_and_returns_the_same_result_again():
    trainer = make_scripted_trainer()
    result = trainer.run(until=10)
    assert trainer.run() is result
    assert (trainer.step, int(trainer.method.count)) == (10, 10)


def test_a_result_is_frozen_and_has_defaults():
    result = TrainingResult("ok", 3)
    assert (result.reason, result.metrics) == ("", {})
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.step = 4


def test_history_contains_the_means_of_blocks_and_of_the_last_partial_block():
    trainer = make_scripted_trainer()
    result = trainer.run()
    assert list_losses(trainer) == [(4, 2.5), (8, 6.5), (10, 9.5)]
    assert result.metrics == {name: value for name, value in trainer.history[-1].items() if name != "step"}


@pytest.mark.parametrize("stops", [(1, 2, 3, 4, 5, 6, 7, 8, 9), (4, 8), (5,), (9,)])
def test_history_does_not_depend_on_pauses_and_restores(stops, tmp_path):
    straight, paused = make_scripted_trainer(), make_scripted_trainer()
    straight.run()
    for stop in stops:
        paused.run(until=stop)
        paused.save(tmp_path / "run.pt")
        paused = make_scripted_trainer()
        paused.restore(tmp_path / "run.pt")
    paused.run()
    assert find_differences(get_state(straight), get_state(paused)) == []


def test_seconds_add_up_over_runs_and_checkpoints(monkeypatch, tmp_path):
    clock = iter(range(0, 1000, 10))
    trainer = make_scripted_trainer()
    monkeypatch.setattr("vera.training.trainer.time.monotonic", lambda: next(clock))
    trainer.run(until=2)
    trainer.run(until=4)
    assert trainer.seconds == 20
    trainer.save(tmp_path / "run.pt")
    later = make_scripted_trainer()
    later.restore(tmp_path / "run.pt")
    later.run()
    assert later.seconds == 30


@pytest.mark.parametrize(("progress", "shown"), [(True, True), (False, False), (None, False)])
def test_the_progress_bar_is_shown_on_stderr_only_if_enabled(progress, shown, capsys):
    make_scripted_trainer(progress=progress).run()
    out, err = capsys.readouterr()
    assert out == ""
    assert ("ScriptedMethod" in err and "10/10" in err) == shown
    assert shown or err == ""


def test_evaluations_run_at_their_interval_and_at_the_end():
    trainer = make_scripted_trainer(evaluate=lambda method: {"seen": int(method.count)}, evaluate_every=4)
    result = trainer.run()
    assert trainer.evaluations == [{"step": step, "seen": step} for step in (4, 8, 10)]
    assert result.metrics["seen"] == 10
    assert result.metrics["loss"] == 9.5


def test_without_an_interval_there_is_one_evaluation_at_the_end():
    trainer = make_scripted_trainer(evaluate=lambda method: {"seen": int(method.count)})
    trainer.run()
    assert trainer.evaluations == [{"step": 10, "seen": 10}]


def test_evaluating_more_often_does_not_change_training():
    runs = [make_scripted_trainer(evaluate=probe, evaluate_every=every) for every in (1, 5)]
    for trainer in runs:
        trainer.run()
    often, seldom = ({row["step"]: row for row in trainer.evaluations} for trainer in runs)
    assert runs[0].history == runs[1].history
    assert often[5] == seldom[5]


@pytest.mark.parametrize("value", [np.float64(1.5), np.float32(1.5), torch.tensor(1.5), 1.5])
def test_the_numbers_of_an_evaluation_are_stored_as_floats(value, tmp_path):
    trainer = make_scripted_trainer(evaluate=lambda method: {"value": value})
    trainer.run()
    assert [type(row["value"]) for row in trainer.evaluations] == [float]
    trainer.save(tmp_path / "run.pt")
    other = make_scripted_trainer()
    other.restore(tmp_path / "run.pt")
    assert other.evaluations == [{"step": 10, "value": 1.5}]


@pytest.mark.parametrize("returned", [None, 1.0, {"value": "high"}])
def test_an_evaluation_that_does_not_return_numbers_is_refused(returned):
    with raises_with(VeraError, "evaluation", repr(returned)):
        make_scripted_trainer(evaluate=lambda method: returned).run()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_an_evaluation_that_is_not_finite_ends_the_run(bad):
    trainer = make_scripted_trainer(
        evaluate=lambda method: {"score": 1.0 if method.count < 8 else bad}, evaluate_every=2
    )
    result = trainer.run()
    assert (result.outcome, result.step, result.reason) == ("diverged", 8, f"score is {bad}")
    assert [row["step"] for row in trainer.evaluations] == [2, 4, 6]
    assert result.metrics["score"] == 1.0
    assert result.metrics["loss"] == 6.5


def test_a_run_that_ends_inside_a_block_keeps_the_finite_metrics_of_the_block():
    trainer = make_scripted_trainer(evaluate=lambda method: {"score": math.nan}, evaluate_every=6)
    result = trainer.run()
    assert (result.outcome, result.step) == ("diverged", 6)
    assert list_losses(trainer) == [(4, 2.5), (6, 5.5)]
    assert result.metrics["loss"] == 5.5


def test_the_first_divergence_is_reported_also_if_an_evaluation_finds_another():
    broken = make_scripted_trainer(
        lambda step: math.nan if step >= 6 else step,
        log_every=10,
        evaluate=lambda m: {"score": math.nan},
        evaluate_every=8,
    )
    result = broken.run()
    assert (result.step, result.reason) == (6, "loss is nan")
    assert result.metrics["loss"] == 3.0


def test_a_checkpoint_cannot_be_saved_inside_an_evaluation(tmp_path):
    trainers = []

    def save(method):
        trainers[0].save(tmp_path / "run.pt")
        return {}

    trainers.append(make_scripted_trainer(evaluate=save, evaluate_every=4))
    with raises_with(VeraError, "evaluation", "run(until=...)"):
        trainers[0].run()
    assert list(tmp_path.iterdir()) == []

"""Callbacks of a run: when they are called, that they change nothing, and what happens if one raises."""

import math

import pytest
import torch
from conformance import find_differences, get_state, make_trainer, pick_one_energy_each, probe
from facts import raises_with
from trainer_helpers import list_losses, make_scripted_trainer

from vera.errors import CallbackError, SettingError, VeraError

every_method = pytest.mark.parametrize(("method", "energy"), pick_one_energy_each())


class Recorder:
    """Keeps the steps and metrics that it was called with."""

    def __init__(self):
        self.rows = []

    def __call__(self, step, metrics):
        self.rows.append({"step": step, **metrics})
        metrics.clear()


class Failing(Recorder):
    """Raises at some steps, after it has recorded them."""

    def __init__(self, *steps):
        super().__init__()
        self.steps = steps

    def __call__(self, step, metrics):
        super().__call__(step, metrics)
        if step in self.steps:
            raise ZeroDivisionError("no such plot")


def test_callbacks_see_every_row_of_history_and_evaluations():
    logged, evaluated = Recorder(), [Recorder(), Recorder()]
    trainer = make_scripted_trainer(evaluate=probe, evaluate_every=3, on_log=logged, on_evaluate=evaluated)
    trainer.run(until=7)
    assert [row["step"] for row in logged.rows] == [4]
    trainer.run()
    trainer.run()
    assert logged.rows == trainer.history
    assert [row["step"] for row in logged.rows] == [4, 8, 10]
    assert evaluated[0].rows == evaluated[1].rows == trainer.evaluations
    assert [row["step"] for row in trainer.evaluations] == [3, 6, 9, 10]


def test_a_row_is_logged_before_the_evaluation_of_its_step():
    order = []
    make_scripted_trainer(
        evaluate=probe,
        evaluate_every=4,
        on_log=lambda step, metrics: order.append(("log", step)),
        on_evaluate=lambda step, metrics: order.append(("evaluate", step)),
    ).run()
    assert order == [(kind, step) for step in (4, 8, 10) for kind in ("log", "evaluate")]


def test_the_rows_of_a_diverged_run_are_finite_and_logged_once():
    logged = Recorder()
    trainer = make_scripted_trainer(lambda s: math.nan if s == 7 else float(s), on_log=logged)
    assert trainer.run().outcome == "diverged"
    assert [(row["step"], row["loss"]) for row in logged.rows] == [(4, 2.5), (6, 5.5)] == list_losses(trainer)
    trainer.run()
    assert len(logged.rows) == 2
    first = make_scripted_trainer(lambda s: math.nan if s == 5 else float(s), on_log=(again := Recorder()))
    assert (first.run().step, [row["step"] for row in again.rows]) == (5, [4])


def test_an_evaluation_that_is_not_finite_is_not_passed_on():
    evaluated = Recorder()
    make_scripted_trainer(
        evaluate=lambda m: {"score": math.nan if m.count > 4 else 1.0},
        evaluate_every=4,
        on_evaluate=evaluated,
    ).run()
    assert evaluated.rows == [{"step": 4, "score": 1.0}]


def test_a_restored_or_extended_run_logs_new_rows_only(tmp_path):
    first = make_scripted_trainer(steps=6)
    first.run()
    first.save(tmp_path / "run.pt")
    second = make_scripted_trainer(steps=6, on_log=(logged := Recorder()))
    second.restore(tmp_path / "run.pt")
    second.run()
    assert logged.rows == []
    second.extend(6)
    assert [(row["step"], row["loss"]) for row in logged.rows] == [(8, 6.5), (12, 10.5)]


def disturb(networks):
    """A callback that changes everything that a plotting function might leave behind."""

    def callback(step, metrics):
        torch.rand(3)
        torch.manual_seed(step)
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        torch.set_num_threads(torch.get_num_threads() + 1)
        for network in networks():
            network.eval().requires_grad_(False).double()

    return callback


@every_method
def test_a_callback_cannot_change_the_training_by_accident(method, energy):
    options = {"steps": 9, "evaluate": probe, "evaluate_every": 2, "log_every": 2}
    plain = make_trainer(method, energy, **options)
    plain.run()
    callback = disturb(lambda: disturbed.method.networks().values())
    disturbed = make_trainer(method, energy, on_log=callback, on_evaluate=[callback], **options)
    before = torch.get_num_threads(), torch.get_rng_state()
    disturbed.run()
    assert find_differences(get_state(plain), get_state(disturbed)) == []
    assert all(network.training for network in disturbed.method.networks().values())
    assert torch.is_grad_enabled()
    assert torch.get_default_dtype() == torch.float32
    assert torch.get_num_threads() == before[0]
    assert torch.equal(torch.get_rng_state(), before[1])


def test_an_evaluation_cannot_change_the_training_by_accident():
    def evaluate(method):
        disturb(method.networks().values)(1, {})
        return probe(method)

    plain, disturbed = (
        make_trainer("vera", "leaky_mlp", evaluate=function, evaluate_every=2)
        for function in (None, evaluate)
    )
    plain.run()
    disturbed.run()
    assert len(disturbed.evaluations) == 3
    assert find_differences(plain.method.state_dict(), disturbed.method.state_dict()) == []


def test_random_numbers_of_a_callback_are_reproducible_and_differ_between_steps():
    drawn = []
    for _ in range(2):
        make_scripted_trainer(on_log=lambda step, metrics: drawn.append(float(torch.rand(())))).run()
    assert drawn[:3] == drawn[3:]
    assert len(set(drawn)) == 3


@pytest.mark.parametrize("where", ["on_log", "on_evaluate"])
@pytest.mark.parametrize("step", [4, 8, 10])
def test_a_run_goes_on_after_a_callback_raised(where, step, tmp_path):
    options = {"evaluate": probe, "evaluate_every": 4}
    plain = make_scripted_trainer(**options)
    plain.run()
    failing, other = Failing(step), Recorder()
    path = tmp_path / "auto.pt"
    trainer = make_scripted_trainer(**options, **{where: [failing, other]}, checkpoint=path)
    with raises_with(CallbackError, where, "Failing", f"step {step}", "ZeroDivisionError: no such plot"):
        trainer.run()
    assert trainer.step == step
    assert other.rows == failing.rows, "the callbacks after it are called"
    trainer.save(tmp_path / "run.pt")
    for source in (path, tmp_path / "run.pt"):
        restored = make_scripted_trainer(**options)
        restored.restore(source)
        restored.run()
        assert find_differences(get_state(plain), get_state(restored)) == []
    assert trainer.run().outcome == "ok"
    assert find_differences(get_state(plain), get_state(trainer)) == []
    expected = plain.history if where == "on_log" else plain.evaluations
    assert failing.rows == other.rows == expected, "no row is missing or repeated"


def test_a_callback_that_raises_after_a_divergence_does_not_hide_it():
    trainer = make_scripted_trainer(lambda s: math.nan if s == 3 else 1.0, on_log=Failing(2))
    with raises_with(CallbackError, "on_log", "step 2"):
        trainer.run()
    assert (trainer.result.outcome, trainer.result.step) == ("diverged", 3)
    assert trainer.run() is trainer.result


@pytest.mark.parametrize(("name", "argument"), [("save", "run.pt"), ("run", 9), ("extend", 1)])
def test_a_run_is_neither_saved_nor_continued_from_inside_a_callback(name, argument, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trainer = make_scripted_trainer(on_log=lambda step, metrics: getattr(trainer, name)(argument))
    with raises_with(CallbackError, "inside an evaluation or a callback"):
        trainer.run()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["on_log", "on_evaluate"])
@pytest.mark.parametrize("value", [3.5, "print", [print, None], {"a": print}])
def test_a_callback_that_is_not_a_function_is_refused(option, value):
    with raises_with(SettingError, "Trainer", option, repr(value)):
        make_scripted_trainer(**{option: value})


def test_callbacks_can_be_changed_between_runs():
    trainer = make_scripted_trainer(on_log=Failing(4))
    with pytest.raises(VeraError):
        trainer.run()
    trainer.on_log = logged = Recorder()
    trainer.run()
    assert [row["step"] for row in logged.rows] == [8, 10]

"""Extending a run: it is bit-identical to a run that was as long from the start."""

import math

import pytest
from conformance import PAIRS, find_differences, get_state, make_trainer, probe
from facts import raises_with
from trainer_helpers import list_losses, make_scripted_trainer

import vera
from vera.errors import SettingError, VeraError
from vera.spec.registry import joint_methods
from vera.tasks.build import build_task

SPEC = {
    "dataset": {"name": "moons"},
    "networks": {"energy": {"name": "mixture", "components": 3}},
    "method": {"name": "ml"},
    "steps": 5,
    "batch_size": 8,
}
STUDIES = [
    {
        "dataset": {"name": "gaussian", "dim": 4},
        "networks": {},
        "method": {"name": "shifted-proposal"},
        "steps": 2,
        "batch_size": 40,
        "task": "ess-offset",
    },
    {
        "dataset": {"name": "wine"},
        "networks": {"energy": {"name": "mlp-classifier", "hidden": [4]}},
        "method": {"name": "supervised"},
        "steps": 2,
        "batch_size": 8,
        "task": "step-time",
    },
]
every_pair = pytest.mark.parametrize(("method", "energy"), PAIRS)


@every_pair
def test_an_extended_run_is_bit_identical_to_a_longer_one(method, energy):
    """The first end is inside an epoch, inside a logging block and between two evaluations."""
    options = {"log_every": 4, "evaluate": probe, "evaluate_every": 3}
    straight, extended = (make_trainer(method, energy, steps=steps, **options) for steps in (14, 7))
    straight.run()
    assert extended.run().step == 7
    assert extended.extend(7).step == 14
    assert find_differences(get_state(straight), get_state(extended)) == []
    assert (straight.history, straight.evaluations) == (extended.history, extended.evaluations)


@pytest.mark.parametrize("method", list(joint_methods))
def test_an_end_inside_a_schedule_does_not_change_it(method):
    """Warm-up and milestones count steps from the start, whatever the number of steps of the run."""
    options = {"settings": {"warmup": 9, "decay_at": (3, 7, 12)}, "log_every": 4}
    straight, extended = (make_trainer(method, "few_labels", steps=steps, **options) for steps in (14, 7))
    straight.run()
    extended.run()
    extended.extend(7)
    assert find_differences(get_state(straight), get_state(extended)) == []


@pytest.mark.parametrize("first", [1, 4, 6, 9])
@pytest.mark.parametrize("evaluate_every", [None, 1, 2, 3])
def test_history_and_evaluations_do_not_depend_on_where_the_run_was_extended(first, evaluate_every):
    options = {"evaluate": probe, "evaluate_every": evaluate_every}
    straight, extended = (make_scripted_trainer(steps=steps, **options) for steps in (10, first))
    straight.run()
    extended.run()
    assert [row["step"] for row in extended.evaluations][-1] == first
    extended.extend(10 - first)
    assert list_losses(extended) == [(4, 2.5), (8, 6.5), (10, 9.5)]
    assert find_differences(get_state(straight), get_state(extended)) == []


def test_a_finished_checkpoint_in_a_longer_run_continues_inside_its_block(tmp_path):
    options = {"evaluate": probe, "evaluate_every": 4}
    short, straight, longer = (make_scripted_trainer(steps=steps, **options) for steps in (7, 12, 12))
    short.run()
    short.save(tmp_path / "run.pt")
    straight.run()
    longer.restore(tmp_path / "run.pt")
    longer.run()
    assert find_differences(get_state(straight), get_state(longer)) == []


def test_a_restored_run_can_be_extended_and_its_spec_follows(tmp_path):
    straight, first = (vera.build_trainer({**SPEC, "steps": steps}, log_every=4) for steps in (9, 5))
    straight.run()
    first.run()
    first.save(tmp_path / "run.pt")
    second = vera.load_trainer(tmp_path / "run.pt", log_every=4)
    assert second.history == first.history
    second.extend(4)
    assert second.spec["steps"] == 9
    assert find_differences(get_state(straight), get_state(second)) == []


def test_an_unfinished_run_can_be_extended():
    straight, extended = make_scripted_trainer(steps=9), make_scripted_trainer(steps=6)
    straight.run()
    extended.run(until=3)
    assert extended.extend(3).step == 9
    assert find_differences(get_state(straight), get_state(extended)) == []


def test_running_beyond_the_end_names_extend():
    trainer = make_scripted_trainer()
    with raises_with(SettingError, "until=12", "10 steps", "extend(2)"):
        trainer.run(until=12)
    assert trainer.step == 0


def test_a_diverged_run_is_not_extended():
    trainer = make_scripted_trainer(lambda step: math.nan if step == 3 else 1.0)
    trainer.run()
    with raises_with(VeraError, "diverged", "step 3"):
        trainer.extend(5)
    assert trainer.steps == 10


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study["task"])
def test_a_study_that_fixes_its_number_of_steps_is_not_extended(study):
    spec = vera.TrialSpec.from_dict(study)
    trainer = build_task(spec).build(spec, progress=False)
    trainer.run()
    with raises_with(VeraError, trainer.method.label(), "new run of 5"):
        trainer.extend(3)
    assert trainer.steps == 2


@pytest.mark.parametrize("steps", [0, -1, 2.5, None])
def test_the_number_of_added_steps_is_checked(steps):
    with raises_with(SettingError, "steps", f"got {steps}"):
        make_scripted_trainer().extend(steps)


def test_a_run_is_not_extended_from_inside_an_evaluation():
    trainer = make_scripted_trainer(evaluate=lambda method: trainer.extend(1) and {})
    with raises_with(VeraError, "evaluation"):
        trainer.run()
    assert trainer.steps == 10

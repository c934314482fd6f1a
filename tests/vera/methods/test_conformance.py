"""Conformance of every registered method, on every energy model it supports. Registration is enough."""

import math
import random

import numpy as np
import pytest
import torch
from conformance import (
    BATCH,
    IMPOSSIBLE,
    MODELS,
    PAIRS,
    check_resume,
    find_differences,
    find_optimisers,
    get_outcome,
    get_state,
    make_batch,
    make_dataset,
    make_method,
    make_points,
    make_trainer,
    pick_one_energy_each,
    probe,
)
from facts import raises_with
from setting_values import other_settings, setting_names

from vera.errors import IncompatibleModel
from vera.spec.registry import joint_methods, methods, models
from vera.training.state.random_state import derive_seed

every_pair = pytest.mark.parametrize(("method", "energy"), PAIRS)
every_method = pytest.mark.parametrize(("method", "energy"), pick_one_energy_each())

SETTINGS = [
    (method, energy, name, value)
    for method, energy in pick_one_energy_each()
    for name, value in other_settings(method, MODELS[energy].registry)
]


@pytest.mark.parametrize("registry", [methods, joint_methods], ids=lambda registry: registry.kind)
def test_every_method_and_every_model_is_covered(registry):
    trained = {energy for energy, model in MODELS.items() if model.registry is registry}
    assert {method for method, energy in PAIRS if energy in trained} == set(registry)
    assert {energy for _, energy in PAIRS} >= trained


@pytest.mark.parametrize(("method", "energy"), IMPOSSIBLE)
def test_construction_rejects_a_model_that_lacks_a_need(method, energy):
    model = models.get(MODELS[energy].component["name"]).__name__
    with raises_with(IncompatibleModel, f"{method} cannot train {model}", "nice"):
        make_method(method, energy)


@every_pair
def test_steps_are_finite_and_report_detached_scalars(method, energy):
    built = make_method(method, energy)
    batch = make_batch(energy)
    built.begin(batch)
    reports = [built.step(batch) for _ in range(3)]
    assert all("loss" in metrics and metrics.keys() == reports[0].keys() for metrics in reports)
    for value in (value for metrics in reports for value in metrics.values()):
        assert isinstance(value, torch.Tensor)
        assert value.shape == ()
        assert not value.requires_grad
        assert value.isfinite()


@every_pair
def test_training_updates_every_network(method, energy):
    trainer = make_trainer(method, energy)
    before = {
        role: [p.detach().clone() for p in network.parameters()]
        for role, network in trainer.method.networks().items()
    }
    trainer.run()
    for role, network in trainer.method.networks().items():
        assert any(
            not torch.equal(p, old) for p, old in zip(network.parameters(), before[role], strict=True)
        ), role


@every_pair
def test_a_resumed_run_is_bit_identical(method, energy, tmp_path):
    check_resume(method, energy, tmp_path)


@every_pair
def test_the_seed_determines_all_numbers(method, energy):
    one, same, other = (make_trainer(method, energy, seed=seed) for seed in (3, 3, 4))
    for trainer in (one, same, other):
        trainer.run()
    assert find_differences(get_state(one), get_state(same)) == []
    assert one.history[0]["loss"] != other.history[0]["loss"]


@pytest.mark.parametrize(("method", "energy", "name", "value"), SETTINGS)
def test_every_setting_changes_the_training(method, energy, name, value):
    default, changed = make_trainer(method, energy), make_trainer(method, energy, settings={name: value})
    assert getattr(default.method, name) != value
    default.run()
    changed.run()
    assert find_differences(get_outcome(default), get_outcome(changed))


@every_method
def test_every_setting_has_another_valid_value(method, energy):
    found = {name for m, e, name, _ in SETTINGS if (m, e) == (method, energy)}
    assert found == set(setting_names(method, MODELS[energy].registry))


def row_first_seen_at(step: int, energy: str, n: int, seed: int) -> int:
    """Return a row that the stream of a run reaches at this step for the first time.

    With labelled and unlabelled points it is a labelled row that was in neither stream before.
    """
    copy = make_dataset(energy, torch.arange(float(n)).unsqueeze(1)).stream(BATCH, derive_seed(seed, "data"))
    *earlier, last = (copy.next_batch() for _ in range(step))
    seen = [
        points
        for batch in earlier
        for points in (getattr(batch, "x", batch), getattr(batch, "labelled", batch))
    ]
    return min(_rows(getattr(last, "labelled", last)).difference(*map(_rows, seen)))


def _rows(points: torch.Tensor) -> set[int]:
    return set(points.flatten().int().tolist())


@every_pair
@pytest.mark.parametrize("step", [1, 6])
def test_a_nan_in_the_data_ends_the_run_at_its_step(method, energy, step):
    """Data with a NaN are rejected at the start; here it appears later, as from a custom stream."""
    clean = make_points(MODELS[energy].data_dim, n=160)
    damaged = make_dataset(energy, clean.clone())
    damaged.train[row_first_seen_at(step, energy, len(clean), seed=0), 0] = math.nan
    result = (trainer := make_trainer(method, energy, data=damaged, steps=12)).run()
    assert (result.outcome, result.step) == ("diverged", step)
    assert "nan" in result.reason
    metrics, history = {}, []
    if step > 1:
        undisturbed = make_trainer(method, energy, data=clean, steps=step - 1)
        metrics, history = undisturbed.run().metrics, undisturbed.history
    assert (result.metrics, trainer.history) == (metrics, history)
    assert all(math.isfinite(value) for row in trainer.history for value in row.values())


@every_pair
def test_an_exploding_learning_rate_ends_as_diverged(method, energy):
    names = setting_names(method, MODELS[energy].registry)
    rates = {name: 1e12 for name in names if name == "lr" or name.endswith("_lr")}
    trainer = make_trainer(method, energy, settings=rates, steps=40, evaluate=probe)
    result = trainer.run()
    assert rates
    assert result.outcome == "diverged"
    assert 1 <= result.step <= trainer.step <= 40
    assert " is " in result.reason
    assert [row["step"] for row in trainer.history][-1:] == ([result.step - 1] if result.step > 1 else [])
    rows = [*trainer.history, *trainer.evaluations, result.metrics]
    assert all(math.isfinite(value) for row in rows for value in row.values())


@every_pair
def test_a_run_does_not_change_the_random_state_of_the_caller(method, energy, tmp_path):
    before = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()
    trainer = make_trainer(method, energy, evaluate=probe, evaluate_every=2)
    trainer.run()
    trainer.save(tmp_path / "run.pt")
    trainer.restore(tmp_path / "run.pt")
    after = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()
    assert torch.equal(before[0], after[0])
    assert before[1:] == after[1:]


@every_pair
def test_interleaved_runs_do_not_affect_each_other(method, energy):
    alone = [make_trainer(method, energy, seed=seed) for seed in (0, 1)]
    turns = [make_trainer(method, energy, seed=seed) for seed in (0, 1)]
    for trainer in alone:
        trainer.run()
    for until in (1, 2, 5, 6):
        for trainer in turns:
            trainer.run(until)
    assert [find_differences(get_state(a), get_state(b)) for a, b in zip(alone, turns, strict=True)] == [
        [],
        [],
    ]


@every_pair
def test_only_its_own_optimiser_updates_the_energy(method, energy):
    built = make_method(method, energy)
    batch = make_batch(energy)
    built.begin(batch)
    weights = built.energy_weights
    (optimiser,) = find_optimisers(built, weights)
    start = [w.detach().clone() for w in weights]
    at_update, late = [], []

    def before_update(*_):
        assert all(torch.equal(w, old) for w, old in zip(weights, start, strict=True))

    def after_update(*_):
        at_update.extend(
            (w.grad, None if w.grad is None else w.grad.clone(), w.detach().clone()) for w in weights
        )

    optimiser.register_step_pre_hook(before_update)
    optimiser.register_step_post_hook(after_update)
    for w in weights:
        w.register_hook(lambda grad: late.append(grad) if at_update else None)
    built.step(batch)
    assert len(at_update) == len(weights)
    assert any(grad is not None for grad, _, _ in at_update)
    assert not late, "a gradient of the energy's weights was computed after their update"
    for w, (grad, grad_value, value) in zip(weights, at_update, strict=True):
        assert w.grad is grad
        assert grad is None or torch.equal(grad, grad_value)
        assert torch.equal(w, value)

"""The task "step-cost" on tiny networks: medians, the supervised step, and which methods accept ReLU."""

import json

import pytest
import torch
from facts import raises_with

from sweeps.run.attempt import run_trial
from sweeps.trial.identity import Trial
from vera.errors import SettingError
from vera.methods import PCD
from vera.spec.registry import methods
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_task
from vera.tasks.studies import SupervisedStep
from vera.tasks.studies.step_time import WARM_UP

NETWORKS = {
    "energy": {"name": "nice", "hidden": 8, "hidden_layers": 1},
    "generator": {"name": "mlp-generator", "hidden": [8]},
    "statistics": {"name": "statistics", "hidden": [8]},
}


def spec_for(name="pcd", steps=3, **settings):
    networks = {role: NETWORKS[role] for role in methods.get(name).network_names()}
    return TrialSpec(
        {"name": "moons"}, networks, {"name": name, **settings}, steps, batch_size=20, task="step-cost"
    )


def build(spec):
    return build_task(spec).build(spec, progress=False)


def test_a_trial_measures_both_times_and_their_ratio():
    record = run_trial(Trial(spec_for(), "smoke"))
    metrics = json.loads(record.row.metrics)
    assert (record.row.outcome, record.row.method) == ("ok", "pcd")
    assert metrics["ratio"] == pytest.approx(metrics["method_seconds"] / metrics["supervised_seconds"])
    assert record.arrays["seconds"].shape == (3 - WARM_UP, 2)


def test_the_result_is_the_median_of_the_counted_rounds():
    trainer = build(spec_for(steps=6))
    trainer.run()
    trainer.method.seconds = torch.tensor(
        [[9, 1], [4, 1], [5, 2], [90, 2], [7, 2], [8, 2]], dtype=torch.float64
    )
    metrics = build_task(spec_for()).measure(trainer).metrics
    assert (metrics["method_seconds"], metrics["supervised_seconds"], metrics["ratio"]) == (7, 2, 3.5)


def test_the_supervised_step_trains_a_copy_of_the_energy():
    study = build(spec_for()).method
    own, baseline = study.pair["method"], study.pair["supervised"]
    assert isinstance(own, PCD)
    assert isinstance(baseline, SupervisedStep)
    assert baseline.energy is not own.energy
    before = [w.detach().clone() for w in own.energy.parameters()]
    copied = [w.detach().clone() for w in baseline.energy.parameters()]
    assert all(map(torch.equal, before, copied))
    assert "loss" in baseline.step(torch.randn(8, 2))
    assert all(map(torch.equal, before, own.energy.parameters()))
    assert not all(map(torch.equal, copied, baseline.energy.parameters()))


@pytest.mark.parametrize("name", list(methods.names()))
def test_methods_that_need_more_than_first_derivatives_refuse_relu(name):
    """And those that need a normalised model."""
    trainer = build(spec_for(name, steps=2))
    trainer.run()
    accepts = build_task(spec_for()).measure(trainer).metrics["accepts_relu"]
    assert accepts == (not methods.get(name).needs)


def test_a_single_round_is_refused():
    with raises_with(SettingError, "steps", "at least 2", "got 1"):
        build(spec_for(steps=1))

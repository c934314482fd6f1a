"""Averaged weights: their closed form, that training does not see them, and that a run with them resumes."""

import math

import pytest
import torch
from conformance import (
    find_differences,
    get_outcome,
    get_state,
    make_method,
    make_trainer,
    pick_one_energy_each,
    probe,
)
from facts import raises_with
from torch import nn

import vera
from sweeps.trial.identity import Trial
from vera.errors import CheckpointError, VeraError
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_task
from vera.training.averaging import WeightAverage

every_method = pytest.mark.parametrize(("method", "energy"), pick_one_energy_each())


class Ramp(nn.Module):
    """One weight that a test moves."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros((), dtype=torch.float64))
        self.register_buffer("seen", torch.zeros(()))


class OneNetwork:
    def __init__(self):
        self.energy = Ramp()

    def networks(self):
        return {"energy": self.energy}


@pytest.mark.parametrize("decay", [0.0, 0.5, 0.99])
def test_the_average_has_its_closed_form(decay):
    """a_t = Σ_s (1 − d_s) w_s Π_{r>s} d_r + w_0 Π d_r with d_t = min(decay, (1 + t)/(10 + t))."""
    method, steps = OneNetwork(), 50
    average = WeightAverage(method, decay)
    for step in range(1, steps + 1):
        method.energy.weight.data.fill_(math.sin(step))
        average.update()
    d = [min(decay, (1 + t) / (10 + t)) for t in range(1, steps + 1)]
    expected = sum((1 - d[s]) * math.sin(s + 1) * math.prod(d[s + 1 :]) for s in range(steps))
    assert average.networks["energy"].weight.item() == pytest.approx(expected, rel=1e-12)


def test_averaged_networks_have_the_buffers_of_the_trained_ones_and_leave_again():
    method = OneNetwork()
    average, trained = WeightAverage(method, 0.9), method.energy
    trained.seen.fill_(7.0)
    with average.installed():
        assert method.energy is average.networks["energy"]
        assert float(method.energy.seen) == 7.0
    assert method.energy is trained


@every_method
def test_training_does_not_see_the_average(method, energy):
    plain, averaged = make_trainer(method, energy), make_trainer(method, energy, ema=0.5)
    plain.run()
    averaged.run()
    assert find_differences(get_outcome(plain), get_outcome(averaged)) == []
    for role, network in averaged.method.networks().items():
        pairs = zip(network.parameters(), averaged.average.networks[role].parameters(), strict=True)
        assert any(not torch.equal(*pair) for pair in pairs), role


@every_method
def test_a_resumed_run_has_the_same_average(method, energy, tmp_path):
    options = {"steps": 6, "ema": 0.5, "evaluate": probe, "evaluate_every": 2}
    straight, first, second = (make_trainer(method, energy, **options) for _ in range(3))
    straight.run()
    first.run(until=3)
    first.save(tmp_path / "run.pt")
    second.restore(tmp_path / "run.pt")
    second.run()
    assert "average" in get_state(straight)
    assert find_differences(get_state(straight), get_state(second)) == []


def test_both_weights_are_evaluated_with_the_same_random_numbers():
    trainer = make_trainer("dsm", "leaky_mlp", ema=0.0, evaluate=probe, evaluate_every=3)
    trainer.run()
    assert [row.keys() for row in trainer.evaluations] == [{"step", "probe", "ema_probe"}] * 2
    assert all(row["probe"] == row["ema_probe"] for row in trainer.evaluations), "decay 0 is no average"
    with trainer.use_averaged_weights():
        assert [set(row) for row in trainer.evaluations] == [{"step", "probe"}] * 2


def test_without_an_average_there_is_nothing_of_it():
    trainer = make_trainer("dsm", "leaky_mlp", evaluate=probe)
    trainer.run()
    assert trainer.average is None
    assert not [key for key in (*get_state(trainer), *trainer.identity()) if "average" in key or key == "ema"]
    assert set(trainer.evaluations[0]) == {"step", "probe"}
    with raises_with(VeraError, "ema=0.999"), trainer.use_averaged_weights():
        pass


def test_a_checkpoint_without_the_average_belongs_to_another_run(tmp_path):
    make_trainer("dsm", "leaky_mlp").save(tmp_path / "run.pt")
    with raises_with(CheckpointError, "ema", "0.9"):
        make_trainer("dsm", "leaky_mlp", ema=0.9).restore(tmp_path / "run.pt")


def test_an_average_of_a_converging_run_is_closer_to_the_optimum():
    """A large learning rate makes the weights of one Gaussian fluctuate, and their average less."""
    torch.manual_seed(0)
    data = vera.data.TensorData(torch.randn(4_000, 2), test=torch.randn(20_000, 2))
    method = vera.methods.MaximumLikelihood(vera.models.GaussianMixture(2, components=1), lr=0.1)
    evaluate = vera.evaluation.LikelihoodEvaluation(data)
    trainer = vera.Trainer(method, data, steps=400, batch_size=16, ema=0.98, evaluate=evaluate)
    metrics = trainer.run().metrics
    assert metrics["ema_test_log_likelihood"] > metrics["test_log_likelihood"]


SPEC = {"dataset": {"name": "moons"}, "networks": {"energy": {"name": "mlp"}}, "method": {"name": "dsm"}}


def test_a_trial_without_an_average_keeps_its_id_and_one_with_it_has_another():
    plain, averaged = TrialSpec(**SPEC, steps=2), TrialSpec(**SPEC, steps=2, ema=0.9)
    assert "ema" not in plain.to_dict()
    assert "ema" not in Trial(plain).facts
    assert Trial(averaged).facts["ema"] == 0.9
    assert Trial(averaged).id != Trial(plain).id
    assert Trial.from_facts(Trial(averaged).facts).spec.ema == 0.9


def test_a_trial_measures_both_weights():
    spec = TrialSpec(**SPEC, steps=2, batch_size=8, ema=0.9)
    task = build_task(spec)
    trainer = task.build(spec, progress=False)
    trainer.run()
    measured = task.measure_run(trainer)
    assert {"grid_log_likelihood", "ema_grid_log_likelihood"} <= measured.metrics.keys()
    assert measured.metrics["grid_log_likelihood"] != measured.metrics["ema_grid_log_likelihood"]
    assert {"density_image", "ema_density_image"} <= measured.arrays.keys()


def test_a_network_that_cannot_be_copied_is_one_error():
    method = make_method("dsm", "leaky_mlp")
    method.energy.__deepcopy__ = lambda memo: (_ for _ in ()).throw(TypeError("no copy"))
    with raises_with(VeraError, "energy", "no copy"):
        WeightAverage(method, 0.9)

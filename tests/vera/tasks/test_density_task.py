"""The task "density": metrics and arrays of a finished run."""

import math

import pytest
import torch

import vera
from vera.data import TensorData
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_task
from vera.tasks.density import _draw_test_points

GENERATOR = {"name": "mlp-generator"}


def measure_trial(method, energy="mixture", dataset="moons", evaluate_every=None, **settings):
    networks = {"energy": {"name": energy}} | ({"generator": GENERATOR} if method.startswith("vera") else {})
    spec = TrialSpec(
        {"name": dataset}, networks, {"name": method, **settings}, 4, 50, evaluate_every=evaluate_every
    )
    task = build_task(spec)
    trainer = task.build(spec, progress=False)
    trainer.run()
    return task.measure(trainer)


def test_all_points_of_a_small_test_set_are_stored():
    torch.manual_seed(0)
    data = TensorData(torch.randn(80, 2), test=torch.randn(30, 2))
    trainer = vera.Trainer(
        vera.methods.MaximumLikelihood(vera.models.GaussianMixture(2)),
        data,
        steps=2,
        batch_size=20,
        progress=False,
    )
    trainer.run()
    spec = TrialSpec({"name": "moons"}, {"energy": {"name": "mixture"}}, {"name": "ml"}, 2, 20)
    assert torch.equal(build_task(spec).measure(trainer).arrays["data_samples"], data.test)


@pytest.mark.parametrize(("dataset", "ceiling"), [("moons", -2.394), ("circles", -3.268), ("rings", -2.623)])
def test_the_ceiling_is_the_likelihood_of_the_true_density(dataset, ceiling):
    assert measure_trial("ml", dataset=dataset).metrics["ceiling"] == pytest.approx(ceiling, abs=0.01)


def test_samples_are_compared_with_the_true_density():
    metrics = measure_trial("pcd").metrics
    assert metrics["sample_log_density"] < metrics["ceiling"], "after four steps from a uniform start"
    assert metrics["sample_energy_distance"] > 0.01
    assert not {"sample_log_density", "sample_energy_distance"} & {*measure_trial("ml").metrics}


def test_effective_sample_sizes_are_measured_only_if_the_scale_was_trained():
    metrics = measure_trial("vera").metrics
    assert 1 <= metrics["prior_ess"] <= 20
    assert 1 <= metrics["posterior_ess"] <= 20
    assert "posterior_ess" not in measure_trial("vera", entropy_weight=0.0).metrics
    assert "posterior_ess" not in measure_trial("vera-hmc").metrics


def test_the_ess_of_a_matched_gaussian_belongs_to_the_dimension_of_the_latent():
    metrics = measure_trial("vera").metrics
    assert metrics["latent_dim"] == 2
    assert metrics["matched_ess"] == pytest.approx(9.43, abs=0.3)
    assert "matched_ess" not in measure_trial("vera", entropy_weight=0.0).metrics


def measure_flow(change):
    """The distance of the training samples of an untrained flow whose generator was changed."""
    networks = {
        "energy": {"name": "nice", "hidden": 8, "hidden_layers": 1},
        "generator": {"name": "nice-generator", "hidden": [8], "latent_dim": 4, "sigma": 0.3},
    }
    spec = TrialSpec({"name": "mnist5k-logit", "side": 14}, networks, {"name": "vera", "lr": 1e-6}, 1, 20)
    task = build_task(spec)
    trainer = task.build(spec, progress=False)
    trainer.run()
    change(trainer)
    return task.measure(trainer).metrics.get("training_sample_distance")


def test_samples_of_the_generator_are_compared_with_exact_samples_of_the_flow():
    def draw_from_flow(trainer):
        trainer.method.training_samples = trainer.method.energy.sample

    def collapse(trainer):
        trainer.method.training_samples = lambda n: torch.zeros(n, 196)

    def draw_nothing(trainer):
        trainer.method.training_samples = lambda n: None

    assert abs(measure_flow(draw_from_flow)) < 0.01
    assert measure_flow(collapse) > 0.5
    assert measure_flow(draw_nothing) is None
    assert "training_sample_distance" not in measure_trial("vera").metrics


def test_the_best_evaluation_is_stored_if_there_were_several():
    measurement = measure_trial("ml", evaluate_every=2)
    assert measurement.metrics["best_test_log_likelihood"] < 0
    assert "best_test_log_likelihood" not in measure_trial("ml").metrics


def test_the_arrays_of_a_trial_in_the_plane():
    arrays = measure_trial("vera", energy="mlp").arrays
    assert {name: tuple(array.shape) for name, array in arrays.items()} == {
        "data_samples": (1_000, 2),
        "density_image": (100, 100),
        "training_samples": (1_000, 2),
    }


def test_the_variance_share_of_a_collapsed_generator_is_zero_despite_its_noise():
    """A generator whose means are a single point has no variance, however wide its noise."""
    spec = TrialSpec(
        {"name": "moons"}, {"energy": {"name": "mixture"}, "generator": GENERATOR}, {"name": "vera"}, 1, 50
    )
    task = build_task(spec)
    trainer = task.build(spec, progress=False)
    trainer.run()
    assert task.measure(trainer).metrics["generator_variance_share"] > 1e-4
    with torch.no_grad():
        trainer.method.generator.net.net[-1].weight.zero_()
        trainer.method.generator.log_sigma.fill_(math.log(0.3))
    assert task.measure(trainer).metrics["generator_variance_share"] == 0
    assert float(task.measure(trainer).arrays["training_samples"].var()) > 0.05


def test_a_small_test_set_is_used_completely():
    """A data set with fewer test points than wanted must not fail the trial."""
    few = torch.randn(40, 2)
    data = TensorData(torch.randn(100, 2), few)
    assert torch.equal(_draw_test_points(data, 0, 500), few)
    assert len(_draw_test_points(data, 0, 30)) == 30

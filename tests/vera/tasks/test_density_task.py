"""What a density trial measures: against the truth where it is known, with effective sample sizes where they
mean something."""

import math

import pytest
import torch

import vera
from vera.data import TensorData
from vera.evaluation import energy_distance
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_task
from vera.tasks.density import _test_points

GENERATOR = {"name": "mlp-generator"}


def measured(method, energy="mixture", dataset="moons", evaluate_every=None, **settings):
    networks = {"energy": {"name": energy}} | ({"generator": GENERATOR} if method.startswith("vera") else {})
    spec = TrialSpec(
        {"name": dataset}, networks, {"name": method, **settings}, 4, 50, evaluate_every=evaluate_every
    )
    task = build_task(spec)
    trainer = task.build(spec, progress=False)
    trainer.run()
    return task.measure(trainer)


def test_a_small_test_set_of_ones_own_is_shown_whole():
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


def test_the_energy_distance_of_two_points_is_known():
    """Points at 0 and 1 against a point mass at 0: E|X − Y| = ½, E|X − X'| = 1 between different points."""
    x, y = torch.tensor([[0.0], [1.0]]), torch.tensor([[0.0], [0.0]])
    assert energy_distance(x, y) == pytest.approx(2 * 0.5 - 1.0 - 0.0)


def test_the_energy_distance_of_shifted_normals_is_that_of_the_closed_form():
    """In one dimension, of N(0, 1) and N(m, 1): 2 (E|N(m, 2)| − E|N(0, 2)|)."""
    torch.manual_seed(0)
    x, y = torch.randn(3_000, 1), torch.randn(3_000, 1) + 1.0
    mean = 2 / math.sqrt(math.pi)  # E|N(0, 2)|
    shifted = mean * math.exp(-1 / 4) + math.erf(1 / 2)  # E|N(1, 2)|
    assert energy_distance(x, y) == pytest.approx(2 * (shifted - mean), abs=0.05)
    assert energy_distance(x, torch.randn(3_000, 1)) == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(("dataset", "ceiling"), [("moons", -2.394), ("circles", -3.268), ("rings", -2.623)])
def test_the_ceiling_is_the_true_densitys_own_likelihood(dataset, ceiling):
    assert measured("ml", dataset=dataset).metrics["ceiling"] == pytest.approx(ceiling, abs=0.01)


def test_samples_are_judged_by_the_true_density():
    metrics = measured("pcd").metrics
    assert metrics["sample_log_density"] < metrics["ceiling"], "four steps from a uniform start"
    assert metrics["sample_energy_distance"] > 0.01
    assert not {"sample_log_density", "sample_energy_distance"} & {*measured("ml").metrics}


def test_effective_sample_sizes_are_there_where_the_scale_was_trained():
    metrics = measured("vera").metrics
    assert 1 <= metrics["prior_ess"] <= 20
    assert 1 <= metrics["posterior_ess"] <= 20
    assert "posterior_ess" not in measured("vera", entropy_weight=0.0).metrics
    assert "posterior_ess" not in measured("vera-hmc").metrics


def test_the_best_evaluation_on_the_way_is_kept_where_there_were_several():
    measurement = measured("ml", evaluate_every=2)
    assert measurement.metrics["best_test_log_likelihood"] < 0
    assert "best_test_log_likelihood" not in measured("ml").metrics


def test_the_arrays_of_the_plane():
    arrays = measured("vera", energy="mlp").arrays
    assert {name: tuple(array.shape) for name, array in arrays.items()} == {
        "data_samples": (1_000, 2),
        "density_image": (100, 100),
        "training_samples": (1_000, 2),
    }


def test_noise_does_not_pass_for_variety():
    """A generator whose means are one point has none of the data's variance, however wide its noise."""
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


def test_a_small_test_set_is_taken_whole():
    """For variety some hundred test points are wanted; a data set of fewer must not cost the trial its
    row."""
    few = torch.randn(40, 2)
    data = TensorData(torch.randn(100, 2), few)
    assert torch.equal(_test_points(data, 0, 500), few)
    assert len(_test_points(data, 0, 30)) == 30

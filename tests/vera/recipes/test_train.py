"""`vera.train`: networks for every shape and method, units of the data, held-out points and errors."""

import numpy as np
import pandas as pd
import pytest
import torch
from facts import raises_with
from locations import ROOT
from recipe_helpers import CLASSES, IMAGES, POINTS, SHAPES, TABLE, train_briefly
from torch import nn
from torch.utils.data import TensorDataset
from trainer_helpers import Bowl

import vera
from vera.data import DigitsTable, Moons
from vera.errors import CheckpointError, IncompatibleModel, SettingError, UnknownName, VeraError
from vera.models import MLP, ConvEnergy, GaussianMixture, MLPClassifier, WideResNet
from vera.spec.registry import joint_methods, methods

IMPOSSIBLE = {("cp-sm", "line"), ("snl", "images")}
"""CP-SM needs two dimensions. The proposal of SNL, a fitted Gaussian, has next to no overlap with a model of
hundreds of dimensions, so training diverges."""
DENSITIES = [(name, shape) for name in methods for shape in SHAPES if (name, shape) not in IMPOSSIBLE]
JOINT = [(name, shape) for name in joint_methods for shape in SHAPES]


@pytest.mark.parametrize(("method", "shape"), DENSITIES)
def test_every_method_trains_a_density_on_every_shape(method, shape, tmp_path):
    x = SHAPES[shape]
    model = train_briefly(x, method=method, steps=2, batch_size=8, held_out=0.2)
    samples = model.sample(3, refine=0 if model.has_direct_samples else 2, seed=0)
    assert samples.shape == (3, *x.shape[1:])
    model.save(tmp_path / "m.safetensors")
    loaded = vera.load_model(tmp_path / "m.safetensors")
    assert np.array_equal(loaded.score(x), model.score(x))
    assert loaded.score(x).shape == (len(x),)


@pytest.mark.parametrize(("method", "shape"), JOINT)
def test_every_joint_method_trains_a_classifier_on_every_shape(method, shape):
    x = SHAPES[shape]
    settings = {"queue": 64} if method == "hdge" else {}
    model = train_briefly((x, CLASSES[: len(x)]), method=method, steps=2, batch_size=8, **settings)
    assert isinstance(model.energy, WideResNet if shape == "images" else MLPClassifier)
    assert set(model.predict(x)) <= {0, 1, 2}
    assert 0 <= model.metrics["test_accuracy"] <= 1


def test_scores_and_samples_are_in_the_units_of_the_data():
    x = np.random.default_rng(1).normal(size=(4_000, 2)) * [10.0, 0.1] + [500.0, -3.0]
    model = train_briefly(x, method="ml", steps=300, lr=0.02)
    samples = model.sample(4_000, seed=0).double()
    assert torch.allclose(samples.mean(0), torch.tensor([500.0, -3.0]).double(), atol=2.0)
    assert torch.allclose(samples.std(0), torch.tensor([10.0, 0.1]).double(), rtol=0.15)
    log_volume = float(model.tensors["data.width"].log().sum())
    assert np.allclose(model.log_likelihood(x), model.score(x) - log_volume)
    entropy = 0.5 * np.log((2 * np.pi * np.e) ** 2) + np.log(10.0) + np.log(0.1)
    assert abs(model.metrics["test_log_likelihood"] + entropy) < 0.15


def test_a_density_in_the_plane_is_better_than_an_untrained_one():
    x = Moons().test_points(0, 2_000)
    untrained, trained = (train_briefly(x, steps=steps).metrics for steps in (1, 1_200))
    assert trained["grid_log_likelihood"] > -4.0, "the true density has -2.4"
    assert trained["grid_log_likelihood"] > untrained["grid_log_likelihood"] + 1.5
    assert trained["sample_energy_distance"] < 0.3 < untrained["sample_energy_distance"]


@pytest.mark.parametrize("form", ["table", "images"])
def test_a_classifier_of_digits_learns(form):
    content = DigitsTable().read_table()
    x = content.x if form == "table" else content.x.reshape(-1, 1, 8, 8)
    model = train_briefly((x, content.labels), steps=200 if form == "table" else 80)
    assert model.metrics["test_accuracy"] > 0.8
    assert (model.predict(x) == content.labels).mean() > 0.8
    assert model.facts.data["class_names"] == [str(digit) for digit in range(10)]


@pytest.mark.parametrize(
    ("images", "low", "high"),
    [(IMAGES, 0, 255), (IMAGES / 255, 0, 1), (IMAGES / 127.5 - 1, -1, 1), (IMAGES * 10.0 - 50, -50, 2500)],
    ids=["bytes", "unit interval", "symmetric", "any"],
)
def test_images_are_sampled_in_the_range_of_the_data(images, low, high):
    model = train_briefly(images)
    assert isinstance(model.energy, ConvEnergy)
    samples, margin = model.sample(50, seed=0), 0.05 * (high - low)
    assert low - margin < samples.min() < samples.max() < high + margin
    assert abs(float(samples.mean()) - (low + high) / 2) < 0.2 * (high - low)


def test_a_perceptron_on_images_takes_them_flat_and_returns_images(tmp_path):
    for options in ({"energy": MLP(54)}, {"energy": {"name": "mlp", "hidden": [8]}}, {"method": "ml"}):
        model = train_briefly(IMAGES, **options)
        assert model.facts.shape == (54,)
        assert model.sample(2, seed=0).shape == (2, 1, 6, 9)
        assert model.score(IMAGES[:4]).shape == (4,)
    model.save(tmp_path / "m.safetensors")
    assert vera.load_model(tmp_path / "m.safetensors").sample(2).shape == (2, 1, 6, 9)
    with raises_with(SettingError, "(points, 1, 6, 9)", "(4, 54)"):
        model.score(IMAGES[:4].reshape(4, -1))


def test_frames_files_and_torch_data_sets_are_trained_on(tmp_path):
    frame = pd.DataFrame({"a": TABLE[:, 0], "b": TABLE[:, 1], "kind": np.where(CLASSES > 0, "x", "y")})
    frame.to_csv(tmp_path / "mine.csv", index=False)
    labelled = [
        train_briefly(frame, label="kind"),
        train_briefly(tmp_path / "mine.csv", label="kind"),
        train_briefly(vera.data.load(tmp_path / "mine.csv", label="kind")),
    ]
    for model in labelled:
        assert model.facts.data["class_names"] == ["x", "y"]
        assert model.facts.data["feature_names"] == ["a", "b"]
        assert model.sample(2, label="x", refine=0).shape == (2, 2)
    assert train_briefly(TensorDataset(torch.tensor(TABLE))).facts.shape == (5,)


def test_data_sets_of_vera_are_trained_on_as_they_are():
    assert train_briefly(Moons()).facts.data["name"] == "moons"
    assert train_briefly(DigitsTable(), energy={"name": "mlp-classifier", "hidden": [8]}).metrics["brier"] > 0
    with raises_with(SettingError, "label='kind'", "Moons"):
        train_briefly(Moons(), label="kind")


def test_own_modules_and_registered_names_are_networks():
    energy = Bowl()
    model = train_briefly(POINTS, energy=energy, method="dsm")
    assert isinstance(model.energy, Bowl)
    assert not torch.equal(energy.centre.detach(), torch.zeros(2)), "the module itself is trained"
    assert isinstance(train_briefly(POINTS, energy="mixture").energy, GaussianMixture)
    generator = {"name": "mlp-generator", "latent_dim": 3, "hidden": [8]}
    assert train_briefly(POINTS, generator=generator).generator.latent_dim == 3


@pytest.mark.parametrize(
    ("options", "error", "facts"),
    [
        ({"method": "vra"}, UnknownName, ["'vra'", "vera"]),
        ({"method": "jem"}, SettingError, ["'jem'", "needs labels", "label="]),
        ({"stepz": 3}, UnknownName, ["stepz", "steps"]),
        ({"entropy": 3}, UnknownName, ["entropy", "entropy_weight"]),
        ({"lr": -1.0}, SettingError, ["lr must", "-1.0"]),
        ({"energy": 3}, SettingError, ["energy", "int"]),
        ({"energy": "mlpp"}, UnknownName, ["mlpp", "mlp"]),
        ({"energy": nn.Linear(2, 1)}, IncompatibleModel, ["one number per point"]),
        ({"method": "pcd", "generator": "mlp-generator"}, SettingError, ["'pcd'", "'generator'"]),
        ({"generator": nn.Linear(2, 2)}, VeraError, ["vera.Generator(net)"]),
        ({"batch_size": 500}, SettingError, ["500", "108 points"]),
        ({"held_out": 1.0}, SettingError, ["held_out", "below 1"]),
        ({"steps": 0}, SettingError, ["steps"]),
        ({"label": "kind"}, SettingError, ["'kind'", "(x, y)"]),
    ],
)
def test_wrong_options_are_refused(options, error, facts):
    with raises_with(error, *facts):
        train_briefly(POINTS, **options)


def test_a_method_without_labels_is_refused_for_labelled_data():
    with raises_with(SettingError, "'dsm'", "does not use labels", "supervised"):
        train_briefly((POINTS, CLASSES), method="dsm")


def test_large_images_need_networks_of_ones_own():
    images = np.zeros((4, 1, 2, 130), dtype=np.uint8)
    with raises_with(SettingError, "2 × 130", "128", "energy="):
        train_briefly(images)
    assert train_briefly(images, method="dsm", energy=MLP(260)).facts.given_shape == (1, 2, 130)


def test_a_run_that_diverges_raises_and_names_the_step():
    with raises_with(VeraError, "diverged at step", "lr="):
        train_briefly(TABLE, method="pcd", noise=30.0, lr=100.0, steps=200)


def test_held_out_points_do_not_train_and_few_points_are_not_held_out():
    seen = []
    model = train_briefly(POINTS, steps=10, on_evaluate=lambda step, metrics: seen.append(step))
    assert seen == [2, 4, 6, 8, 10]
    assert "grid_log_likelihood" in model.metrics
    whole = train_briefly(POINTS, held_out=0)
    assert "grid_log_likelihood" not in whole.metrics
    assert np.allclose(whole.tensors["data.centre"], POINTS.mean(0))
    assert not np.allclose(model.tensors["data.centre"], POINTS.mean(0), rtol=1e-6)
    assert train_briefly(POINTS[:5]).metrics["loss"] is not None


def test_runs_are_reproducible_and_seeds_differ():
    a, b, c = (train_briefly(POINTS, seed=seed) for seed in (0, 0, 1))
    assert np.array_equal(a.score(POINTS), b.score(POINTS))
    assert not np.array_equal(a.score(POINTS), c.score(POINTS))


def test_a_checkpoint_is_continued(tmp_path):
    path, logged = tmp_path / "run.pt", []
    train_briefly(POINTS, checkpoint=path, steps=4)
    options = {"log_every": 1, "on_log": lambda step, metrics: logged.append(step)}
    longer = train_briefly(POINTS, checkpoint=path, steps=8, **options)
    assert logged == [5, 6, 7, 8]
    assert np.array_equal(longer.score(POINTS), train_briefly(POINTS, steps=8).score(POINTS))
    with raises_with(CheckpointError, "run.pt", "seed"):
        train_briefly(POINTS, checkpoint=path, steps=8, seed=1)


def test_the_ten_lines_of_the_documentation_work(tmp_path):
    x = vera.data.load(ROOT / "docs" / "examples" / "iris.csv", label="species")
    model = train_briefly(x, steps=30)
    assert model.score(x).shape == (150,)
    assert model.sample(7, refine=2).shape == (7, 4)
    assert set(model.predict(x)) <= {0, 1, 2}
    model.save(tmp_path / "mine.safetensors")
    assert np.array_equal(vera.load_model(tmp_path / "mine.safetensors").score(x), model.score(x))

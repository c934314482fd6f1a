"""What a saved model can do: score, predict, sample, refine, and its errors."""

import numpy as np
import pandas as pd
import pytest
import torch
from conformance import make_trainer, network_components
from facts import raises_with
from saved_helpers import make_points, train_model
from trainer_helpers import POINTS, Bowl

import vera
from vera.data.images.contract import ImageData
from vera.data.tables.contract import LabelledTable, TableContent
from vera.data.user_data import UserData
from vera.errors import IncompatibleModel, ModelFileError, SettingError, VeraError
from vera.methods import PCD
from vera.saved import SavedModel, load_model
from vera.spec.registry import joint_methods
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_method
from vera.training.trainer import Trainer


class TinyTable(LabelledTable):
    """Two columns of very different scales and two classes."""

    name, data_dim, classes, labels_per_class = "tiny", 2, 2, None
    class_names = ("low", "high")
    fingerprint = "tiny"

    def read_table(self):
        rng = np.random.default_rng(0)
        x = rng.normal(size=(60, 2)) * [1000, 0.01] + [5000, -3]
        return TableContent(x, (x[:, 0] > 5000).astype(np.int64))

    def split_rows(self, n, seed):
        return slice(0, 40), slice(40, n)


def make_table_model() -> tuple[Trainer, SavedModel]:
    data = TinyTable().split(0)
    components = network_components("vera", "all_labels")
    trainer = make_trainer("vera", "all_labels", data=data, steps=2)
    trainer.run()
    return trainer, SavedModel.from_trainer(trainer, networks=components)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.int64])
def test_tensors_give_tensors_of_their_dtype_without_a_gradient(dtype):
    model = train_model("vera", "leaky_mlp")[1]
    x = torch.ones(3, 2, dtype=dtype)
    if dtype.is_floating_point:
        x.requires_grad_(True)
    result = model.score(x)
    assert result.dtype == (dtype if dtype.is_floating_point else torch.float32)
    assert not result.requires_grad
    array = model.score(x.detach().numpy())
    assert isinstance(array, np.ndarray)
    assert np.array_equal(array, result.numpy())


def test_columns_of_frames_and_files_are_matched_by_name():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2)) * [1, 5], columns=["a", "b"])
    model = vera.train(frame, steps=1, progress=False)
    other = frame[["b", "a"]].assign(name="text")
    expected = model.score(frame.to_numpy())
    assert np.array_equal(model.score(other), expected)
    assert np.array_equal(model.score(UserData(frame[["b", "a"]].to_numpy(), None, ("b", "a"))), expected)
    with raises_with(SettingError, "'b'", "a, name"):
        model.score(other.drop(columns="b"))


def test_batches_do_not_change_scores_beyond_rounding():
    model, x = train_model("vera", "leaky_mlp")[1], make_points("leaky_mlp", 50)
    assert torch.allclose(model.score(x, batch_size=7), model.score(x), atol=1e-6)
    assert model.score(x[:0]).shape == (0,)
    assert model.score(x.tolist()).shape == (50,)
    for size in (0, -1, 2.5):
        with raises_with(SettingError, "batch_size", f"got {size}"):
            model.score(x, batch_size=size)


def test_arrays_of_any_byte_order_and_read_only_ones_are_accepted():
    model, x = train_model("vera", "leaky_mlp")[1], make_points("leaky_mlp", 4).numpy()
    frozen = x.copy()
    frozen.setflags(write=False)
    for array in (x.astype(">f4"), frozen, x[::-1][::-1]):
        assert np.array_equal(model.score(array), model.score(x))


def test_a_model_shows_what_it_is():
    assert repr(train_model("vera", "leaky_mlp")[1]) == "<SavedModel MLP trained by vera on tensor>"


@pytest.mark.parametrize(
    ("x", "facts"),
    [
        (torch.zeros(4, 3), ["(points, 2)", "(4, 3)"]),
        (np.zeros(2), ["(points, 2)", "(2,)"]),
        (torch.tensor(1.0), ["(points, 2)", "got ()"]),
        (torch.tensor([[0.0, 1.0], [float("nan"), 0.0]]), ["finite", "row 1"]),
        ("text", ["numbers", "str"]),
        (None, ["numbers", "NoneType"]),
        (np.zeros((2, 2), complex), ["real", "complex128"]),
        (torch.zeros(2, 2).to_sparse(), ["dense", "sparse"]),
    ],
    ids=["columns", "one point", "a number", "nan", "text", "none", "complex", "sparse"],
)
def test_wrong_points_are_refused(x, facts):
    with raises_with(SettingError, *facts):
        train_model("vera", "leaky_mlp")[1].score(x)


def test_a_table_is_scored_and_sampled_in_its_own_units(tmp_path):
    trainer, model = make_table_model()
    model.save(tmp_path / "m.safetensors")
    loaded, raw = load_model(tmp_path / "m.safetensors"), TinyTable().read_table().x
    assert np.array_equal(loaded.score(raw[40:]).astype(np.float32), model_scores(trainer))
    samples = loaded.sample(500, seed=0)
    assert torch.allclose(samples.mean(0), torch.tensor([5000.0, -3.0]), rtol=0.5)
    scaled = trainer.data.scale
    generated = ((samples.double() - scaled[0]) / scaled[1]).float()
    assert generated.abs().max() < 20


def model_scores(trainer: Trainer) -> np.ndarray:
    with torch.no_grad():
        return trainer.method.energy(trainer.data.held_out).numpy()


def test_a_likelihood_of_a_standardised_table_is_that_of_its_own_units():
    model = train_model("ml", "nice_2d")[1]
    x = make_points("nice_2d")
    plain = model.log_likelihood(x)
    assert torch.equal(plain, model.score(x))
    width = torch.tensor([10.0, 0.1], dtype=torch.float64)
    model.tensors |= {"data.centre": torch.ones(2, dtype=torch.float64), "data.width": width * 5}
    raw = x.double() * width * 5 + 1
    assert torch.allclose(model.log_likelihood(raw), plain.double() - (width * 5).log().sum(), atol=1e-4)


def test_a_model_without_a_normaliser_has_no_likelihood():
    with raises_with(IncompatibleModel, "MLP", "grid_log_likelihood"):
        train_model("vera", "leaky_mlp")[1].log_likelihood(POINTS)


def test_classifiers_predict_classes_and_probabilities():
    _, model = make_table_model()
    raw = TinyTable().read_table().x
    probabilities, labels = model.predict_proba(raw), model.predict(raw)
    assert probabilities.shape == (60, 2)
    assert np.allclose(probabilities.sum(1), 1)
    assert labels.dtype == np.int64
    assert np.array_equal(labels, probabilities.argmax(1))
    assert torch.equal(model.predict(torch.from_numpy(raw)), torch.from_numpy(labels))
    with raises_with(IncompatibleModel, "MLP"):
        train_model("vera", "leaky_mlp")[1].predict(POINTS)


def test_samples_of_a_class_are_those_that_the_classifier_assigns_to_it():
    _, model = make_table_model()
    with torch.no_grad():  # a boundary through the middle of the samples
        model.energy.net[-1].weight.copy_(torch.randn(2, 8) * 5)
        model.energy.net[-1].bias.zero_()
        scores = model.energy.logits(model.generator.sample(500, running_averages=True))
        model.energy.net[-1].bias[0] -= (scores[:, 0] - scores[:, 1]).median()
    for label, wanted in ((0, 0), (1, 1), ("low", 0), ("high", 1)):
        samples = model.sample(7, label=label, seed=1)
        assert set(model.predict(samples).tolist()) == {wanted}
        assert torch.equal(samples[:3], model.sample(3, label=label, seed=1))
    for label in (2, -1, "middle"):
        with raises_with(SettingError, f"class {label!r}", "low", "high"):
            model.sample(1, label=label)
    with raises_with(IncompatibleModel, "MLP"):
        train_model("vera", "leaky_mlp")[1].sample(1, label=0)


def test_a_class_without_samples_is_an_error_after_a_bounded_number_of_draws():
    _, model = make_table_model()
    with torch.no_grad():
        model.energy.net[-1].weight.zero_()
        model.energy.net[-1].bias.copy_(torch.tensor([5.0, -5.0]))
    with raises_with(VeraError, "class 1"):
        model.sample(3, label=1)
    assert len(model.sample(3, label=0)) == 3


def test_samples_do_not_depend_on_their_number_and_restore_the_random_state():
    model = train_model("vera", "leaky_mlp")[1]
    state = torch.get_rng_state()
    many = model.sample(2500, seed=3)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(many[:9], model.sample(9, seed=3))
    assert not torch.equal(many[:9], model.sample(9, seed=4))
    assert len(many.unique(dim=0)) == 2500
    assert not torch.equal(model.sample(9), model.sample(9))


@pytest.mark.parametrize(("method", "energy"), [("vera", "leaky_mlp"), ("pcd", "leaky_mlp")])
def test_refined_samples_are_reproducible_and_have_a_higher_f(method, energy):
    model = train_model(method, energy)[1]
    with torch.no_grad():
        model.energy.net[-1].weight.mul_(30)
    refined = model.sample(400, refine=20, seed=1)
    assert torch.equal(refined[:5], model.sample(5, refine=20, seed=1))
    start = model._sampler.mean + model._sampler.deviation * torch.randn(400, 2)
    if model.generator is not None:
        start = model.sample(400, seed=1)
    assert model.score(refined).mean() > model.score(start).mean()


def test_an_energy_without_a_generator_asks_for_refinement():
    with raises_with(SettingError, "MLP", "refine="):
        train_model("pcd", "leaky_mlp")[1].sample(4)


@pytest.mark.parametrize("settings", [{"n": 0}, {"n": 1.5}, {"n": 1, "refine": -1}, {"n": 1, "seed": -1}])
def test_settings_of_sample_are_checked(settings):
    with pytest.raises(SettingError):
        train_model("vera", "leaky_mlp")[1].sample(**settings)


def make_bowl_file(path) -> Trainer:
    trainer = Trainer(PCD(Bowl()), POINTS, steps=2, batch_size=5, progress=False)
    trainer.run()
    SavedModel.from_trainer(trainer).save(path)
    return trainer


def test_a_module_of_the_users_own_is_passed_when_loading(tmp_path):
    trainer, path = make_bowl_file(tmp_path / "m.safetensors"), tmp_path / "m.safetensors"
    with raises_with(ModelFileError, str(path), "energy=..."):
        load_model(path)
    bowl = Bowl()
    loaded = load_model(path, energy=bowl)
    assert loaded.energy is bowl
    assert torch.equal(bowl.centre, trainer.method.energy.centre)
    assert "energy=..." in loaded.card()
    assert loaded.spec is None


def test_a_module_that_does_not_fit_is_refused_and_unchanged(tmp_path):
    make_bowl_file(path := tmp_path / "m.safetensors")
    for wrong, fact in ((Bowl().double(), "float64"), (torch.nn.Linear(2, 1), "energy.weight")):
        before = {name: tensor.clone() for name, tensor in wrong.state_dict().items()}
        with raises_with(ModelFileError, str(path), fact):
            load_model(path, energy=wrong)
        assert all(torch.equal(tensor, before[name]) for name, tensor in wrong.state_dict().items())
    with raises_with(ModelFileError, "energy", "str"):
        load_model(path, energy="mlp")
    with raises_with(SettingError, "'generator'", "energy"):
        load_model(path, energy=Bowl(), generator=Bowl())


def test_state_that_is_not_a_tensor_cannot_be_saved(tmp_path):
    class Noted(Bowl):
        def get_extra_state(self):
            return {"note": "text"}

        def set_extra_state(self, state):
            pass

    trainer = Trainer(PCD(Noted()), POINTS, steps=1, batch_size=5, progress=False)
    with raises_with(IncompatibleModel, "energy", "dict"):
        SavedModel.from_trainer(trainer).save(tmp_path / "m.safetensors")
    assert list(tmp_path.iterdir()) == []


class TinyImages(ImageData):
    """Twenty random colour images of side 8 in three classes."""

    name, classes, side, fingerprint = "tiny-images", 3, 8, "tiny-images"

    def read_images(self):
        pixels = torch.randint(256, (20, 3, 8, 8), generator=torch.Generator().manual_seed(0))
        images = pixels.to(torch.uint8), torch.arange(20) % 3
        return images, images


IMAGE_NETWORKS = {
    "energy": {"name": "wrn", "depth": 10, "width": 1},
    "generator": {"name": "sngan-generator", "latent_dim": 4, "width": 4, "sigma": 0.2},
}


def make_image_model(**settings) -> tuple[Trainer, SavedModel]:
    data = TinyImages(None).split(0)
    spec = TrialSpec({"name": "cifar10"}, IMAGE_NETWORKS, {"name": "vera", **settings}, steps=2)
    trainer = Trainer(build_method(spec, data, joint_methods), data, steps=2, batch_size=4, progress=False)
    trainer.run()
    return trainer, SavedModel.from_trainer(trainer, networks=IMAGE_NETWORKS)


@pytest.mark.usefixtures("short_tuning")
@pytest.mark.parametrize("channels_last", [False, True])
def test_images_keep_their_shape(channels_last, tmp_path):
    trainer, model = make_image_model(channels_last=channels_last)
    model.save(tmp_path / "m.safetensors")
    loaded, x = load_model(tmp_path / "m.safetensors"), trainer.data.held_out
    assert loaded.facts.shape == (3, 8, 8)
    assert torch.equal(loaded.score(x), model.score(x))
    assert torch.equal(loaded.predict_proba(x), model.predict_proba(x))
    samples = loaded.sample(3, refine=2, seed=0)
    assert samples.shape == (3, 3, 8, 8)
    assert torch.equal(samples, model.sample(3, refine=2, seed=0))
    assert (tmp_path / "m.safetensors").stat().st_size < 1e6
    with raises_with(SettingError, "(points, 3, 8, 8)", "(20, 192)"):
        loaded.score(x.flatten(1))


def test_a_study_has_no_model_to_save():
    trainer = make_trainer("vera", "leaky_mlp")
    trainer.method.energy.forward = lambda x: x
    with raises_with(IncompatibleModel, "vera", "(2, 2)"):
        SavedModel.from_trainer(trainer)


def test_an_unknown_device_is_refused():
    with raises_with(SettingError, "nowhere"):
        train_model("vera", "leaky_mlp")[1].to("nowhere")


def test_averaged_weights_are_kept(tmp_path):
    trainer = make_trainer("vera", "leaky_mlp", steps=2, ema=0.5)
    trainer.run()
    components = network_components("vera", "leaky_mlp")
    SavedModel.from_trainer(trainer, networks=components).save(tmp_path / "m.safetensors")
    loaded = load_model(tmp_path / "m.safetensors")
    for role, network in trainer.average.networks.items():
        for name, tensor in network.state_dict().items():
            assert torch.equal(loaded.tensors[f"ema.{role}.{name}"], tensor)
    averaged, x = loaded.averaged(), torch.randn(5, 2)
    with torch.no_grad():
        torch.testing.assert_close(averaged.score(x), trainer.average.networks["energy"](x))
        torch.testing.assert_close(loaded.score(x), trainer.method.energy(x))
    assert not torch.equal(averaged.score(x), loaded.score(x))
    averaged.save(tmp_path / "averaged.safetensors")
    assert torch.equal(load_model(tmp_path / "averaged.safetensors").score(x), averaged.score(x))
    with raises_with(IncompatibleModel, "ema=0.999"):
        averaged.averaged()


def test_a_failed_write_is_one_error_and_keeps_the_old_file(tmp_path, monkeypatch):
    model, path = train_model("vera", "leaky_mlp")[1], tmp_path / "m.safetensors"
    model.save(path)
    before = path.read_bytes()

    def fail(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("vera.atomic_write.os.fsync", fail)
    with raises_with(ModelFileError, str(path), "No space left"):
        model.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]

"""Fine-tuning: a run that starts from the networks of a saved model."""

import numpy as np
import torch
from facts import raises_with
from recipe_helpers import CLASSES, IMAGES, POINTS, TABLE, train_briefly

import vera
from vera.data import Moons, TensorData
from vera.errors import IncompatibleModel, SettingError
from vera.methods import VERA
from vera.training.trainer import Trainer

FROZEN = {"lr": 1e-12, "generator_lr": 1e-12}


def test_a_run_starts_from_the_networks_and_the_scale_of_the_model(tmp_path):
    first = train_briefly(POINTS, steps=20)
    first.save(tmp_path / "m.safetensors")
    before = first.score(POINTS)
    again = train_briefly(POINTS * 2, start_from=vera.load_model(tmp_path / "m.safetensors"), **FROZEN)
    assert np.allclose(again.score(POINTS), before, atol=1e-5), "same networks and same scale"
    trained = train_briefly(POINTS * 2, start_from=first, steps=20)
    assert not np.allclose(trained.score(POINTS), before, atol=1e-3)
    assert np.array_equal(first.score(POINTS), before), "the model itself is not changed"
    trained.save(tmp_path / "n.safetensors")
    assert np.array_equal(vera.load_model(tmp_path / "n.safetensors").score(POINTS), trained.score(POINTS))


def test_the_method_is_that_of_the_model_unless_another_is_named():
    first = train_briefly(POINTS, method="dsm")
    assert train_briefly(POINTS, start_from=first).facts.method["name"] == "dsm"
    other = train_briefly(POINTS, start_from=first, method="vera")
    assert (other.facts.method["name"], other.generator is not None) == ("vera", True)
    back = train_briefly(POINTS, start_from=other, method="pcd")
    assert list(back.networks) == ["energy"]


def test_classes_keep_the_order_of_the_model():
    names = np.array(["a", "b", "c"])[CLASSES]
    first = train_briefly((POINTS, names))
    some = names != "b"
    again = train_briefly((POINTS[some], names[some]), start_from=first, lr=1e-12)
    assert again.facts.data["class_names"] == ["a", "b", "c"]
    assert np.allclose(again.predict_proba(POINTS), first.predict_proba(POINTS), atol=1e-5)
    with raises_with(SettingError, "'d'", "a, b, c"):
        train_briefly((POINTS, np.where(some, names, "d")), start_from=first)


def test_flat_images_start_from_flat_images():
    first = train_briefly(IMAGES, method="ml")
    again = train_briefly(IMAGES[:20], start_from=first, lr=1e-12)
    assert (again.facts.shape, again.facts.given_shape) == ((54,), (1, 6, 9))
    assert np.allclose(again.score(IMAGES), first.score(IMAGES), atol=1e-3)


def test_other_shapes_and_a_second_network_are_refused():
    first = train_briefly(POINTS)
    with raises_with(IncompatibleModel, "(2,)", "(5,)"):
        train_briefly(TABLE, start_from=first)
    with raises_with(IncompatibleModel, "(5,)", "(2,)"):
        train_briefly(Moons(), start_from=train_briefly(TABLE))
    with raises_with(SettingError, "start_from", "energy="):
        train_briefly(POINTS, start_from=first, energy="mlp")


def test_a_trainer_starts_from_copies_in_training_mode():
    first = train_briefly(POINTS)
    networks = first.copy_networks()
    assert all(module.training for network in networks.values() for module in network.modules())
    assert not any(network.training for network in first.networks.values())
    x = torch.randn(50, 2)
    before = first.energy(x)
    assert Trainer(VERA(**networks), TensorData(x), steps=3, batch_size=10).run().outcome == "ok"
    assert not torch.equal(networks["energy"](x), before)
    assert torch.equal(first.energy(x), before)

"""Fine-tuning: the networks of a saved model are trained again by a new Trainer, on other data."""

import pytest
import torch
from conformance import (
    MODELS,
    find_differences,
    get_outcome,
    get_state,
    make_dataset,
    network_components,
    pick_one_energy_each,
)
from conformance import make_points as make_training_points
from saved_helpers import make_points, train_model
from setting_values import small_settings

from vera.methods import DSM
from vera.saved import SavedModel, load_model
from vera.training.trainer import Trainer

every_method = pytest.mark.parametrize(("method", "energy"), pick_one_energy_each())


def tune(model: SavedModel, method: str, energy: str, **options) -> Trainer:
    """A Trainer of new points that starts from the networks of the model."""
    registry = MODELS[energy].registry
    built = registry.create(method, **model.copy_networks(), **small_settings(method, registry))
    points = make_dataset(energy, make_training_points(MODELS[energy].data_dim) + 1)
    return Trainer(built, points, **{"steps": 3, "batch_size": 16, "progress": False} | options)


@every_method
def test_a_loaded_model_is_trained_again_and_stays_as_it_was(method, energy, tmp_path):
    _, model = train_model(method, energy)
    model.save(tmp_path / "m.safetensors")
    loaded, x = load_model(tmp_path / "m.safetensors"), make_points(energy)
    before = loaded.score(x)
    trainer = tune(loaded, method, energy)
    for network in trainer.method.networks().values():
        assert all(module.training for module in network.modules())
        assert all(parameter.requires_grad for parameter in network.parameters())
    assert trainer.run().outcome == "ok"
    for role, network in trainer.method.networks().items():
        assert any(
            not torch.equal(tuned, old)
            for tuned, old in zip(network.parameters(), loaded.networks[role].parameters(), strict=True)
        ), role
    assert torch.equal(loaded.score(x), before)
    components = network_components(method, energy)
    tuned = SavedModel.from_trainer(trainer, networks=components)
    assert not torch.equal(tuned.score(x), before)


def test_the_live_and_the_loaded_model_are_tuned_bit_identically(tmp_path):
    _, model = train_model("vera", "leaky_mlp")
    model.save(tmp_path / "m.safetensors")
    runs = [tune(source, "vera", "leaky_mlp") for source in (model, load_model(tmp_path / "m.safetensors"))]
    for trainer in runs:
        trainer.run()
    assert find_differences(get_state(runs[0]), get_state(runs[1])) == []


def test_a_first_step_starts_from_the_saved_weights():
    """A learning rate of almost 0 leaves them as they are."""
    trainer, model = train_model("pcd", "leaky_mlp")
    tuned = Trainer(
        DSM(model.copy_networks()["energy"], lr=1e-30), make_training_points(2), steps=1, batch_size=16
    )
    tuned.run()
    assert find_differences(trainer.method.energy.state_dict(), tuned.method.energy.state_dict()) == []


def test_a_tuned_run_is_saved_and_resumed_like_any_other(tmp_path):
    _, model = train_model("vera", "leaky_mlp")
    straight, first, second = (tune(model, "vera", "leaky_mlp", steps=6) for _ in range(3))
    straight.run()
    first.run(until=2)
    first.save(tmp_path / "run.pt")
    second.restore(tmp_path / "run.pt")
    second.run()
    assert find_differences(get_outcome(straight), get_outcome(second)) == []


def test_the_networks_of_the_model_itself_can_be_trained():
    """Then the model follows the training; `copy_networks` avoids that."""
    _, model = train_model("vera", "leaky_mlp")
    x = make_points("leaky_mlp")
    before = model.score(x)
    trainer = Trainer(DSM(model.energy), make_training_points(2), steps=3, batch_size=16)
    trainer.run()
    assert not torch.equal(model.score(x), before)

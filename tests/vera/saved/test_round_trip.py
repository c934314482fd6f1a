"""Every method and every network is saved and loaded bit for bit."""

import pytest
import torch
from conformance import PAIRS, make_trainer, network_components
from saved_helpers import draw_live, make_points, score_live, train_model

import vera
from vera.saved import SavedModel, load_model
from vera.saved.model_file import encode_model
from vera.saved.rebuild import build_network
from vera.spec.registry import models
from vera.spec.resolve import resolve_component
from vera.spec.settings import settings_of

every_pair = pytest.mark.parametrize(("method", "energy"), PAIRS)
N, REFINE = 5, 3
NETWORKS = [name for name in models if models.get(name).__module__.startswith("vera.models.")]
SMALL = {
    "data_dim": 6,
    "latent_dim": 3,
    "classes": 4,
    "channels": 3,
    "side": 8,
    "depth": 10,
    "components": 3,
    "height": 6,
    "maps": 2,
}
SIZES = {"hidden": [8, 8], "width": 2, "hidden_layers": 2, "shortcut": "learned", "weight_normalised": True}


@every_pair
def test_a_loaded_model_agrees_with_the_live_networks(method, energy, tmp_path):
    trainer, model = train_model(method, energy)
    model.save(tmp_path / "model.safetensors")
    loaded, x = load_model(tmp_path / "model.safetensors"), make_points(energy)
    assert torch.equal(loaded.score(x), score_live(trainer, x))
    refine = 0 if loaded.has_direct_samples else REFINE
    samples = loaded.sample(N, refine=refine, seed=7)
    assert torch.equal(samples, model.sample(N, refine=refine, seed=7))
    expected = draw_live(trainer, N, 7)
    assert (expected is None) == (not loaded.has_direct_samples)
    assert expected is None or torch.equal(samples, expected)
    assert loaded.facts == model.facts
    log_eta = getattr(getattr(trainer.method, "entropy", None), "log_eta", None)
    assert (loaded.eta is None) == (log_eta is None)
    assert log_eta is None or torch.equal(loaded.eta, log_eta.detach().exp())
    for role, network in trainer.method.networks().items():
        state = loaded.networks[role].state_dict()
        assert all(torch.equal(state[name], tensor) for name, tensor in network.state_dict().items())


@pytest.mark.parametrize("name", NETWORKS)
def test_every_registered_network_is_rebuilt_with_its_weights(name):
    known = settings_of(models.get(name))
    settings = {key: value for key, value in {**SMALL, **SIZES}.items() if key in known}
    if name == "nice":
        settings["hidden"] = 8
    if "height" in known:
        settings |= {"height": 8, "width": 8}
    component = resolve_component(models, {"name": name, **settings})
    assert component.keys() == {"name", *known}
    network = models.create(name, **settings)
    with torch.no_grad():
        for tensor in network.state_dict().values():
            if tensor.is_floating_point():
                tensor.normal_().abs_()
    rebuilt = build_network("energy", component, network.state_dict())
    assert type(rebuilt) is type(network)
    assert encode_model(rebuilt.state_dict(), {}) == encode_model(network.state_dict(), {})


def test_a_model_in_double_precision_stays_in_it(tmp_path):
    trainer = make_trainer("vera", "leaky_mlp")
    components = network_components("vera", "leaky_mlp")
    for network in trainer.method.networks().values():
        network.double()
    model = SavedModel.from_trainer(trainer, networks=components)
    model.save(tmp_path / "m.safetensors")
    loaded, x = load_model(tmp_path / "m.safetensors"), torch.randn(4, 2, dtype=torch.float64)
    assert next(loaded.energy.parameters()).dtype == torch.float64
    assert torch.equal(loaded.score(x), model.score(x))


def test_a_model_is_a_copy_that_further_training_does_not_change():
    trainer, model = train_model("vera", "leaky_mlp")
    x = make_points("leaky_mlp")
    before = model.score(x)
    trainer.extend(3)
    assert torch.equal(model.score(x), before)
    assert not torch.equal(SavedModel.from_trainer(trainer).score(x), before)
    assert all(network.training for network in trainer.method.networks().values())


def test_a_spec_is_kept_with_all_defaults_and_without_paths(tmp_path):
    spec = {
        "dataset": {"name": "csv", "file": "t.csv", "label": "y"},
        "networks": {"energy": {"name": "mlp-classifier", "hidden": [4]}},
        "method": {"name": "supervised"},
        "task": "joint",
        "steps": 2,
        "batch_size": 4,
    }
    rows = "".join(f"{i},{i * i % 7},{'ab'[i % 2]}\n" for i in range(20))
    (tmp_path / "t.csv").write_text(f"u,v,y\n{rows}")
    from vera.tasks.build import build_task

    parsed = vera.TrialSpec.from_dict(spec)
    trainer = build_task(parsed).build(parsed, data_dir=tmp_path, progress=False)
    trainer.run()
    texts = {"trial_id": "0123456789abcdef", "label": "Classes", "commit": "c0ffee"}
    SavedModel.from_trainer(trainer, metrics={"accuracy": 0.5}, **texts).save(tmp_path / "m.safetensors")
    (tmp_path / "t.csv").unlink()
    loaded = load_model(tmp_path / "m.safetensors")
    assert loaded.spec.method["lr"] == trainer.method.lr
    assert loaded.spec.dataset["held_out"] == trainer.data.source.held_out
    assert loaded.facts.networks["energy"]["data_dim"] == 2
    assert loaded.facts.networks["energy"]["classes"] == 2
    assert loaded.metrics == {"accuracy": 0.5}
    assert loaded.facts.data["class_names"] == ["a", "b"]
    assert loaded.facts.data["feature_names"] == ["u", "v"]
    assert str(tmp_path).encode() not in (tmp_path / "m.safetensors").read_bytes()
    assert {"Classes", "c0ffee", "0123456789abcdef", "mlp-classifier"} <= set(
        loaded.card().replace("|", " ").replace("#", " ").split()
    )

"""Helpers for tests that hold for every method: small networks for its fields, other values for its settings.

No method is named here. Networks follow from the fields of a method, compatible energies from its `needs`,
values from its annotations. The energy model decides which registry is used and whether data have labels.
"""

from dataclasses import dataclass
from typing import Any, get_type_hints

import torch
from setting_values import BATCH, small_settings
from torch import Tensor, nn

from vera.data import TensorData
from vera.data.contract import DataSet, Stream
from vera.data.epochs import EpochStream
from vera.data.labelled import LabelledBatch, LabelledData, Split
from vera.methods import Method
from vera.models.generator import Generator
from vera.spec.registry import Registry, joint_methods, methods, models
from vera.spec.settings import settings_of
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_method
from vera.training.trainer import Trainer

SMALL = {"hidden": [8, 8], "sigma": 0.5, "sigma_max": 1.0}
"""Settings of the networks other than the energy; σ is large, so that samplers accept some proposals."""


@dataclass(frozen=True)
class EnergyCase:
    """A small energy model, the dimension of its data, and the needs of methods that it meets.

    Classifiers belong to another registry and are trained on data of which the share `labelled` has labels.
    """

    component: dict[str, Any]
    data_dim: int
    offers: frozenset[str]
    registry: Registry[Any] = methods
    labelled: float | None = None


ENERGIES = {
    "leaky_mlp": EnergyCase({"name": "mlp", "hidden": [8, 8]}, 2, frozenset()),
    "softplus_mlp": EnergyCase(
        {"name": "mlp", "hidden": [8, 8], "activation": "softplus"}, 2, frozenset({"hessian"})
    ),
    "mixture": EnergyCase({"name": "mixture", "components": 4}, 2, frozenset({"hessian", "density"})),
    "nice_2d": EnergyCase(
        {"name": "nice", "hidden": 8, "hidden_layers": 2}, 2, frozenset({"hessian", "density", "curvature"})
    ),
    "nice_6d": EnergyCase(
        {"name": "nice", "hidden": 8, "hidden_layers": 2}, 6, frozenset({"hessian", "density", "curvature"})
    ),
}
CLASSIFIERS = {
    "few_labels": EnergyCase(
        {"name": "mlp-classifier", "hidden": [8, 8]}, 2, frozenset(), joint_methods, labelled=0.8
    ),
    "all_labels": EnergyCase(
        {"name": "mlp-classifier", "hidden": [8, 8], "activation": "softplus"},
        2,
        frozenset({"hessian"}),
        joint_methods,
        labelled=1.0,
    ),
}
MODELS = ENERGIES | CLASSIFIERS


def is_supported(method: str, energy: str) -> bool:
    return set(MODELS[energy].registry.get(method).needs) <= MODELS[energy].offers


COMBINATIONS = [(method, energy) for energy, model in MODELS.items() for method in model.registry]
PAIRS = [pair for pair in COMBINATIONS if is_supported(*pair)]
IMPOSSIBLE = [pair for pair in COMBINATIONS if not is_supported(*pair)]


def pick_one_energy_each() -> list[tuple[str, str]]:
    """Return every method of every registry once, with the first energy model that it supports."""
    first: dict[tuple[int, str], tuple[str, str]] = {}
    for method, energy in PAIRS:
        first.setdefault((id(MODELS[energy].registry), method), (method, energy))
    return list(first.values())


class Alternating(LabelledData):
    """Given points with two alternating classes, which no boundary separates; a first share has labels."""

    name, classes = "alternating", 2

    def __init__(self, x: Tensor, share: float) -> None:
        self.x, self.share, self.data_dim = x, share, x.shape[1]

    @property
    def fingerprint(self) -> str:
        return TensorData(self.x).fingerprint

    def split(self, seed: int) -> Split:
        labels = torch.arange(len(self.x)) % 2
        shown = None if self.share == 1 else torch.arange(round(self.share * len(self.x)))
        return Split(self, (self.x, labels), (self.x[:8], labels[:8]), shown)


def make_points(data_dim: int, n: int = 40) -> Tensor:
    return torch.randn(n, data_dim, generator=torch.Generator().manual_seed(data_dim)) * 0.8 + 0.3


def make_dataset(energy: str, x: Tensor | None = None) -> DataSet:
    """Return the points as a data set for the methods of this energy model."""
    model = MODELS[energy]
    x = make_points(model.data_dim) if x is None else x
    return TensorData(x) if model.labelled is None else Alternating(x, model.labelled).split(0)


def make_batch(energy: str) -> Tensor | LabelledBatch:
    return make_dataset(energy).stream(BATCH, 0).next_batch()


def network_components(method: str, energy: str) -> dict[str, dict[str, Any]]:
    """Return the spec component of a small network for each network field of the method.

    A field annotated as Generator gets an mlp-generator, any other the registered model of its name.
    """
    cls = MODELS[energy].registry.get(method)
    hints = get_type_hints(cls)
    components = {}
    for role in cls.network_names():
        name = "mlp-generator" if issubclass(hints[role], Generator) else role
        components[role] = MODELS[energy].component if role == "energy" else {"name": name}
        if role != "energy":
            known = settings_of(models.get(name))
            components[role] |= {key: value for key, value in SMALL.items() if key in known}
    return components


def make_method(
    method: str, energy: str, seed: int = 0, data: DataSet | None = None, **settings: Any
) -> Method:
    registry = MODELS[energy].registry
    settings = small_settings(method, registry) | settings
    spec = TrialSpec(
        {"name": "moons"},
        network_components(method, energy),
        {"name": method, **settings},
        steps=1,
        seed=seed,
    )
    return build_method(spec, make_dataset(energy) if data is None else data, registry)


def make_trainer(
    method: str,
    energy: str,
    *,
    data: DataSet | Tensor | None = None,
    seed: int = 0,
    settings: dict[str, Any] | None = None,
    **options: Any,
) -> Trainer:
    options = {"steps": 6, "log_every": 4, "batch_size": BATCH, "progress": False} | options
    make_points = data if isinstance(data, DataSet) else make_dataset(energy, data)
    return Trainer(make_method(method, energy, seed, **(settings or {})), make_points, seed=seed, **options)


@torch.no_grad()
def probe(method: Method) -> dict[str, float]:
    """An `evaluate` function that draws random numbers."""
    return {"probe": float(method.energy(torch.randn(8, method.energy.data_dim)).mean())}


def get_state(trainer: Trainer) -> dict[str, Any]:
    """Return the whole state of a run except the wall-clock time."""
    return {name: value for name, value in trainer.state_dict().items() if name != "seconds"}


def get_outcome(trainer: Trainer) -> dict[str, Any]:
    """Return weights and metrics, without the settings that the state of an optimiser repeats."""
    weights = {role: network.state_dict() for role, network in trainer.method.networks().items()}
    return {"weights": weights, "history": trainer.history}


def find_differences(a: Any, b: Any, path: str = "") -> list[str]:
    """Return the paths at which two nested states are not bitwise equal."""
    if type(a) is not type(b):
        return [f"{path}: {type(a).__name__} and {type(b).__name__}"]
    if isinstance(a, Tensor):
        equal = (
            a.dtype == b.dtype
            and a.shape == b.shape
            and a.numpy(force=True).tobytes() == b.numpy(force=True).tobytes()
        )
        return [] if equal else [path]
    if isinstance(a, dict):
        if list(a) != list(b):
            return [f"{path}: {list(a)} and {list(b)}"]
        return [found for key in a for found in find_differences(a[key], b[key], f"{path}/{key}")]
    if isinstance(a, list | tuple):
        if len(a) != len(b):
            return [f"{path}: {len(a)} and {len(b)} entries"]
        return [
            found
            for i, (one, other) in enumerate(zip(a, b, strict=True))
            for found in find_differences(one, other, f"{path}/{i}")
        ]
    return [] if a == b else [f"{path}: {a} and {b}"]


def find_epoch_streams(stream: Stream) -> list[EpochStream]:
    """Return the epoch streams of which the stream consists, possibly the stream itself."""
    found = [held for held in (stream, *vars(stream).values()) if isinstance(held, EpochStream)]
    assert found, "the stream has no epochs, so the position of the interruption is unknown"
    return found


def check_resume(method: str, energy: str, folder: Any, **settings: Any) -> None:
    """Check that N steps, a checkpoint, a rebuilt trainer and N more steps equal 2N steps bit for bit.

    N is inside an epoch and inside a logging block.
    """
    options = {"steps": 14, "log_every": 4, "evaluate": probe, "evaluate_every": 3, "settings": settings}
    straight = make_trainer(method, energy, **options)
    straight.run()
    first = make_trainer(method, energy, **options)
    first.run(until=7)
    assert all(0 < epochs.cursor <= len(epochs.rows) - BATCH for epochs in find_epoch_streams(first.stream))
    first.save(folder / "run.pt")
    with torch.random.fork_rng():
        torch.manual_seed(1234)
        second = make_trainer(method, energy, **options)
        second.restore(folder / "run.pt")
        assert second.step == 7
        second.run()
        first.run()
    assert straight.result.outcome == "ok"
    assert [row["step"] for row in straight.history] == [4, 8, 12, 14]
    assert [row["step"] for row in straight.evaluations] == [3, 6, 9, 12, 14]
    assert find_differences(get_state(straight), get_state(second)) == []
    assert find_differences(get_state(straight), get_state(first)) == []


def find_optimisers(method: Method, weights: list[nn.Parameter]) -> list[torch.optim.Optimizer]:
    """Return the optimisers among a method's attributes that update any of these weights."""
    wanted = {id(weight) for weight in weights}
    held = [value for value in vars(method).values() if isinstance(value, torch.optim.Optimizer)]
    return [o for o in held if wanted & {id(p) for group in o.param_groups for p in group["params"]}]

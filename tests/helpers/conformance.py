"""What holds for every method, whoever wrote it: small networks for each of its roles, other values for each
of its settings.

Nothing here names a method. Networks come from a method's fields, rules from its `needs`, values from its
annotations. Which registry a method's name is looked up in, and whether its data have labels, follows from
the energy model it is paired with.
"""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
import torch
from torch import Tensor, nn

from vera.data import TensorData
from vera.data.contract import DataSet, Stream
from vera.data.epochs import EpochStream
from vera.data.labelled import LabelledBatch, LabelledData, Split
from vera.errors import VeraError
from vera.joint.forward_passes import EXECUTION_SETTINGS
from vera.methods import Method
from vera.models.generator import Generator
from vera.spec.registry import Registry, joint_methods, methods, models
from vera.spec.settings import Bound, settings_of
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_method
from vera.training.trainer import Trainer

BATCH = 16
SMALL = {"hidden": [8, 8], "sigma": 0.5, "sigma_max": 1.0}
"""Settings of the networks beside the energy; σ is wide, so that a sampler's proposals are sometimes
accepted."""


@dataclass(frozen=True)
class Energy:
    """A small energy model, its data's dimension, and what it offers of what a method may need.

    A classifier is trained by the methods of another registry, on points of which the given share shows its
    label.
    """

    part: dict[str, Any]
    data_dim: int
    offers: frozenset[str]
    registry: Registry[Any] = methods
    labelled: float | None = None


ENERGIES = {
    "leaky_mlp": Energy({"name": "mlp", "hidden": [8, 8]}, 2, frozenset()),
    "softplus_mlp": Energy(
        {"name": "mlp", "hidden": [8, 8], "activation": "softplus"}, 2, frozenset({"hessian"})
    ),
    "mixture": Energy({"name": "mixture", "components": 4}, 2, frozenset({"hessian", "density"})),
    "nice_2d": Energy(
        {"name": "nice", "hidden": 8, "hidden_layers": 2}, 2, frozenset({"hessian", "density", "curvature"})
    ),
    "nice_6d": Energy(
        {"name": "nice", "hidden": 8, "hidden_layers": 2}, 6, frozenset({"hessian", "density", "curvature"})
    ),
}
CLASSIFIERS = {
    "few_labels": Energy(
        {"name": "mlp-classifier", "hidden": [8, 8]}, 2, frozenset(), joint_methods, labelled=0.8
    ),
    "all_labels": Energy(
        {"name": "mlp-classifier", "hidden": [8, 8], "activation": "softplus"},
        2,
        frozenset({"hessian"}),
        joint_methods,
        labelled=1.0,
    ),
}
MODELS = ENERGIES | CLASSIFIERS


def supports(method: str, energy: str) -> bool:
    return set(MODELS[energy].registry.get(method).needs) <= MODELS[energy].offers


COMBINATIONS = [(method, energy) for energy, model in MODELS.items() for method in model.registry]
PAIRS = [pair for pair in COMBINATIONS if supports(*pair)]
IMPOSSIBLE = [pair for pair in COMBINATIONS if not supports(*pair)]


def one_each() -> list[tuple[str, str]]:
    """Every method of every registry once, with the first energy model that it supports."""
    first: dict[tuple[int, str], tuple[str, str]] = {}
    for method, energy in PAIRS:
        first.setdefault((id(MODELS[energy].registry), method), (method, energy))
    return list(first.values())


class Alternating(LabelledData):
    """Given points whose two classes take turns, so that no boundary fits them; the first of them show their
    labels, or all."""

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


def points(data_dim: int, n: int = 40) -> Tensor:
    return torch.randn(n, data_dim, generator=torch.Generator().manual_seed(data_dim)) * 0.8 + 0.3


def dataset(energy: str, x: Tensor | None = None) -> DataSet:
    """The points as the methods of this energy model take them."""
    model = MODELS[energy]
    x = points(model.data_dim) if x is None else x
    return TensorData(x) if model.labelled is None else Alternating(x, model.labelled).split(0)


def example(energy: str) -> Tensor | LabelledBatch:
    return dataset(energy).stream(BATCH, 0).next_batch()


def parts_for(method: str, energy: str) -> dict[str, dict[str, Any]]:
    """A small network for each role: a generator where the field says so, else the registered model of the
    role's name."""
    cls = MODELS[energy].registry.get(method)
    hints = get_type_hints(cls)
    parts = {}
    for role in cls.network_names():
        name = "mlp-generator" if issubclass(hints[role], Generator) else role
        parts[role] = MODELS[energy].part if role == "energy" else {"name": name}
        if role != "energy":
            parts[role] |= {
                key: value for key, value in SMALL.items() if key in settings_of(models.get(name))
            }
    return parts


def small_settings(method: str, registry: Registry[Any] = methods) -> dict[str, Any]:
    """The defaults, with every count cut to the batch size at most, and what is off by default switched on.

    Off is a weight of 0, or an empty list of steps.
    """
    small: dict[str, Any] = {}
    for name, setting in settings_of(registry.get(method)).items():
        if setting.default == ():
            small[name] = (3,)
        if isinstance(setting.default, int) and setting.default > BATCH:
            small[name] = BATCH
        if isinstance(setting.default, float) and setting.default == 0:
            small[name] = 0.1
    return small


def make_method(method: str, energy: str, seed: int = 0, **settings: Any) -> Method:
    registry = MODELS[energy].registry
    settings = small_settings(method, registry) | settings
    spec = TrialSpec(
        {"name": "moons"}, parts_for(method, energy), {"name": method, **settings}, steps=1, seed=seed
    )
    return build_method(spec, dataset(energy), registry)


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
    points = data if isinstance(data, DataSet) else dataset(energy, data)
    return Trainer(make_method(method, energy, seed, **(settings or {})), points, seed=seed, **options)


@torch.no_grad()
def probe(method: Method) -> dict[str, float]:
    """An evaluation that draws random numbers."""
    return {"probe": float(method.energy(torch.randn(8, method.energy.data_dim)).mean())}


def numbers(trainer: Trainer) -> dict[str, Any]:
    """Everything a run produced and would go on from; only the wall-clock time is left out."""
    return {name: part for name, part in trainer.state_dict().items() if name != "seconds"}


def visible(trainer: Trainer) -> dict[str, Any]:
    """What training did: weights and metrics. The settings, which an optimiser's state repeats, are not part
    of it."""
    weights = {role: network.state_dict() for role, network in trainer.method.networks().items()}
    return {"weights": weights, "history": trainer.history}


def differences(a: Any, b: Any, path: str = "") -> list[str]:
    """Where two nested states are not bitwise equal."""
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
        return [found for key in a for found in differences(a[key], b[key], f"{path}/{key}")]
    if isinstance(a, list | tuple):
        if len(a) != len(b):
            return [f"{path}: {len(a)} and {len(b)} entries"]
        return [
            found
            for i, (one, other) in enumerate(zip(a, b, strict=True))
            for found in differences(one, other, f"{path}/{i}")
        ]
    return [] if a == b else [f"{path}: {a} and {b}"]


def epochs_of(stream: Stream) -> list[EpochStream]:
    """The stream itself, or those that it is made of."""
    parts = [part for part in (stream, *vars(stream).values()) if isinstance(part, EpochStream)]
    assert parts, "a stream without epochs: nothing would say where in its data a run was interrupted"
    return parts


def check_resume(method: str, energy: str, folder: Any, **settings: Any) -> None:
    """2N steps are N steps, a checkpoint, everything built afresh, and N more; N lies inside an epoch and
    inside a block."""
    options = {"steps": 14, "log_every": 4, "evaluate": probe, "evaluate_every": 3, "settings": settings}
    straight = make_trainer(method, energy, **options)
    straight.run()
    first = make_trainer(method, energy, **options)
    first.run(until=7)
    assert all(0 < epochs.cursor <= len(epochs.rows) - BATCH for epochs in epochs_of(first.stream))
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
    assert differences(numbers(straight), numbers(second)) == []
    assert differences(numbers(straight), numbers(first)) == []


def setting_names(method: str, registry: Registry[Any] = methods) -> list[str]:
    cls = registry.get(method)
    return [
        field.name
        for field in dataclasses.fields(cls)
        if field.name not in (*cls.network_names(), *EXECUTION_SETTINGS)
    ]


def other_values(annotation: Any, value: Any) -> list[Any]:
    """Valid values that differ from the given one, read off the annotation: every choice, each entry of a
    tuple, one number."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        bounds = [note for note in arguments[1:] if isinstance(note, Bound)]
        return [
            other
            for other in other_values(arguments[0], value)
            if all(bound.admits(other) for bound in bounds)
        ]
    if origin is Literal:
        return [choice for choice in arguments if choice != value]
    if origin is Union or isinstance(annotation, type(int | None)):
        return [
            other for member in arguments if member is not type(None) for other in other_values(member, value)
        ]
    if origin is tuple:
        arguments = (arguments[0],) * len(value) if Ellipsis in arguments else arguments
        changes = [(i, other_values(member, value[i])[0]) for i, member in enumerate(arguments)]
        return [(*value[:i], other, *value[i + 1 :]) for i, other in changes]
    candidates = {
        bool: [not value],
        int: [(value or 0) + 2, (value or 0) - 1],
        float: [2 * (value or 0.0), (value or 0.0) / 2, 0.5, 0.25],
    }
    return [other for other in candidates[annotation] if other != value]


def other_settings(method: str, registry: Registry[Any] = methods) -> Iterator[tuple[str, Any]]:
    """(setting, another valid value): all choices of a Literal, all entries of a tuple, else the first number
    that is allowed."""
    known, small = settings_of(registry.get(method)), small_settings(method, registry)
    for name in setting_names(method, registry):
        others = other_values(known[name].annotation, small.get(name, known[name].default))
        numeric = others and isinstance(others[0], int | float)
        yield from ((name, other) for other in (others[:1] if numeric else others))


def optimisers_of(method: Method, weights: list[nn.Parameter]) -> list[torch.optim.Optimizer]:
    """The optimisers among a method's attributes that move any of these weights."""
    wanted = {id(weight) for weight in weights}
    held = [part for part in vars(method).values() if isinstance(part, torch.optim.Optimizer)]
    return [o for o in held if wanted & {id(p) for group in o.param_groups for p in group["params"]}]


@contextmanager
def expect_refusal(*parts: str, kind: type[VeraError] = VeraError) -> Iterator[None]:
    """The block must raise an error of the user's kind: one line that holds all these parts."""
    with pytest.raises(kind) as caught:
        yield
    text = str(caught.value)
    assert "\n" not in text
    missing = [part for part in parts if part not in text]
    assert not missing, f"{missing} not in: {text}"

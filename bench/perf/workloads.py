"""The paper's four kinds of training step as plain data, and how a method is set up on one of them.

A method's settings are its own defaults but for what the paper says of that shape. The data are synthetic
where the real ones would have to be fetched: a step's time depends on the shapes alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import torch

from vera.data.contract import DataSet
from vera.data.tensor import TensorData
from vera.methods.contract import Batch, Method
from vera.spec.registry import datasets, methods
from vera.spec.trial_spec import Component, TrialSpec
from vera.tasks.build import build_method

BATCHES = 8


@dataclass(frozen=True)
class Shape:
    """Data, networks by role, batch size, and the settings in which a method differs from its defaults."""

    title: str
    dataset: Callable[[], DataSet]
    networks: Mapping[str, Component]
    batch_size: int
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Workload:
    """A method that is ready to step, and the prepared batches it steps on."""

    method: Method
    batches: list[Batch]

    def stepper(self) -> Callable[[], None]:
        """One call is one training step on the next batch; making the batch is not part of it."""
        batches = cycle(self.batches)

        def step() -> None:
            self.method.step(next(batches))

        return step


def _points(data_dim: int) -> Callable[[], DataSet]:
    return lambda: TensorData(torch.randn(1024, data_dim), name="synthetic")


STATISTICS: Component = {"name": "statistics", "hidden": (500, 500, 500)}
TOY_GENERATOR: Component = {"name": "mlp-generator"}
TABULAR_ENERGY: Component = {"name": "mlp", "hidden": (1000, 500, 500, 250, 250, 250)}
TABULAR_GENERATOR: Component = {
    "name": "mlp-generator",
    "latent_dim": 128,
    "hidden": (500, 500, 500),
    "activation": "softplus",
}

SHAPES: dict[str, Shape] = {
    "toy": Shape(
        "MLP 2-100-100-1 on moons, batch 200",
        lambda: datasets.create("moons"),
        {"energy": {"name": "mlp"}, "generator": TOY_GENERATOR, "statistics": STATISTICS},
        batch_size=200,
    ),
    "mixture": Shape(
        "100 diagonal Gaussians on moons, batch 200",
        lambda: datasets.create("moons"),
        {"energy": {"name": "mixture"}, "generator": TOY_GENERATOR, "statistics": STATISTICS},
        batch_size=200,
    ),
    "nice": Shape(
        "NICE flow of 784 dimensions, batch 128",
        _points(784),
        {"energy": {"name": "nice"}, "generator": {"name": "nice-generator"}, "statistics": STATISTICS},
        batch_size=128,
        settings={"pcd": {"sampler_steps": 40}},
    ),
    "tabular": Shape(
        "tabular MLP of 523 features (HUMAN), batch 64",
        _points(523),
        {"energy": TABULAR_ENERGY, "generator": TABULAR_GENERATOR, "statistics": STATISTICS},
        batch_size=64,
    ),
}


def prepare(shape: Shape, method_name: str, seed: int = 0) -> Workload:
    """The method on this shape, begun as the Trainer begins it; raises a VeraError where the two do not go
    together."""
    dataset = shape.dataset()
    roles = methods.get(method_name).network_names()
    spec = TrialSpec(
        dataset={"name": dataset.name},
        networks={role: part for role, part in shape.networks.items() if role in roles},
        method={"name": method_name, **shape.settings.get(method_name, {})},
        steps=1,
        batch_size=shape.batch_size,
        seed=seed,
    )
    method = build_method(spec, dataset)
    stream = dataset.stream(shape.batch_size, seed)
    batches = [stream.next_batch() for _ in range(BATCHES)]
    method.begin(batches[0])
    return Workload(method, batches)

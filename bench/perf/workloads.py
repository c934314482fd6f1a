"""A method set up on a shape, ready to step. Settings are the defaults, except where the paper says
otherwise."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle

import torch

from bench.perf.shapes import StepShape
from vera.data.contract import DataSet
from vera.data.tensor import TensorData
from vera.methods.contract import Batch, Method
from vera.spec.registry import datasets, methods
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_method

BATCHES = 8
POINTS = 1024
"""Synthetic points."""


@dataclass(frozen=True)
class Workload:
    """A method that is ready to step, and its batches."""

    method: Method
    batches: list[Batch]

    def make_stepper(self) -> Callable[[], None]:
        """A function that makes one training step on the next batch; the batches are prepared beforehand."""
        batches = cycle(self.batches)

        def step() -> None:
            self.method.step(next(batches))

        return step


def prepare(shape: StepShape, method_name: str, seed: int = 0) -> Workload:
    """The method on this shape, started as the Trainer starts it; VeraError if the two are incompatible."""
    dataset = _build_dataset(shape)
    roles = methods.get(method_name).network_names()
    spec = TrialSpec(
        dataset={"name": dataset.name},
        networks={role: component for role, component in shape.networks.items() if role in roles},
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


def _build_dataset(shape: StepShape) -> DataSet:
    if isinstance(shape.dataset, int):
        return TensorData(torch.randn(POINTS, shape.dataset), name="synthetic")
    dataset: DataSet = datasets.create(**shape.dataset)
    return dataset

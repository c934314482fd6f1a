"""A method set up on a shape, ready to step. Settings are the defaults, except where the paper says
otherwise. Images are random: the cost of a step depends on shapes alone."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle

import torch

from bench.perf.shapes import ImageShape, StepShape
from vera.data.contract import DataSet, Stream
from vera.data.labelled import LabelledData, Split
from vera.data.tensor import TensorData
from vera.methods.contract import Batch, Method
from vera.spec.registry import datasets, joint_methods, methods
from vera.spec.trial_spec import Component, TrialSpec
from vera.tasks.build import build_method
from vera.tasks.studies.step_time import JEM_SETTINGS

BATCHES = 8
POINTS = 1024
"""Synthetic points."""
CLASSES = 10
IMAGE_SETTINGS: dict[str, Component] = {"vera": {"entropy_weight": 1e-4}, "jem": JEM_SETTINGS}


@dataclass(frozen=True)
class Workload:
    """A method that is ready to step, and its batches."""

    method: Method
    batches: list[Batch]

    @classmethod
    def start(cls, method: Method, stream: Stream) -> "Workload":
        """Start the method on the first batch, as the Trainer does."""
        batches = [stream.next_batch() for _ in range(BATCHES)]
        method.begin(batches[0])
        return cls(method, batches)

    def make_stepper(self) -> Callable[[], None]:
        """A function that makes one training step on the next batch; the batches are prepared beforehand."""
        batches = cycle(self.batches)

        def step() -> None:
            self.method.step(next(batches))

        return step


class RandomImages(LabelledData):
    """`n` random images, all labelled."""

    name, classes, channels, fingerprint = "random images", CLASSES, 3, ""

    def __init__(self, n: int, side: int) -> None:
        self.shape, self.side, self.data_dim = (n, 3, side, side), side, 3 * side**2

    def split(self, seed: int) -> Split:
        x = torch.rand(self.shape, generator=torch.Generator().manual_seed(seed)) * 2 - 1
        labels = torch.arange(len(x)) % CLASSES
        return Split(self, (x, labels), (x[:1], labels[:1]), None)


def prepare(shape: StepShape, method_name: str) -> Workload:
    """The method on this shape; VeraError if the two are incompatible."""
    dataset: DataSet = (
        TensorData(torch.randn(POINTS, shape.dataset), name="synthetic")
        if isinstance(shape.dataset, int)
        else datasets.create(**shape.dataset)
    )
    roles = methods.get(method_name).network_names()
    spec = TrialSpec(
        dataset={"name": dataset.name},
        networks={role: component for role, component in shape.networks.items() if role in roles},
        method={"name": method_name, **shape.settings.get(method_name, {})},
        steps=1,
        batch_size=shape.batch_size,
    )
    return Workload.start(build_method(spec, dataset), dataset.stream(shape.batch_size, spec.seed))


def prepare_images(shape: ImageShape, method_name: str) -> Workload:
    """A joint method on this shape."""
    data = RandomImages(BATCHES * shape.batch_size, shape.side).split(seed=0)
    spec = TrialSpec(
        dataset={"name": data.name},
        networks=shape.select_networks(method_name),
        method={"name": method_name, **IMAGE_SETTINGS[method_name]},
        steps=1,
        batch_size=shape.batch_size,
        task="joint",
    )
    method = build_method(spec, data, joint_methods)
    return Workload.start(method, data.stream(shape.batch_size, spec.seed))

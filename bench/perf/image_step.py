"""VERA and JEM on images: the time of a step of each on one kind of classifier, and what VERA's step holds in
memory.

The paper's networks are for a GPU. On a CPU the time is taken on a classifier of a fifth of their width, with
a generator of about a fifth too, so that the two cost each other what they do in the paper; memory is taken
at full width and a small batch. Images are random: a step's cost depends on the shapes alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch

from bench.paper.values import paper_value
from bench.perf.matrix_products import flops, record
from bench.perf.memory import BlockMemory, entropy_memory, step_memory
from bench.perf.step_report import MemoryRow, RivalRow
from bench.perf.timing import compare
from bench.perf.workloads import BATCHES, Workload
from vera.data.labelled import LabelledData, Split
from vera.spec.registry import joint_methods
from vera.spec.trial_spec import Component, TrialSpec
from vera.tasks.build import build_method
from vera.tasks.studies.step_time import JEM_SETTINGS
from vera.training.random_state import use_seed

CLASSES, SIDE = 10, 32


@dataclass(frozen=True)
class ImageShape:
    """Networks and batch size; `timed` where a step is short enough to be repeated."""

    title: str
    energy: Component
    generator: Component
    batch_size: int
    timed: bool
    side: int = SIDE

    def networks(self, method_name: str) -> dict[str, Component]:
        parts: Mapping[str, Component] = {
            "energy": self.energy,
            "generator": {**self.generator, "side": self.side},
        }
        return {role: parts[role] for role in joint_methods.get(method_name).network_names()}


IMAGE_SHAPES: dict[str, ImageShape] = {
    "wrn-28-2": ImageShape(
        "WRN-28-2 and SNGAN generator of 48 maps on 32 × 32 images, batch 16, as VERA-JEM",
        {"name": "wrn", "width": 2},
        {"name": "sngan-generator", "width": 48},
        batch_size=16,
        timed=True,
    ),
    "wrn-28-10": ImageShape(
        "WRN-28-10 and SNGAN generator of 256 maps (the paper's) on 32 × 32 images, batch 4, as VERA-JEM",
        {"name": "wrn"},
        {"name": "sngan-generator"},
        batch_size=4,
        timed=False,
    ),
}
SETTINGS: dict[str, Component] = {"vera": {"entropy_weight": 1e-4}, "jem": JEM_SETTINGS}


class RandomImages(LabelledData):
    """As many images as the batches need, all of them with a label."""

    name, classes, channels, fingerprint = "random images", CLASSES, 3, ""

    def __init__(self, n: int, side: int) -> None:
        self.shape, self.side, self.data_dim = (n, 3, side, side), side, 3 * side**2

    def split(self, seed: int) -> Split:
        x = torch.rand(self.shape, generator=torch.Generator().manual_seed(seed)) * 2 - 1
        labels = torch.arange(len(x)) % CLASSES
        return Split(self, (x, labels), (x[:1], labels[:1]), None)


def prepare_images(shape: ImageShape, method_name: str, seed: int = 0) -> Workload:
    """A joint method on this shape, begun as the Trainer begins it."""
    data = RandomImages(BATCHES * shape.batch_size, shape.side).split(seed)
    spec = TrialSpec(
        dataset={"name": data.name},
        networks=shape.networks(method_name),
        method={"name": method_name, **SETTINGS[method_name]},
        steps=1,
        batch_size=shape.batch_size,
        seed=seed,
        task="joint",
    )
    method = build_method(spec, data, joint_methods)
    stream = data.stream(shape.batch_size, seed)
    batches = [stream.next_batch() for _ in range(BATCHES)]
    method.begin(batches[0])
    return Workload(method, batches)


def measure_rivals(name: str, shape: ImageShape, seconds: float, rounds: int) -> RivalRow:
    """A step of JEM against one of VERA; the step whose products are counted is the warm-up."""
    with use_seed(0):
        vera, jem = (prepare_images(shape, method).stepper() for method in ("vera", "jem"))
        vera_gflop, jem_gflop = (flops(record(step)) / 1e9 for step in (vera, jem))
        timing = compare(jem, vera, seconds, rounds)
    return RivalRow(
        name, timing, vera_gflop, jem_gflop, paper_value("Text Sec 6", metric="training_speedup_factor")
    )


def measure_image_memory(name: str, shape: ImageShape) -> list[MemoryRow]:
    """The entropy block alone, and the whole step."""
    forms: dict[str, Callable[[Workload], BlockMemory]] = {
        "entropy block": entropy_memory,
        "whole step": step_memory,
    }
    rows = []
    for what, form in forms.items():
        with use_seed(0):
            memory = form(prepare_images(shape, "vera"))
        rows.append(MemoryRow(name, memory.bytes, memory.bytes_with_graph, what))
    return rows

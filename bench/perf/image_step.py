"""VERA and JEM on images: the time of a step of each on the same classifier, and the memory of VERA's step.

The paper's networks need a GPU. On a CPU, time is measured on a classifier and a generator of about a fifth
of their width, so that the ratio of their costs is that of the paper; memory is measured at full width with a
small batch. The images are random: the cost of a step depends on shapes alone.
"""

from collections.abc import Callable

import torch

from bench.paper.values import PAPER
from bench.perf.matrix_products import count_flops, record_products
from bench.perf.memory import BlockMemory, measure_entropy_memory, measure_step_memory
from bench.perf.shapes import ImageShape
from bench.perf.step_report import MemoryRow, RivalRow
from bench.perf.timing import compare
from bench.perf.workloads import BATCHES, Workload
from vera.data.labelled import LabelledData, Split
from vera.spec.registry import joint_methods
from vera.spec.trial_spec import Component, TrialSpec
from vera.tasks.build import build_method
from vera.tasks.studies.step_time import JEM_SETTINGS
from vera.training.random_state import use_seed

CLASSES = 10
SETTINGS: dict[str, Component] = {"vera": {"entropy_weight": 1e-4}, "jem": JEM_SETTINGS}


class RandomImages(LabelledData):
    """`n` random images, all labelled."""

    name, classes, channels, fingerprint = "random images", CLASSES, 3, ""

    def __init__(self, n: int, side: int) -> None:
        self.shape, self.side, self.data_dim = (n, 3, side, side), side, 3 * side**2

    def split(self, seed: int) -> Split:
        x = torch.rand(self.shape, generator=torch.Generator().manual_seed(seed)) * 2 - 1
        labels = torch.arange(len(x)) % CLASSES
        return Split(self, (x, labels), (x[:1], labels[:1]), None)


def prepare_images(shape: ImageShape, method_name: str, seed: int = 0) -> Workload:
    """A joint method on this shape, started as the Trainer starts it."""
    data = RandomImages(BATCHES * shape.batch_size, shape.side).split(seed)
    spec = TrialSpec(
        dataset={"name": data.name},
        networks=shape.select_networks(method_name),
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
    """A step of JEM against a step of VERA. The step in which products are counted is the warm-up."""
    with use_seed(0):
        vera, jem = (prepare_images(shape, method).make_stepper() for method in ("vera", "jem"))
        vera_gflop, jem_gflop = (count_flops(record_products(step)) / 1e9 for step in (vera, jem))
        timing = compare(jem, vera, seconds, rounds)
    paper = PAPER.read_value("Text Sec 6", metric="training_speedup_factor")
    return RivalRow(name, timing, vera_gflop, jem_gflop, paper)


def measure_image_memory(name: str, shape: ImageShape) -> list[MemoryRow]:
    """Memory of the entropy block alone and of the whole step."""
    meters: dict[str, Callable[[Workload], BlockMemory]] = {
        "entropy block": measure_entropy_memory,
        "whole step": measure_step_memory,
    }
    rows = []
    for what, measure in meters.items():
        with use_seed(0):
            memory = measure(prepare_images(shape, "vera"))
        rows.append(MemoryRow(name, memory.bytes, memory.bytes_with_graph, what))
    return rows

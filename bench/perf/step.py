"""One training step of every method on every shape, against the time of its matrix products alone.

    shape × method → ms per step, GFLOP, step time ÷ product time     (same run, same threads, alternating)
    image shape    → a step of JEM ÷ a step of VERA                   (likewise)
    shape          → peak memory of VERA's entropy block ÷ the same block with a graph

The ratio shows how much of a step is overhead over the arithmetic that any implementation needs. It carries
over to other machines; milliseconds do not. Every registered method has a row: an incompatible pair shows
why.

The paper's image networks need a GPU. On a CPU, time is measured on a classifier and a generator of about a
fifth of their width, so that the ratio of their costs is that of the paper; memory is measured at full width
with a small batch.
"""

import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import torch
from tqdm import tqdm

from bench.paper.values import PAPER
from bench.perf.matrix_products import ProductReplay, count_flops, record_products
from bench.perf.memory import measure_entropy_memory, measure_step_memory
from bench.perf.shapes import IMAGE_SHAPES, SHAPES, ImageShape
from bench.perf.step_report import BLOCK, TIME_BARS, MemoryRow, PerformanceBar, RivalRow, StepResults, StepRow
from bench.perf.timing import compare, time_alone
from bench.perf.workloads import prepare, prepare_images
from vera.errors import VeraError
from vera.training.state.random_state import use_seed

WARM_UP = 3


def measure_steps(
    shapes: Sequence[str], methods: Sequence[str], seconds: float, rounds: int
) -> list[StepRow]:
    """A row for every method on every shape that is not of images; progress is shown in a terminal."""
    pairs = [(shape, method) for shape in shapes if shape in SHAPES for method in methods]
    progress = tqdm(pairs, desc="step", unit="cell", file=sys.stderr, disable=not sys.stderr.isatty())
    return [measure_step(shape, method, seconds, rounds) for shape, method in progress]


def measure_step(shape_name: str, method_name: str, seconds: float, rounds: int) -> StepRow:
    """One row. If the method refuses the shape, the error becomes its reason."""
    try:
        with use_seed(0):
            step = prepare(SHAPES[shape_name], method_name).make_stepper()
            for _ in range(WARM_UP):
                step()
            return _time_step(shape_name, method_name, step, seconds, rounds)
    except VeraError as refusal:
        return StepRow(shape_name, method_name, reason=_shorten_error(refusal))


def _time_step(
    shape_name: str, method_name: str, step: Callable[[], None], seconds: float, rounds: int
) -> StepRow:
    products = record_products(step)
    if not products:
        ms = time_alone(step, seconds, rounds)
        return StepRow(shape_name, method_name, ms, 0.0, 0, reason="no matrix product in this step")
    replay = ProductReplay(products)
    replay()
    timing = compare(step, replay, seconds, rounds)
    return StepRow(
        shape_name, method_name, timing.work_ms, count_flops(products) / 1e9, len(products), timing
    )


def _shorten_error(error: VeraError) -> str:
    """The reason alone, without the names of method and model, which the row has, and without advice."""
    return str(error).partition(": ")[2].partition(".")[0] or str(error)


def measure_image_rivals(shapes: Sequence[str], seconds: float, rounds: int) -> list[RivalRow]:
    """JEM against VERA on every image shape that can be timed."""
    images = {name: IMAGE_SHAPES[name] for name in shapes if name in IMAGE_SHAPES}
    return [measure_rivals(name, shape, seconds, rounds) for name, shape in images.items() if shape.timed]


def measure_rivals(name: str, shape: ImageShape, seconds: float, rounds: int) -> RivalRow:
    """A step of JEM against a step of VERA. The step in which products are counted is the warm-up."""
    with use_seed(0):
        vera, jem = (prepare_images(shape, method).make_stepper() for method in ("vera", "jem"))
        vera_gflop, jem_gflop = (count_flops(record_products(step)) / 1e9 for step in (vera, jem))
        timing = compare(jem, vera, seconds, rounds)
    paper = PAPER.read_value("Text Sec 6", metric="training_speedup_factor")
    return RivalRow(name, timing, vera_gflop, jem_gflop, paper)


def measure_memory(shapes: Sequence[str]) -> list[MemoryRow]:
    """The entropy block of every shape with a bar, and the image shapes."""
    rows = [measure_entropy_block(name) for name in shapes if name in TIME_BARS]
    for name in shapes:
        if name in IMAGE_SHAPES:
            rows += measure_image_memory(name, IMAGE_SHAPES[name])
    return rows


def measure_entropy_block(name: str) -> MemoryRow:
    """With the generator, batch size and k of VERA on this shape."""
    with use_seed(0):
        return MemoryRow(name, *measure_entropy_memory(prepare(SHAPES[name], "vera")))


def measure_image_memory(name: str, shape: ImageShape) -> list[MemoryRow]:
    """Memory of the entropy block alone and of the whole step."""
    rows = []
    for what, measure in ((BLOCK, measure_entropy_memory), ("whole step", measure_step_memory)):
        with use_seed(0):
            rows.append(MemoryRow(name, *measure(prepare_images(shape, "vera")), what))
    return rows


def describe_machine(threads: int) -> dict[str, Any]:
    """What a reader needs to judge the numbers; no host name and no path."""
    return {
        "threads": threads,
        "torch": torch.__version__,
        "cpu": torch.backends.cpu.get_cpu_capability(),
        "machine": platform.machine(),
    }


def list_plain(found: StepResults, bars: Sequence[PerformanceBar]) -> dict[str, Any]:
    """Everything that was measured, for JSON."""
    return {
        "steps": [asdict(row) for row in found.steps],
        "rivals": [asdict(row) for row in found.rivals],
        "memory": [{**asdict(row), "ratio": row.ratio} for row in found.memory],
        "bars": [{**asdict(bar), "met": bar.is_met} for bar in bars],
    }

"""`make bench-step`: one training step of every method on every shape, against the time of its matrix
products alone.

    shape × method → ms per step, GFLOP, step time ÷ product time     (same run, same threads, interleaved)
    image shape    → a step of JEM ÷ a step of VERA                   (likewise)
    shape          → peak memory of VERA's entropy block ÷ the same block with a graph; of images the whole step too

The ratio says how much of a step is not arithmetic that any implementation would need, and holds on any
machine; milliseconds do not. Every registered method has a row: a pair that does not go together shows why.
"""

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from bench.cli.flag_values import at_least, some_seconds
from bench.locations import PUBLISHED
from bench.perf.image_step import IMAGE_SHAPES, measure_image_memory, measure_rivals
from bench.perf.matrix_products import Replay, flops, record
from bench.perf.measurements import keep
from bench.perf.memory import entropy_block
from bench.perf.step_report import TIME_BARS, Bar, Found, MemoryRow, RivalRow, StepRow, bars, document
from bench.perf.timing import compare, solo
from bench.perf.workloads import SHAPES, prepare
from vera.errors import SettingError, VeraError
from vera.spec.registry import load_plugin, methods
from vera.training.random_state import use_seed
from vera.wording import plural

WARM_UP = 3


def measure(shape_name: str, method_name: str, seconds: float, rounds: int) -> StepRow:
    """One row; what the method refuses to train becomes its reason."""
    try:
        with use_seed(0):
            step = prepare(SHAPES[shape_name], method_name).stepper()
            for _ in range(WARM_UP):
                step()
            return _time(shape_name, method_name, step, seconds, rounds)
    except VeraError as refusal:
        return StepRow(shape_name, method_name, reason=_short(refusal))


def _time(shape_name: str, method_name: str, step: Any, seconds: float, rounds: int) -> StepRow:
    products = record(step)
    if not products:
        ms, _ = solo(step, seconds, rounds)
        return StepRow(shape_name, method_name, ms, 0.0, 0, reason="no matrix product in this step")
    replay = Replay(products)
    replay()
    timing = compare(step, replay, seconds, rounds)
    return StepRow(shape_name, method_name, timing.work_ms, flops(products) / 1e9, len(products), timing)


def _short(refusal: VeraError) -> str:
    """The reason without the method's and the model's names, which the row has already, and without the
    advice."""
    return str(refusal).partition(": ")[2].partition(".")[0] or str(refusal)


def measure_memory(shape_names: Sequence[str]) -> list[MemoryRow]:
    blocks = {name: entropy_block(name) for name in shape_names if name in TIME_BARS}
    rows = [MemoryRow(name, block.bytes, block.bytes_with_graph) for name, block in blocks.items()]
    images = [measure_image_memory(name, IMAGE_SHAPES[name]) for name in shape_names if name in IMAGE_SHAPES]
    return rows + [row for pair in images for row in pair]


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.perf.step", description=(__doc__ or "").partition("\n")[0]
    )
    shapes = [*SHAPES, *IMAGE_SHAPES]
    parser.add_argument(
        "--shapes", nargs="+", choices=shapes, default=shapes, metavar="SHAPE", help=", ".join(shapes)
    )
    parser.add_argument(
        "--methods",
        nargs="+",
        metavar="METHOD",
        help="default: every registered method; of images it is VERA and JEM",
    )
    parser.add_argument("--plugin", help="a Python file that registers methods of your own")
    parser.add_argument(
        "--threads",
        type=at_least(1),
        default=1,
        help="threads of step and products alike (the bars are for 1)",
    )
    parser.add_argument("--seconds", type=some_seconds, default=5.0, help="time for each cell of the table")
    parser.add_argument(
        "--rounds", type=at_least(1), default=3, help="at least so many rounds a cell, whatever the time"
    )
    parser.add_argument(
        "--quick", action="store_true", help="one round a cell and no verdict on time: does it run?"
    )
    parser.add_argument("--memory-only", action="store_true", help="no timing")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to a file too")
    parser.add_argument(
        "--keep", metavar="DIR", help="keep them as Parquet under this directory, e.g. results/published"
    )
    parser.add_argument("--enforce", action="store_true", help="exit with 1 if a bar is missed")
    return parser.parse_args(argv)


def check_whole(options: argparse.Namespace) -> None:
    """What ships is the whole measurement: a part would take its place."""
    parts = {
        f"--{name.replace('_', '-')}": getattr(options, name)
        for name in ("quick", "memory_only", "methods", "plugin")
    }
    parts["--shapes"] = len(options.shapes) < len([*SHAPES, *IMAGE_SHAPES])
    if options.keep and Path(options.keep).resolve() == Path(PUBLISHED).resolve() and any(parts.values()):
        given = " and ".join(flag for flag, is_given in parts.items() if is_given)
        raise SettingError(
            f"--keep {options.keep} takes the place of all that was measured before: leave out {given}."
        )


def main(argv: Sequence[str] | None = None) -> int:
    try:
        options = arguments(argv)
        check_whole(options)
        return run(options)
    except VeraError as error:
        print(f"bench.perf.step: {error}", file=sys.stderr)
        return 2


def run(options: argparse.Namespace) -> int:
    if options.plugin:
        load_plugin(options.plugin)
    for name in options.methods or ():
        methods.get(name)
    seconds, rounds = (0.0, 1) if options.quick else (options.seconds, options.rounds)
    threads_before = torch.get_num_threads()
    torch.set_num_threads(options.threads)
    try:
        timed = [] if options.memory_only else options.shapes
        found = Found(
            _steps(timed, options.methods or list(methods), seconds, rounds),
            _rivals(timed, seconds, rounds),
            measure_memory(options.shapes),
        )
    finally:
        torch.set_num_threads(threads_before)
    # The time bars are stated for one thread, and one round is too noisy to be judged.
    judged = bars([] if options.quick or options.threads != 1 else found.steps, found.memory)
    print(
        f"{plural(options.threads, 'thread')}, torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}\n"
    )
    titles = {name: shape.title for name, shape in SHAPES.items()} | {
        name: shape.title for name, shape in IMAGE_SHAPES.items()
    }
    print(document(found, judged, titles))
    if options.json:
        options.json.write_text(json.dumps(_plain(options.threads, found, judged), indent=1) + "\n")
    if options.keep:
        keep(options.keep, found.numbers(), options.threads)
    return int(options.enforce and not all(bar.met for bar in judged))


def _steps(shapes: Sequence[str], method_names: Sequence[str], seconds: float, rounds: int) -> list[StepRow]:
    pairs = [(shape, method) for shape in shapes if shape in SHAPES for method in method_names]
    progress = tqdm(pairs, desc="step", unit="cell", file=sys.stderr, disable=not sys.stderr.isatty())
    return [measure(shape, method, seconds, rounds) for shape, method in progress]


def _rivals(shapes: Sequence[str], seconds: float, rounds: int) -> list[RivalRow]:
    images = {name: IMAGE_SHAPES[name] for name in shapes if name in IMAGE_SHAPES}
    return [measure_rivals(name, shape, seconds, rounds) for name, shape in images.items() if shape.timed]


def _plain(threads: int, found: Found, judged: list[Bar]) -> dict[str, Any]:
    """Everything that was measured, with what a reader needs to judge it; never a host name or a path."""
    return {
        "threads": threads,
        "torch": torch.__version__,
        "cpu": torch.backends.cpu.get_cpu_capability(),
        "machine": platform.machine(),
        "steps": [asdict(row) for row in found.steps],
        "rivals": [asdict(row) for row in found.rivals],
        "memory": [{**asdict(row), "ratio": row.ratio} for row in found.memory],
        "bars": [{**asdict(bar), "met": bar.met} for bar in judged],
    }


if __name__ == "__main__":
    sys.exit(main())

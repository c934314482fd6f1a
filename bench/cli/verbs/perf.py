"""`vera perf step|memory|engine|store|torchebm`: benchmarks of the code itself."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from bench.cli.flags import add_plugin
from bench.cli.output_files import write_bytes
from bench.cli.parser import Run, Subparsers, add_command, at_least, parse_positive_seconds
from bench.locations import PUBLISHED
from bench.perf.shapes import SHAPE_NAMES, find_title
from vera.errors import SettingError
from vera.wording import plural

if TYPE_CHECKING:
    from bench.perf.step_report import StepResults


def add_parser(verbs: Subparsers) -> None:
    text = "benchmark training steps, their memory, the sweep engine, the store, and torchebm"
    perf = add_command(verbs, "perf", text, "perf step --quick", "perf memory --shapes toy", "perf engine")
    benchmarks = perf.add_subparsers(title="benchmarks", metavar="BENCHMARK", required=True)
    add_step(benchmarks)
    add_memory(benchmarks)
    add_engine(benchmarks)
    add_torchebm(benchmarks)
    add_store(benchmarks)


def add_step(benchmarks: Subparsers) -> None:
    text = "time one training step of every method against its matrix products, and measure its memory"
    examples = ("perf step --quick --shapes toy", "perf step --keep results/published")
    parser = _add_benchmark(benchmarks, "step", run_step, text, *examples)
    _add_shapes(parser)
    parser.add_argument(
        "--methods",
        nargs="+",
        metavar="METHOD",
        help="(default: every registered method; on images always VERA and JEM)",
    )
    add_plugin(parser)
    parser.add_argument(
        "--threads",
        type=at_least(1),
        default=1,
        metavar="N",
        help="threads of step and products (default: 1, for which the bars are stated)",
    )
    parser.add_argument(
        "--seconds",
        type=parse_positive_seconds,
        default=5.0,
        metavar="SECONDS",
        help="time per cell of the table (default: 5)",
    )
    parser.add_argument(
        "--rounds", type=at_least(1), default=3, metavar="N", help="minimum rounds per cell (default: 3)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="one round per cell and no verdict on time: does it run?"
    )
    _add_json(parser)


def add_memory(benchmarks: Subparsers) -> None:
    text = "measure the peak memory of VERA's entropy block and of its step on images"
    parser = _add_benchmark(benchmarks, "memory", run_memory, text, "perf memory --shapes toy nice tabular")
    _add_shapes(parser)
    _add_json(parser)


def add_engine(benchmarks: Subparsers) -> None:
    text = "measure the overhead of the sweep engine over plain Ray tasks"
    parser = _add_benchmark(benchmarks, "engine", run_engine, text, "perf engine --trials 100")
    parser.add_argument(
        "--trials",
        type=at_least(1),
        default=1_000,
        metavar="N",
        help="number of trials (default: 1000, for which the bar is stated)",
    )
    parser.add_argument(
        "--search", type=at_least(1), metavar="N", help="measure a search of N trials instead"
    )
    parser.add_argument(
        "--cpus", type=at_least(1), default=2, metavar="N", help="concurrent trials (default: 2)"
    )


def add_store(benchmarks: Subparsers) -> None:
    text = "time the verbs that read a store, and its compaction, by the number of trials"
    parser = _add_benchmark(benchmarks, "store", run_store, text, "perf store --trials 1000 10000")
    parser.add_argument(
        "--trials",
        type=at_least(0),
        nargs="+",
        metavar="N",
        help="numbers of made-up trials (default: 0 1000 10000 100000, for whose ends bars are stated)",
    )


def add_torchebm(benchmarks: Subparsers) -> None:
    text = "time Langevin steps and contrastive divergence against torchebm, on one thread"
    parser = _add_benchmark(benchmarks, "torchebm", run_torchebm, text, "perf torchebm --seconds 10")
    parser.add_argument(
        "--seconds",
        type=parse_positive_seconds,
        default=10.0,
        metavar="SECONDS",
        help="time per shape and kind of work (default: 10)",
    )


def _add_benchmark(
    benchmarks: Subparsers, name: str, run: Run, text: str, *examples: str
) -> argparse.ArgumentParser:
    parser = add_command(benchmarks, name, text, *examples)
    parser.add_argument(
        "--keep",
        metavar="DIR",
        help="store the numbers as Parquet under this directory, e.g. results/published",
    )
    parser.add_argument("--enforce", action="store_true", help="exit code 1 if a bar is missed")
    parser.set_defaults(run=run)
    return parser


def _add_shapes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--shapes",
        nargs="+",
        choices=SHAPE_NAMES,
        default=SHAPE_NAMES,
        metavar="SHAPE",
        help=f"{', '.join(SHAPE_NAMES)} (default: all)",
    )


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", metavar="FILE", help="also write the numbers to this file")


def run_step(arguments: argparse.Namespace) -> int:
    """Exit code 1 with --enforce if a bar is missed."""
    _check_complete(
        arguments, {"--quick": arguments.quick, "--methods": arguments.methods, "--plugin": arguments.plugin}
    )
    from bench.perf.step import measure_image_rivals, measure_memory, measure_steps
    from bench.perf.step_report import StepResults
    from vera.spec.registry import methods
    from vera.training.threads import use_threads

    names = arguments.methods or list(methods)
    for name in names:
        methods.get(name)
    seconds, rounds = (0.0, 1) if arguments.quick else (arguments.seconds, arguments.rounds)
    with use_threads(arguments.threads):
        found = StepResults(
            measure_steps(arguments.shapes, names, seconds, rounds),
            measure_image_rivals(arguments.shapes, seconds, rounds),
            measure_memory(arguments.shapes),
        )
    # The time bars are stated for one thread, and one round is too noisy for a verdict.
    is_judged = not arguments.quick and arguments.threads == 1
    return _report_steps(arguments, found, arguments.threads, is_judged)


def run_memory(arguments: argparse.Namespace) -> int:
    """Exit code 1 with --enforce if a bar is missed."""
    _check_complete(arguments, {})
    from bench.perf.step import measure_memory
    from bench.perf.step_report import StepResults
    from vera.training.threads import use_threads

    with use_threads(1):
        found = StepResults([], [], measure_memory(arguments.shapes))
    return _report_steps(arguments, found, threads=1, is_judged=True)


def _check_complete(arguments: argparse.Namespace, partial: dict[str, object]) -> None:
    """Refuse to replace published numbers by part of a measurement."""
    given = [flag for flag, value in partial.items() if value]
    given += ["--shapes"] if set(arguments.shapes) != set(SHAPE_NAMES) else []
    if arguments.keep and Path(arguments.keep).resolve() == Path(PUBLISHED).resolve() and given:
        raise SettingError(
            f"--keep {arguments.keep} replaces all published numbers. Omit {' and '.join(given)}."
        )


def _report_steps(arguments: argparse.Namespace, found: "StepResults", threads: int, is_judged: bool) -> int:
    from bench.perf.step import describe_machine, list_plain
    from bench.perf.step_report import format_report, judge_bars
    from bench.perf.stored_measurements import store_values

    bars = judge_bars(found.steps if is_judged else [], found.memory)
    machine = describe_machine(threads)
    print(f"{plural(threads, 'thread')}, torch {machine['torch']}, {machine['cpu']}\n")
    print(format_report(found, bars, find_title))
    if arguments.json:
        content = json.dumps(machine | list_plain(found, bars), indent=1) + "\n"
        write_bytes(arguments.json, content.encode())
    if arguments.keep:
        store_values(arguments.keep, found.list_values(), threads)
    return int(arguments.enforce and not all(bar.is_met for bar in bars))


def run_engine(arguments: argparse.Namespace) -> int:
    """Exit code 1 with --enforce if a bar is missed."""
    from bench.perf.engine import measure_engine, measure_search
    from bench.perf.stored_measurements import store_values

    found = (
        measure_engine(arguments.trials, arguments.cpus)
        if arguments.search is None
        else measure_search(arguments.search, arguments.cpus)
    )
    print("\n".join(found.format_lines()))
    if arguments.keep:
        store_values(arguments.keep, found.list_values())
    return int(arguments.enforce and not found.is_met)


def run_torchebm(arguments: argparse.Namespace) -> int:
    """Exit code 1 with --enforce if ours is slower at some shape."""
    from bench.perf.step import describe_machine
    from bench.perf.stored_measurements import store_values
    from bench.perf.torchebm_rival import SHAPES, format_report, list_values, measure_rival, require_torchebm
    from vera.training.threads import use_threads

    require_torchebm()
    with use_threads(1):
        found = list(measure_rival(SHAPES, arguments.seconds, min_rounds=5))
    machine = describe_machine(1)
    print(f"1 thread, torch {machine['torch']}, {machine['cpu']}\n")
    print(format_report(found))
    if arguments.keep:
        store_values(arguments.keep, list_values(found))
    return int(arguments.enforce and not all(each.is_met for each in found))


def run_store(arguments: argparse.Namespace) -> int:
    """Exit code 1 with --enforce if a bar is missed."""
    from bench.perf.store import SIZES, measure_store
    from bench.perf.stored_measurements import store_values

    found = measure_store(arguments.trials or SIZES)
    print("\n".join(found.format_lines()))
    if arguments.keep:
        store_values(arguments.keep, found.list_values())
    return int(arguments.enforce and not found.is_met)

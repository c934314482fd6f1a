"""Measurements of the code itself, which are no trials: a training step, the engine. Kept as Parquet, shown
in results/README.md.

    python -m bench.perf.step --keep results/published        measure, and keep the numbers with where they came from
    python -m bench.perf.engine --keep results/published    likewise
    python -m bench.perf.measurements                             write the tables of the page, between the marks
    python -m bench.perf.measurements --check                     write nothing; exit code 1 if they are not what they would be

One file a benchmark, one line a number; measuring again takes the place of what was there. Milliseconds are
of one machine on one day, and ratios of two things that were timed in turns are what to trust. Loads neither
torch nor ray.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from bench.locations import PUBLISHED
from bench.publishing.marked_block import written_block
from sweeps.run.provenance import provenance
from vera.atomic_write import write_atomically
from vera.wording import plural

PAGE = Path("results/README.md")
FOLDER = "benchmarks"


@dataclass(frozen=True)
class Number:
    """One measured quantity of one subject."""

    benchmark: str
    subject: str
    """What was measured: a shape, a way to run trials."""
    method: str
    quantity: str
    value: float
    measured_at: str = ""
    threads: int = 1
    processor: str = ""
    cores: int = 0
    versions: str = ""
    git_commit: str = ""
    git_dirty: bool = False


def numbers_of(
    benchmark: str, subject: str, method: str, quantities: Mapping[str, float | None]
) -> Iterator[Number]:
    """Of one subject all that was measured; a quantity that is None was not."""
    for name, value in quantities.items():
        if value is not None:
            yield Number(benchmark, subject, method, name, float(value))


def keep(place: str | Path, numbers: Iterable[Number], threads: int = 1) -> None:
    """Into PLACE/benchmarks, one file for each benchmark, with provenance."""
    own = {
        name: value for name, value in provenance("cpu").items() if name in {f.name for f in fields(Number)}
    }
    stamp = own | {"threads": threads, "measured_at": datetime.now(UTC).isoformat(timespec="seconds")}
    lines = [asdict(number) | stamp for number in numbers]
    folder = Path(place, FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    for name in {line["benchmark"] for line in lines}:
        with write_atomically(folder / f"{name}.parquet") as file:
            pq.write_table(pa.Table.from_pylist([line for line in lines if line["benchmark"] == name]), file)


def kept(place: str | Path, benchmark: str) -> list[Number]:
    """Nothing where it has not been measured."""
    file = Path(place, FOLDER, f"{benchmark}.parquet")
    return [Number(**line) for line in pq.read_table(file).to_pylist()] if file.is_file() else []


class Column(NamedTuple):
    """How a quantity is shown."""

    title: str
    digits: int
    unit: float = 1.0

    def cell(self, value: float | None) -> str:
        return "" if value is None else f"{value / self.unit:.{self.digits}f}"


class Shown(NamedTuple):
    """How a benchmark is shown: a column for each quantity. The command names the subject where it has a
    place for it."""

    benchmark: str
    command: str
    subject: str
    columns: Mapping[str, Column]
    threaded: bool = False
    """Whether its time is that of so many threads; trials of an engine have slots."""


TABLES = (
    Shown("step", "python -m bench.perf.step", "shape", {
        "ms": Column("ms a step", 2), "gflop": Column("GFLOP", 3), "products_ms": Column("ms of its matrix products", 2),
        "ratio": Column("step / products", 2), "low": Column("first quartile", 2), "high": Column("third", 2),
        "rounds": Column("of rounds", 0),
    }, threaded=True),
    Shown("rivals", "python -m bench.perf.step", "shape", {
        "vera_ms": Column("VERA, ms", 0), "jem_ms": Column("JEM, ms", 0), "ratio": Column("JEM / VERA", 2),
        "low": Column("first quartile", 2), "high": Column("third", 2), "rounds": Column("of rounds", 0),
        "work": Column("by operations", 2), "paper": Column("the paper, in time", 1),
    }, threaded=True),
    Shown("memory", "python -m bench.perf.step", "shape", {
        "bytes": Column("peak, MB", 2, 1e6), "bytes_with_graph": Column("with a graph, MB", 2, 1e6), "ratio": Column("ratio", 3),
    }),
    Shown("engine", "python -m bench.perf.engine", "trials", {
        "seconds": Column("engine, s", 1), "tasks": Column("plain Ray tasks, s", 1), "overhead": Column("overhead, ms a trial", 1),
        "megabytes": Column("driver, MB", 0), "read": Column("10,000 rows read, s", 2),
    }),
    Shown("search-engine", "python -m bench.perf.engine --search {0}", "trials of a search", {
        "seconds": Column("engine, s", 1), "tasks": Column("plain Ray tasks, s", 1), "overhead": Column("overhead, ms a trial", 1),
    }),
)  # fmt: skip


def lines(place: str | Path = PUBLISHED) -> Iterator[str]:
    """The tables of all that was measured, each with the command and what it was measured on."""
    for shown in TABLES:
        if numbers := kept(place, shown.benchmark):
            yield from table(shown, numbers)


def table(shown: Shown, numbers: Sequence[Number]) -> Iterator[str]:
    command = shown.command.format(numbers[0].subject.replace(",", ""))
    yield f"`{command}`, {origin(numbers[0], shown.threaded)}:"
    yield ""
    has_method = any(number.method for number in numbers)
    head = [shown.subject, *["method"] * has_method, *(column.title for column in shown.columns.values())]
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    found = {(number.subject, number.method, number.quantity): number.value for number in numbers}
    for subject, method in dict.fromkeys((number.subject, number.method) for number in numbers):
        cells = (column.cell(found.get((subject, method, name))) for name, column in shown.columns.items())
        yield f"| {' | '.join([subject, *[method] * has_method, *cells])} |"
    yield ""


def origin(number: Number, threaded: bool = False) -> str:
    """When, by which code and on what it was measured."""
    changed = " (changed)" if number.git_dirty else ""
    threads = f", {plural(number.threads, 'thread')}" if threaded else ""
    return f"{number.measured_at[:10]}, `{number.git_commit[:7]}`{changed}, {number.processor} ({number.cores} cores){threads}"


def main(argv: Sequence[str] | None = None) -> int:
    return written_block(argv, "bench.perf.measurements", "benchmarks", PAGE, lines)


if __name__ == "__main__":
    sys.exit(main())

"""The tables of benchmarks in docs/performance.md, from the numbers that `vera perf --keep` stored."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.perf.measurements import BenchmarkValue, read_values
from bench.publishing.markdown import render_template
from vera.wording import plural


class QuantityColumn(NamedTuple):
    """How a quantity is printed."""

    title: str
    digits: int
    unit: float = 1.0

    def format_value(self, value: float | None) -> str:
        return "" if value is None else f"{value / self.unit:.{self.digits}f}"


class BenchmarkTable(NamedTuple):
    """How a benchmark is printed: one column per quantity. `command` may contain {0} for the subject."""

    benchmark: str
    command: str
    subject: str
    columns: Mapping[str, QuantityColumn]
    shows_threads: bool = False
    """Whether its times depend on the number of threads."""
    measured_with: str = ""
    """A benchmark that measures this one too. Its command is printed if both were measured at once."""


RATIO = {
    "ratio": QuantityColumn("step / products", 2),
    "low": QuantityColumn("first quartile", 2),
    "high": QuantityColumn("third", 2),
    "rounds": QuantityColumn("of rounds", 0),
}
ENGINE = {
    "seconds": QuantityColumn("engine, s", 1),
    "tasks": QuantityColumn("plain Ray tasks, s", 1),
    "overhead": QuantityColumn("overhead, ms a trial", 1),
}
TABLES = (
    BenchmarkTable(
        "step",
        "vera perf step",
        "shape",
        {
            "ms": QuantityColumn("ms a step", 2),
            "gflop": QuantityColumn("GFLOP", 3),
            "products_ms": QuantityColumn("ms of its matrix products", 2),
            **RATIO,
        },
        shows_threads=True,
    ),
    BenchmarkTable(
        "rivals",
        "vera perf step",
        "shape",
        {
            "vera_ms": QuantityColumn("VERA, ms", 0),
            "jem_ms": QuantityColumn("JEM, ms", 0),
            **RATIO,
            "ratio": QuantityColumn("JEM / VERA", 2),
            "work": QuantityColumn("by operations", 2),
            "paper": QuantityColumn("the paper, in time", 1),
        },
        shows_threads=True,
    ),
    BenchmarkTable(
        "torchebm",
        "vera perf torchebm",
        "chains × dimension",
        {
            "ours_per_second": QuantityColumn("ours, steps/s", 0),
            "torchebm_per_second": QuantityColumn("torchebm, steps/s", 0),
            **RATIO,
            "ratio": QuantityColumn("torchebm / ours, in time", 2),
        },
        shows_threads=True,
    ),
    BenchmarkTable(
        "memory",
        "vera perf memory",
        "shape",
        {
            "bytes": QuantityColumn("peak, MB", 2, 1e6),
            "bytes_with_graph": QuantityColumn("with a graph, MB", 2, 1e6),
            "ratio": QuantityColumn("ratio", 3),
        },
        measured_with="step",
    ),
    BenchmarkTable(
        "engine",
        "vera perf engine",
        "trials",
        {
            **ENGINE,
            "megabytes": QuantityColumn("driver, MB", 0),
            "read": QuantityColumn("10,000 rows read, s", 2),
        },
    ),
    BenchmarkTable(
        "store",
        "vera perf store",
        "stored trials",
        {
            **{
                name: QuantityColumn(f"{name}, s", 1)
                for name in ("list", "status", "plan", "render", "report")
            },
            "page": QuantityColumn("report, MB", 1),
            "show": QuantityColumn("show, s", 1),
            "compact": QuantityColumn("compaction, s", 1),
            "peak": QuantityColumn("its peak, MB", 0),
        },
    ),
    BenchmarkTable("search-engine", "vera perf engine --search {0}", "trials of a search", ENGINE),
)


def render_benchmarks(location: str | Path) -> str:
    """One table per benchmark that was measured, with the command and the machine."""
    stored = {table.benchmark: read_values(location, table.benchmark) for table in TABLES}
    described = [
        {"command": _find_command(table, stored), **_describe_table(table, stored[table.benchmark])}
        for table in TABLES
        if stored[table.benchmark]
    ]
    return render_template("benchmarks", tables=described)


def _find_command(table: BenchmarkTable, stored: Mapping[str, Sequence[BenchmarkValue]]) -> str:
    """The command that measured the values of a table."""
    first, others = stored[table.benchmark][0], stored.get(table.measured_with, ())
    if any(other.measured_at == first.measured_at for other in others):
        table = next(other for other in TABLES if other.benchmark == table.measured_with)
    return table.command.format(first.subject.replace(",", ""))


def _describe_table(table: BenchmarkTable, values: Sequence[BenchmarkValue]) -> dict[str, Any]:
    methods = ["method"] if any(value.method for value in values) else []
    found = {(value.subject, value.method, value.quantity): value.value for value in values}
    lines = [
        [
            subject,
            *([method] if methods else []),
            *(
                column.format_value(found.get((subject, method, name)))
                for name, column in table.columns.items()
            ),
        ]
        for subject, method in dict.fromkeys((value.subject, value.method) for value in values)
    ]
    return {
        "origin": _describe_origin(values[0], table.shows_threads),
        "head": [table.subject, *methods, *(column.title for column in table.columns.values())],
        "lines": lines,
    }


def _describe_origin(value: BenchmarkValue, shows_threads: bool) -> str:
    """Date, commit and processor of the measurement."""
    commit = f"`{value.git_commit[:7]}`{' (changed)' if value.git_dirty else ''}"
    threads = f", {plural(value.threads, 'thread')}" if shows_threads else ""
    return f"{value.measured_at[:10]}, {commit}, {value.processor} ({value.cores} cores){threads}"

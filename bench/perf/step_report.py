"""The results of the step benchmark: rows, bars, and how they are printed. Plain data, no torch."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bench.perf.measurements import BenchmarkValue, make_values
from bench.perf.timing import TimeComparison
from bench.render.numbers import NOT_MEASURED

BLOCK = "entropy block"
TIME_BARS = {"toy": 5.0, "nice": 1.35, "tabular": 1.5}
"""Largest allowed time of a VERA step on one thread, divided by the time of its matrix products."""
MEMORY_BAR = 1 / 3
"""Largest allowed memory of the entropy block, divided by that of the same block with a graph."""


@dataclass(frozen=True)
class StepRow:
    """One method on one shape. `reason` says why there is no number: an incompatible pair, or a step without
    matrix products."""

    shape: str
    method: str
    ms: float | None = None
    gflop: float | None = None
    products: int | None = None
    timing: TimeComparison | None = None
    reason: str = ""

    def format_cells(self) -> list[str]:
        counts = [_format(self.ms, ".2f"), _format(self.gflop, ".3f"), _format(self.products, "d")]
        return [self.shape, self.method, *counts, *self._format_timing(), self.reason]

    def _format_timing(self) -> list[str]:
        if self.timing is None:
            return [NOT_MEASURED] * 4
        low, high = self.timing.spread
        products, ratio = f"{self.timing.yardstick_ms:.2f}", f"{self.timing.ratio:.2f}"
        return [products, ratio, f"{low:.2f}–{high:.2f}", str(self.timing.rounds)]

    def list_quantities(self) -> dict[str, float | None]:
        """Quantity → value, None if it does not exist."""
        found = {"ms": self.ms, "gflop": self.gflop, "products": self.products}
        if self.timing is None:
            return found
        return found | {"products_ms": self.timing.yardstick_ms, **_list_ratio(self.timing)}


@dataclass(frozen=True)
class MemoryRow:
    """Peak memory of one entropy direction, or of the whole step that contains it."""

    shape: str
    bytes: int
    bytes_with_graph: int
    what: str = BLOCK

    @property
    def ratio(self) -> float:
        return self.bytes / self.bytes_with_graph

    def format_cells(self) -> list[str]:
        megabytes = [f"{count / 1e6:.2f}" for count in (self.bytes, self.bytes_with_graph)]
        return [self.shape, self.what, *megabytes, f"{self.ratio:.3f}"]

    def list_quantities(self) -> dict[str, float | None]:
        return {"bytes": self.bytes, "bytes_with_graph": self.bytes_with_graph, "ratio": self.ratio}


@dataclass(frozen=True)
class RivalRow:
    """A step of JEM against a step of VERA with the same networks; `paper` is the ratio that the paper
    reports."""

    shape: str
    timing: TimeComparison
    vera_gflop: float
    jem_gflop: float
    paper: float

    @property
    def work(self) -> float:
        """Operations of JEM divided by those of VERA."""
        return self.jem_gflop / self.vera_gflop

    def format_cells(self) -> list[str]:
        low, high = self.timing.spread
        times = [f"{self.timing.yardstick_ms:.0f}", f"{self.timing.work_ms:.0f}", f"{self.timing.ratio:.2f}"]
        work = [f"{self.vera_gflop:.1f}", f"{self.jem_gflop:.1f}", f"{self.work:.2f}"]
        return [
            self.shape,
            *times,
            f"{low:.2f}–{high:.2f}",
            str(self.timing.rounds),
            *work,
            f"{self.paper:g}",
        ]

    def list_quantities(self) -> dict[str, float | None]:
        return {
            "vera_ms": self.timing.yardstick_ms,
            "jem_ms": self.timing.work_ms,
            **_list_ratio(self.timing),
            "vera_gflop": self.vera_gflop,
            "jem_gflop": self.jem_gflop,
            "work": self.work,
            "paper": self.paper,
        }


@dataclass(frozen=True)
class StepResults:
    """Everything that was measured."""

    steps: Sequence[StepRow]
    rivals: Sequence[RivalRow]
    memory: Sequence[MemoryRow]

    def list_values(self) -> Iterator[BenchmarkValue]:
        """All numbers, for `--keep`."""
        for step in self.steps:
            yield from make_values("step", step.shape, step.method, step.list_quantities())
        for rival in self.rivals:
            yield from make_values("rivals", rival.shape, "", rival.list_quantities())
        for row in self.memory:
            yield from make_values("memory", row.shape, row.what, row.list_quantities())


@dataclass(frozen=True)
class PerformanceBar:
    """A limit and the measured value."""

    what: str
    limit: float
    measured: float

    @property
    def is_met(self) -> bool:
        return self.measured <= self.limit

    def __str__(self) -> str:
        verdict = "met    " if self.is_met else "NOT MET"
        return f"{verdict}  {self.what}: {self.measured:.3f}, at most {self.limit:.3f}"


def judge_bars(steps: Sequence[StepRow], memory: Sequence[MemoryRow]) -> list[PerformanceBar]:
    """Every bar with a measured value."""
    times = [
        PerformanceBar(
            f"VERA step / its matrix products, {row.shape}", TIME_BARS[row.shape], row.timing.ratio
        )
        for row in steps
        if row.method == "vera" and row.shape in TIME_BARS and row.timing
    ]
    blocks = [
        PerformanceBar(f"entropy block / the same with a graph, {row.shape}", MEMORY_BAR, row.ratio)
        for row in memory
        if row.what == BLOCK
    ]
    return times + blocks


STEP_HEADER = (
    "shape",
    "method",
    "ms/step",
    "GFLOP",
    "products",
    "products ms",
    "ratio",
    "quartiles",
    "rounds",
    "",
)
RIVAL_HEADER = (
    "shape",
    "VERA ms",
    "JEM ms",
    "ratio",
    "quartiles",
    "rounds",
    "VERA GFLOP",
    "JEM GFLOP",
    "ratio of work",
    "paper",
)
MEMORY_HEADER = ("shape", "peak memory of", "MB", "with a graph MB", "ratio")


def align_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    """Plain text in columns. The first `left` columns and columns without a title are left-aligned, the
    others right-aligned."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [
        "  ".join(
            cell.ljust(width) if i < left or not header[i] else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in [header, *rows]
    ]
    return "\n".join(line.rstrip() for line in lines)


def format_report(
    found: StepResults, bars: Sequence[PerformanceBar], find_title: Callable[[str], str]
) -> str:
    """The shapes in words, the tables and the bars."""
    rows: list[StepRow | RivalRow | MemoryRow] = [*found.steps, *found.rivals, *found.memory]
    shapes = dict.fromkeys(row.shape for row in rows)
    parts = ["\n".join(f"{name}: {find_title(name)}" for name in shapes)]
    if found.steps:
        parts.append(align_table(STEP_HEADER, [row.format_cells() for row in found.steps], left=2))
    if found.rivals:
        parts.append(align_table(RIVAL_HEADER, [row.format_cells() for row in found.rivals], left=1))
    if found.memory:
        parts.append(align_table(MEMORY_HEADER, [row.format_cells() for row in found.memory], left=2))
    if bars:
        parts.append("\n".join(map(str, bars)))
    return "\n\n".join(parts)


def _list_ratio(timing: TimeComparison) -> dict[str, float | None]:
    low, high = timing.spread
    return {"ratio": timing.ratio, "low": low, "high": high, "rounds": timing.rounds}


def _format(value: float | None, form: str) -> str:
    return NOT_MEASURED if value is None else format(value, form)

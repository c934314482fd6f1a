"""What the step benchmark found: rows, bars and how both are printed. Plain data, no torch."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.perf.measurements import Number, numbers_of
from bench.perf.timing import Comparison

BLANK = "—"
BLOCK = "entropy block"
TIME_BARS = {"toy": 5.0, "nice": 1.35, "tabular": 1.5}
"""The most that a VERA step may cost on one thread, in units of its matrix products."""
MEMORY_BAR = 1 / 3
"""The most that the entropy block may hold, as a share of the same block with a graph."""


@dataclass(frozen=True)
class StepRow:
    """One method on one shape. `reason` says why there is no number: an impossible pair, or a step without a
    matrix product."""

    shape: str
    method: str
    ms: float | None = None
    gflop: float | None = None
    products: int | None = None
    timing: Comparison | None = None
    reason: str = ""

    def cells(self) -> list[str]:
        counted = [_number(self.ms, ".2f"), _number(self.gflop, ".3f"), _number(self.products, "d")]
        return [self.shape, self.method, *counted, *self._timing_cells(), self.reason]

    def quantities(self) -> dict[str, float | None]:
        """What was measured; None where there is no such thing."""
        timed = (
            {} if self.timing is None else {"products_ms": self.timing.yardstick_ms, **_ratio(self.timing)}
        )
        return {"ms": self.ms, "gflop": self.gflop, "products": self.products} | timed

    def _timing_cells(self) -> list[str]:
        if self.timing is None:
            return [BLANK] * 4
        low, high = self.timing.spread
        return [
            f"{self.timing.yardstick_ms:.2f}",
            f"{self.timing.ratio:.2f}",
            f"{low:.2f}–{high:.2f}",
            str(self.timing.rounds),
        ]


@dataclass(frozen=True)
class MemoryRow:
    """Peak memory of one entropy direction, or of the whole step that it is part of."""

    shape: str
    bytes: int
    bytes_with_graph: int
    what: str = BLOCK

    @property
    def ratio(self) -> float:
        return self.bytes / self.bytes_with_graph

    def cells(self) -> list[str]:
        return [
            self.shape,
            self.what,
            f"{self.bytes / 1e6:.2f}",
            f"{self.bytes_with_graph / 1e6:.2f}",
            f"{self.ratio:.3f}",
        ]


@dataclass(frozen=True)
class RivalRow:
    """A step of JEM against one of VERA on the same networks; `paper` is what the paper says of its own."""

    shape: str
    timing: Comparison
    vera_gflop: float
    jem_gflop: float
    paper: float

    @property
    def work(self) -> float:
        """JEM's operations over VERA's."""
        return self.jem_gflop / self.vera_gflop

    def quantities(self) -> dict[str, float | None]:
        times: dict[str, float | None] = {
            "vera_ms": self.timing.yardstick_ms,
            "jem_ms": self.timing.work_ms,
            **_ratio(self.timing),
        }
        return times | {
            "vera_gflop": self.vera_gflop,
            "jem_gflop": self.jem_gflop,
            "work": self.work,
            "paper": self.paper,
        }

    def cells(self) -> list[str]:
        low, high = self.timing.spread
        times = [
            f"{self.timing.yardstick_ms:.0f}",
            f"{self.timing.work_ms:.0f}",
            f"{self.timing.ratio:.2f}",
            f"{low:.2f}–{high:.2f}",
        ]
        work = [f"{self.vera_gflop:.1f}", f"{self.jem_gflop:.1f}", f"{self.work:.2f}"]
        return [self.shape, *times, str(self.timing.rounds), *work, f"{self.paper:g}"]


@dataclass(frozen=True)
class Found:
    """All that was measured."""

    steps: Sequence[StepRow]
    rivals: Sequence[RivalRow]
    memory: Sequence[MemoryRow]

    def numbers(self) -> Iterator[Number]:
        """All of it as numbers to be kept."""
        for step in self.steps:
            yield from numbers_of("step", step.shape, step.method, step.quantities())
        for rival in self.rivals:
            yield from numbers_of("rivals", rival.shape, "", rival.quantities())
        for row in self.memory:
            quantities = {"bytes": row.bytes, "bytes_with_graph": row.bytes_with_graph, "ratio": row.ratio}
            yield from numbers_of("memory", row.shape, row.what, quantities)

    def shapes(self) -> list[str]:
        return [
            *(row.shape for row in self.steps),
            *(row.shape for row in self.rivals),
            *(row.shape for row in self.memory),
        ]


@dataclass(frozen=True)
class Bar:
    """A limit, and what was measured against it."""

    what: str
    limit: float
    measured: float

    @property
    def met(self) -> bool:
        return self.measured <= self.limit

    def __str__(self) -> str:
        return f"{'met    ' if self.met else 'NOT MET'}  {self.what}: {self.measured:.3f}, at most {self.limit:.3f}"


def bars(steps: Sequence[StepRow], memory: Sequence[MemoryRow]) -> list[Bar]:
    """Every bar whose number was measured."""
    judged = [row for row in steps if row.method == "vera" and row.shape in TIME_BARS]
    times = [
        Bar(f"VERA step / its matrix products, {row.shape}", TIME_BARS[row.shape], row.timing.ratio)
        for row in judged
        if row.timing
    ]
    blocks = [row for row in memory if row.what == BLOCK]
    return times + [
        Bar(f"entropy block / the same with a graph, {row.shape}", MEMORY_BAR, row.ratio) for row in blocks
    ]


STEP_HEADER = [
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
]
MEMORY_HEADER = ["shape", "peak memory of", "MB", "with a graph MB", "ratio"]
RIVAL_HEADER = [
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
]


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    """Aligned plain text; the first `left` columns and an untitled last one are flush left, the others flush
    right."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    aligned = [
        "  ".join(
            cell.ljust(width) if i < left or not header[i] else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in [header, *rows]
    ]
    return "\n".join(line.rstrip() for line in aligned)


def document(found: Found, judged: Sequence[Bar], titles: Mapping[str, str]) -> str:
    """The whole page: tables, the shapes in words, the bars."""
    shapes = dict.fromkeys(found.shapes())
    parts = ["\n".join(f"{name}: {titles[name]}" for name in shapes)]
    parts += [table(STEP_HEADER, [row.cells() for row in found.steps], left=2)] if found.steps else []
    parts += [table(RIVAL_HEADER, [row.cells() for row in found.rivals], left=1)] if found.rivals else []
    parts += [table(MEMORY_HEADER, [row.cells() for row in found.memory], left=2)] if found.memory else []
    parts += ["\n".join(map(str, judged))] if judged else []
    return "\n\n".join(parts)


def _ratio(timing: Comparison) -> dict[str, float]:
    low, high = timing.spread
    return {"ratio": timing.ratio, "low": low, "high": high, "rounds": timing.rounds}


def _number(value: float | None, form: str) -> str:
    return BLANK if value is None else format(value, form)

"""Table 10 in short, for results/README.md: what a method ends at, and by nearly the paper's rule beside the
paper's value.

    python -m bench.publishing.table10_summary            write it, between the marks
    python -m bench.publishing.table10_summary --check    write nothing; exit code 1 if it is not what it would be

Loads neither torch nor ray.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.artifact import Value
from bench.judging.cell import Cell
from bench.judging.results import Results
from bench.locations import PUBLISHED
from bench.paper.experiments.mixtures import BEST_OF_EITHER, BEST_PCD, DATASETS, LAMBDAS, LIKELIHOOD
from bench.paper.experiments.toys import vera_label
from bench.paper.tables.table10 import Table10
from bench.publishing.marked_block import written_block
from bench.render.layout import exact, number

PAGE = Path("results/README.md")
SHOWN = ("ML", *map(vera_label, reversed(LAMBDAS)), BEST_PCD)


def lines(folder: str) -> Iterator[str]:
    """A row for each method; in a cell the end, what the paper's rule nearly gives, the paper's value, and of
    how many seeds."""
    sheet = Table10().render(Results.open(folder, "paper", "published"))
    found = {(line["method"], line["dataset"]): line for line in sheet.lines}
    yield from (f"| | {' | '.join(DATASETS)} |", f"|---|{'---|' * len(DATASETS)}")
    for label in SHOWN:
        yield f"| {label} | {' | '.join(_told(found[label, dataset]) for dataset in DATASETS)} |"


def _told(line: Mapping[str, Value]) -> str:
    end, either = line[LIKELIHOOD], line[BEST_OF_EITHER]
    assert isinstance(end, Cell)
    assert isinstance(either, Cell)
    if end.mean is None or either.mean is None:
        return end.reason
    chosen = ", then ".join(re.findall(r"σ=[\d.]+", str(line["remark"])))
    lost = f", {end.diverged} diverged" if end.diverged else ""
    paper = "" if either.paper is None else f" (paper {exact(either.paper)})"
    return f"{_mean(end)}; {_mean(either)}{paper}, n = {end.n}{lost}{f', {chosen}' if chosen else ''}"


def _mean(cell: Cell) -> str:
    assert cell.mean is not None
    return number(cell.mean, 2) + ("" if cell.half_width is None else f" ± {number(cell.half_width, 2)}")


def main(argv: Sequence[str] | None = None) -> int:
    return written_block(argv, "bench.publishing.table10_summary", "table10", PAGE, lambda: lines(PUBLISHED))


if __name__ == "__main__":
    sys.exit(main())

"""Values of a paper beside what was measured here: which cell or setting stands beside which value."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.judging.cell import Cell
from bench.judging.reference import PrintedValue


@dataclass(frozen=True)
class ComparedValue:
    """A value of a paper, by its position in the paper's file, and what stands beside it."""

    number: int
    label: str = ""
    """The label of the trials that measure it; empty if all trials of the artifact do."""
    cell: Cell | None = None
    verdict: str = ""
    """The comparison with something that is no cell, such as a setting."""


def list_compared_cells(
    lines: Sequence[Mapping[str, Any]], labelled_by: str = "method"
) -> Iterator[ComparedValue]:
    """Every cell of these lines that has a value of the paper. If a line has one value in several cells, the
    last one counts. A line is labelled by its cell of this name, else by its first."""
    for line in lines:
        label = str(line.get(labelled_by, next(iter(line.values()), "")))
        found = {
            cell.paper.number: cell
            for cell in line.values()
            if isinstance(cell, Cell) and isinstance(cell.paper, PrintedValue)
        }
        for number, cell in found.items():
            yield ComparedValue(number, label, cell)

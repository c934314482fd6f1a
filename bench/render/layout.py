"""The layout of a sheet for readers, shared by Markdown, LaTeX, the terminal and the report.

A column of cells becomes several printed columns: "mean ± half-width", n, the numbers of diverged and failed
trials, and the paper's value. Difference and verdict are printed at the `paper` profile only; elsewhere the
paper's column says that its numbers are of another setting, so no laptop number is taken for a reproduction.
Printed columns without any text are omitted. If several measured columns count the same trials, the counts
are printed once, after the last of them.

Texts are Unicode with a true minus sign; each format escapes them in its own way. Heading, file name and
notes are made here and not by the artifact, so every table names its profile and explains its marks.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bench.artifact import Column, Drawing, Sheet, Value
from bench.judging.cell import Cell
from bench.locations import DEFAULT_PROFILE
from bench.render.numbers import format_exact, format_fixed, format_interval, format_signed

OTHER_SETTING = "paper (its own setting)"


@dataclass(frozen=True)
class PrintedColumn:
    """One column as it is printed; numeric columns are aligned right."""

    header: str
    texts: tuple[str, ...]
    numeric: bool = True


def lay_out(sheet: Sheet) -> list[PrintedColumn]:
    """The printed columns of a sheet, from left to right."""
    measured = find_measured_columns(sheet)
    shared = len(measured) > 1 and _counts_agree(sheet, measured)
    printed: list[PrintedColumn] = []
    for column in sheet.columns:
        printed.append(_print_values(sheet, column))
        if column in measured:
            suffix = f": {column.header}" if len(measured) > 1 else ""
            printed += [] if shared else _print_counts(sheet, column, suffix)
            printed += _print_reference(sheet, column, suffix)
        if shared and column == measured[-1]:
            printed += _print_counts(sheet, measured[0], "")
    return printed


def find_measured_columns(sheet: Sheet) -> list[Column]:
    """The columns that hold a `Cell` on at least one line."""
    return [column for column in sheet.columns if any(cell is not None for cell in read_cells(sheet, column))]


def read_cells(sheet: Sheet, column: Column) -> list[Cell | None]:
    """The column's cells line by line; None for any other kind of value."""
    values = [line.get(column.key) for line in sheet.lines]
    return [value if isinstance(value, Cell) else None for value in values]


def format_value(value: Value, digits: int) -> str:
    """A value in its own column: mean and interval of a cell, or the reason why it has none."""
    if value is None or isinstance(value, str):
        return value or ""
    if not isinstance(value, Cell):
        return format_fixed(value, digits)
    if value.mean is None:
        return value.reason or "no value"
    return format_interval(value.mean, value.half_width, digits)


def _print_values(sheet: Sheet, column: Column) -> PrintedColumn:
    values = [line.get(column.key) for line in sheet.lines]
    numeric = any(isinstance(value, Cell | float | int) for value in values)
    return PrintedColumn(
        column.header, tuple(format_value(value, column.digits) for value in values), numeric
    )


def _print_counts(sheet: Sheet, column: Column, suffix: str) -> Iterator[PrintedColumn]:
    """n always; diverged, failed and unmeasured trials if there are any."""
    yield _print_cells(sheet, column, f"n{suffix}", lambda cell: str(cell.n))
    counts: dict[str, Callable[[Cell], int]] = {
        "diverged": lambda cell: cell.diverged,
        "failed": lambda cell: cell.failed,
        "not measured": lambda cell: cell.unmeasured,
    }
    for name, count in counts.items():
        texts = _print_cells(sheet, column, f"{name}{suffix}", _share_formatter(count))
        yield from _omit_empty(texts)


def _share_formatter(count: Callable[[Cell], int]) -> Callable[[Cell], str]:
    """Prints "1 of 3"; nothing for a count of zero."""
    return lambda cell: f"{count(cell)} of {cell.total}" if count(cell) else ""


def _print_reference(sheet: Sheet, column: Column, suffix: str) -> Iterator[PrintedColumn]:
    """The paper's value, and at the `paper` profile how ours compares."""
    is_comparable = sheet.profile == "paper"
    name = f"{'paper' if is_comparable else OTHER_SETTING}{suffix}"
    yield from _omit_empty(_print_cells(sheet, column, name, _format_reference))
    if is_comparable:

        def format_difference(cell: Cell) -> str:
            return "" if cell.difference is None else format_signed(cell.difference, column.digits)

        yield from _omit_empty(_print_cells(sheet, column, f"difference{suffix}", format_difference))
        yield from _omit_empty(
            _print_cells(sheet, column, f"verdict{suffix}", lambda cell: cell.verdict or "", numeric=False)
        )


def _format_reference(cell: Cell) -> str:
    return "" if cell.paper is None else format_exact(cell.paper)


def _print_cells(
    sheet: Sheet, column: Column, header: str, format_cell: Callable[[Cell], str], numeric: bool = True
) -> PrintedColumn:
    texts = ("" if cell is None else format_cell(cell) for cell in read_cells(sheet, column))
    return PrintedColumn(header, tuple(texts), numeric)


def _omit_empty(column: PrintedColumn) -> Sequence[PrintedColumn]:
    return [column] if any(column.texts) else []


def _counts_agree(sheet: Sheet, columns: Sequence[Column]) -> bool:
    """Whether every line of the first column has a cell, and all cells of a line have the same counts."""
    first, *others = (
        [cell and (cell.n, cell.diverged, cell.failed, cell.total) for cell in read_cells(sheet, column)]
        for column in columns
    )
    return all(first) and all(
        counts in (None, own) for column in others for counts, own in zip(column, first, strict=True)
    )


def make_file_stem(rendering: Sheet | Drawing) -> str:
    """The name of its files without suffix: table6 at the default profile, table6-paper at another. A
    qualified name such as other/table2 becomes other-table2."""
    name = rendering.name.replace("/", "-")
    return name if rendering.profile == DEFAULT_PROFILE else f"{name}-{rendering.profile}"


def make_heading(rendering: Sheet | Drawing) -> str:
    return f"{rendering.title} ({rendering.profile} profile)"


def collect_notes(sheet: Sheet) -> list[str]:
    """The artifact's own notes, then the meaning of the marks that occur."""
    return [*sheet.notes, *_explain_marks(sheet)]


def _explain_marks(sheet: Sheet) -> Iterator[str]:
    columns = find_measured_columns(sheet)
    cells = [cell for column in columns for cell in read_cells(sheet, column) if cell is not None]
    if any(cell.half_width is not None for cell in cells):
        yield (
            "Mean over n seeds ± half-width of its 95 % interval (Student's t); "
            "a single seed has no interval."
        )
    if sheet.profile != "paper" and any(cell.paper is not None for cell in cells):
        yield (
            "The paper's values are of its own setting and stand here for orientation: "
            f"no number of the {sheet.profile} profile reproduces or contradicts them."
        )
    if sheet.profile == "paper" and any(cell.verdict for cell in cells):
        yield (
            "Verdict: agrees if the paper's value lies where another run of ours would (95 %), "
            "else ours lies above or below it; undetermined with one seed, or where some diverged."
        )

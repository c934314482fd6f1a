"""The layout of a sheet for readers, shared by Markdown, LaTeX, the terminal and the report.

A column of cells is printed as "mean ± half-width". n, the numbers of diverged and failed trials and the
paper's value have one column each, however many measured columns there are. The counts are those of the first
measured column; a cell of another column that rests on other trials names its own. Measured columns that are
compared with different values of the paper have a column of the paper's values each. A count that must equal
the paper's says so in its cell. Details that have no column here are in the CSV file.

Difference and verdict are printed at the `paper` profile only; elsewhere the paper's column says that its
numbers are of another setting, so no laptop number is taken for a reproduction. Printed columns without any
text are omitted.

Texts are Unicode with a true minus sign; each format escapes them in its own way. Heading, file name and
notes are made here and not by the artifact, so every table names its profile and explains its marks.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.artifact import Column, Drawing, Sheet, Value
from bench.judging.cell import Cell
from bench.locations import DEFAULT_PROFILE
from bench.render.numbers import format_exact, format_fixed, format_interval, format_signed

OTHER_SETTING = "paper (its own setting)"
COUNTS: Mapping[str, Callable[[Cell], int]] = {
    "diverged": lambda cell: cell.diverged,
    "failed": lambda cell: cell.failed,
    "not measured": lambda cell: cell.unmeasured,
}
"""Trials without a value, by the reason."""


@dataclass(frozen=True)
class PrintedColumn:
    """One column as it is printed; numeric columns are aligned right."""

    header: str
    texts: tuple[str, ...]
    numeric: bool = True


def lay_out(sheet: Sheet) -> list[PrintedColumn]:
    """The printed columns of a sheet, from left to right."""
    measured = [column for column in find_measured_columns(sheet) if not column.only_in_csv]
    compared = [column for column in measured if any(map(_has_reference, read_cells(sheet, column)))]
    is_one_reference = len(compared) > 1 and _references_agree(sheet, compared)
    printed: list[PrintedColumn] = []
    for column in sheet.columns:
        if column.only_in_csv:
            continue
        printed.append(_print_values(sheet, column, measured[0] if column in measured[1:] else None))
        if measured == [column]:
            printed += _print_counts(sheet, column)
        if column in compared and not is_one_reference:
            printed += _print_reference(sheet, column, len(measured) > 1, with_difference=len(compared) == 1)
        if len(measured) > 1 and column == measured[-1]:
            printed += _print_counts(sheet, measured[0])
            printed += _print_shared_reference(sheet, compared) if is_one_reference else []
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


def _print_values(sheet: Sheet, column: Column, first: Column | None) -> PrintedColumn:
    """The values of a column. If `first` is given, cells that rest on other trials than those of that column
    name their counts."""
    values = [line.get(column.key) for line in sheet.lines]
    numeric = any(isinstance(value, Cell | float | int) for value in values)
    texts = [format_value(value, column.digits) for value in values]
    remarks = [_describe_count(cell) for cell in read_cells(sheet, column)]
    if first is not None:
        pairs = zip(read_cells(sheet, column), read_cells(sheet, first), strict=True)
        others = [_describe_other_trials(cell, own) for cell, own in pairs]
        remarks = list(map("".join, zip(remarks, others, strict=True)))
    return PrintedColumn(column.header, tuple(map("".join, zip(texts, remarks, strict=True))), numeric)


def _describe_count(cell: Cell | None) -> str:
    """How a count compares with the paper's."""
    if cell is None or cell.exact_digits is None or cell.paper is None:
        return ""
    return " (equal)" if cell.verdict == "equal" else f" (paper {format_exact(cell.paper)})"


def _describe_other_trials(cell: Cell | None, first: Cell | None) -> str:
    """The counts of a cell if they are not those of the first cell of its line; a cell without values gives
    them as its reason."""
    if cell is None or not cell.n or (first is not None and _count_trials(cell) == _count_trials(first)):
        return ""
    missing = [f"{name} {count(cell)} of {cell.total}" for name, count in COUNTS.items() if count(cell)]
    return f" ({', '.join([f'n = {cell.n}', *missing])})"


def _count_trials(cell: Cell) -> tuple[int, ...]:
    return cell.n, cell.total, *(count(cell) for count in COUNTS.values())


def _print_counts(sheet: Sheet, column: Column) -> Iterator[PrintedColumn]:
    """n always; diverged, failed and unmeasured trials if there are any."""
    yield _print_cells(sheet, column, "n", lambda cell: str(cell.n))
    for name, count in COUNTS.items():
        yield from _omit_empty(_print_cells(sheet, column, name, _share_formatter(count)))


def _share_formatter(count: Callable[[Cell], int]) -> Callable[[Cell], str]:
    """Prints "1 of 3"; nothing for a count of zero."""
    return lambda cell: f"{count(cell)} of {cell.total}" if count(cell) else ""


def _print_reference(
    sheet: Sheet, column: Column, is_named: bool, with_difference: bool
) -> Iterator[PrintedColumn]:
    """The paper's value, and at the `paper` profile how ours compares."""
    suffix = f": {column.header}" if is_named else ""
    yield _print_cells(sheet, column, f"{_name_reference(sheet)}{suffix}", _format_reference)
    if sheet.profile == "paper" and with_difference:

        def format_difference(cell: Cell) -> str:
            return "" if cell.difference is None else format_signed(cell.difference, column.digits)

        yield from _omit_empty(_print_cells(sheet, column, f"difference{suffix}", format_difference))
    yield from _print_verdicts(sheet, column, suffix)


def _print_shared_reference(sheet: Sheet, compared: Sequence[Column]) -> Iterator[PrintedColumn]:
    """The paper's values, which are the same for all these columns, and the verdict on each column."""
    cells = zip(*(read_cells(sheet, column) for column in compared), strict=True)
    found = [next((cell for cell in line if _has_reference(cell)), None) for line in cells]
    texts = ("" if cell is None else _format_reference(cell) for cell in found)
    yield PrintedColumn(_name_reference(sheet), tuple(texts))
    for column in compared:
        yield from _print_verdicts(sheet, column, f": {column.header}")


def _print_verdicts(sheet: Sheet, column: Column, suffix: str) -> Sequence[PrintedColumn]:
    if sheet.profile != "paper":
        return []
    return _omit_empty(
        _print_cells(sheet, column, f"verdict{suffix}", lambda cell: cell.verdict or "", numeric=False)
    )


def _name_reference(sheet: Sheet) -> str:
    return "paper" if sheet.profile == "paper" else OTHER_SETTING


def _has_reference(cell: Cell | None) -> bool:
    """Whether the paper's value has a column; that of a count stands in the cell."""
    return cell is not None and cell.paper is not None and cell.exact_digits is None


def _references_agree(sheet: Sheet, columns: Sequence[Column]) -> bool:
    """Whether no line has different values of the paper in these columns."""
    lines = zip(*(read_cells(sheet, column) for column in columns), strict=True)
    return all(len({cell.paper for cell in line if cell and cell.paper is not None}) < 2 for line in lines)


def _format_reference(cell: Cell) -> str:
    return "" if cell.paper is None else format_exact(cell.paper)


def _print_cells(
    sheet: Sheet, column: Column, header: str, format_cell: Callable[[Cell], str], numeric: bool = True
) -> PrintedColumn:
    texts = ("" if cell is None else format_cell(cell) for cell in read_cells(sheet, column))
    return PrintedColumn(header, tuple(texts), numeric)


def _omit_empty(column: PrintedColumn) -> Sequence[PrintedColumn]:
    return [column] if any(column.texts) else []


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
    if sheet.profile == "paper" and any(cell.verdict and cell.exact_digits is None for cell in cells):
        yield (
            "Verdict: agrees if the paper's value lies where another run of ours would (95 %), "
            "else ours lies above or below it; undetermined with one seed, or where some diverged."
        )

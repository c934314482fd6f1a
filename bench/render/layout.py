"""A sheet laid out for people: every column as a strip of texts, a `Cell` as several strips side by side.

A cell spreads into "mean ± half-width", n, what became of the lost trials, and the paper's value. Difference
and verdict stand at the `paper` profile only: elsewhere the paper's column says that its numbers are of
another setting, so that nobody takes a laptop's number for a reproduction. A strip that would be empty on
every line is left out. Where several measured columns count the same trials, the counts stand once, after the
last of them.

Texts are in Unicode with a typographic minus; each writer escapes them in its own way.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bench.artifact import Column, Sheet, Value
from bench.judging.cell import Cell

MINUS = "−"
OTHER_SETTING = "paper (its own setting)"


@dataclass(frozen=True)
class Strip:
    """One column as it is printed; numbers are set flush right."""

    header: str
    texts: tuple[str, ...]
    numeric: bool = True


def spread(sheet: Sheet) -> list[Strip]:
    """The strips of all columns, from left to right."""
    measured = measured_columns(sheet)
    shared = len(measured) > 1 and _counts_agree(sheet, measured)
    strips: list[Strip] = []
    for column in sheet.columns:
        strips.append(_main(sheet, column))
        if column in measured:
            suffix = f": {column.header}" if len(measured) > 1 else ""
            strips += [] if shared else _counts(sheet, column, suffix)
            strips += _reference(sheet, column, suffix)
        if shared and column == measured[-1]:
            strips += _counts(sheet, measured[0], "")
    return strips


def measured_columns(sheet: Sheet) -> list[Column]:
    """Those that hold a `Cell` on at least one line."""
    return [column for column in sheet.columns if any(cell is not None for cell in cells_of(sheet, column))]


def cells_of(sheet: Sheet, column: Column) -> list[Cell | None]:
    """The column's cells line by line, None where another kind of value stands."""
    values = [line.get(column.key) for line in sheet.lines]
    return [value if isinstance(value, Cell) else None for value in values]


def number(value: float, digits: int) -> str:
    """With so many digits after the point; what rounds to zero has no sign, what is not finite stays what it
    is."""
    return f"{value:z.{digits}f}".replace("-", MINUS)


def exact(value: float) -> str:
    """All digits that there are and no more: the paper's −791 does not become −791.00."""
    return f"{value:.15g}".replace("-", MINUS)


def shown(value: Value, digits: int) -> str:
    """A value in its own column: for a cell its mean and interval, or the reason why there is none."""
    if value is None or isinstance(value, str):
        return value or ""
    if not isinstance(value, Cell):
        return number(value, digits)
    if value.mean is None:
        return value.reason or "no value"
    mean = number(value.mean, digits)
    return mean if value.half_width is None else f"{mean} ± {number(value.half_width, digits)}"


def _main(sheet: Sheet, column: Column) -> Strip:
    values = [line.get(column.key) for line in sheet.lines]
    numeric = any(isinstance(value, Cell | float | int) for value in values)
    return Strip(column.header, tuple(shown(value, column.digits) for value in values), numeric)


def _counts(sheet: Sheet, column: Column, suffix: str) -> list[Strip]:
    """n always; the lost trials where there are any."""
    return [
        _strip(sheet, column, f"n{suffix}", lambda cell: str(cell.n)),
        *_if_any(_strip(sheet, column, f"diverged{suffix}", lambda cell: _of(cell.diverged, cell.total))),
        *_if_any(_strip(sheet, column, f"failed{suffix}", lambda cell: _of(cell.failed, cell.total))),
        *_if_any(
            _strip(sheet, column, f"not measured{suffix}", lambda cell: _of(cell.unmeasured, cell.total))
        ),
    ]


def _reference(sheet: Sheet, column: Column, suffix: str) -> Iterator[Strip]:
    """The paper's value, and at its own profile how ours compares."""
    comparable = sheet.profile == "paper"
    name = f"{'paper' if comparable else OTHER_SETTING}{suffix}"
    yield from _if_any(
        _strip(sheet, column, name, lambda cell: "" if cell.paper is None else exact(cell.paper))
    )
    if comparable:
        yield from _if_any(
            _strip(sheet, column, f"difference{suffix}", lambda cell: _signed(cell.difference, column.digits))
        )
        yield from _if_any(
            _strip(sheet, column, f"verdict{suffix}", lambda cell: cell.verdict or "", numeric=False)
        )


def _strip(
    sheet: Sheet, column: Column, header: str, text: Callable[[Cell], str], numeric: bool = True
) -> Strip:
    return Strip(
        header, tuple("" if cell is None else text(cell) for cell in cells_of(sheet, column)), numeric
    )


def _if_any(strip: Strip) -> Sequence[Strip]:
    return [strip] if any(strip.texts) else []


def _counts_agree(sheet: Sheet, columns: Sequence[Column]) -> bool:
    """Whether on each line every cell has the counts of the first column's, which is full; then they are
    printed once."""
    first, *others = (
        [cell and (cell.n, cell.diverged, cell.failed, cell.total) for cell in cells_of(sheet, c)]
        for c in columns
    )
    return all(first) and all(
        entry in (None, own) for column in others for entry, own in zip(column, first, strict=True)
    )


def _of(count: int, total: int) -> str:
    return f"{count} of {total}" if count else ""


def _signed(value: float | None, digits: int) -> str:
    if value is None:
        return ""
    text = number(value, digits)
    return f"+{text}" if value > 0 and float(f"{value:.{digits}f}") else text

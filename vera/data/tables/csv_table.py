"""A user's table as a csv file: commas, a header, numbers, and one column of classes (text or whole numbers).

Classes are sorted as numbers if all of them are whole numbers, otherwise as text. Trap: Python accepts
float("1_000"), which is most likely a typing error. Such a cell raises an error with its column and line,
like an empty cell.
"""

import csv
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from vera.data.tables.user_table import (
    ParsedColumns,
    UserTable,
    check_column_names,
    find_label_column,
)
from vera.errors import DataCorrupt
from vera.spec.registry import datasets
from vera.wording import plural

SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


@datasets.register("csv")
class CSVTable(UserTable):
    """Your own table: a csv file with a header, numbers, and a column of classes."""

    form = "csv"

    @classmethod
    def read(cls, path: Path, label: str) -> ParsedColumns:
        return read_csv(path, label)


def read_csv(path: Path, label: str | None) -> ParsedColumns:
    """The columns of a csv file. Without a label all of them are features, and there are no classes."""
    rows = _read_rows(path)
    header = [name.strip() for name in next(rows, (0, []))[1]]
    at = None if label is None else find_label_column(header, label, path)
    if at is None:
        _check_header(header, path)
    names = [name for i, name in enumerate(header) if i != at]
    values, labels, lines = array("d"), [], array("q")
    for line, cells in rows:
        if len(cells) != len(header):
            found = plural(len(cells), "value")
            raise DataCorrupt(f"{path}, line {line}, has {found}; the header has {len(header)} columns.")
        if at is not None:
            labels.append(cells.pop(at).strip())
            if not labels[-1]:
                raise DataCorrupt(f"{path}, column '{label}', line {line}: the class is missing.")
        values.extend(_parse_numbers(cells, names, path, line, label is not None))
        lines.append(line)
    x = np.array(values, np.float64).reshape(len(lines), len(names))
    if label is not None:
        _refuse_real_labels(labels, lines, label, path)
    return ParsedColumns(names, x, _parse_integers(labels) or labels, lambda row: f"line {lines[row]}")


def _check_header(header: list[str], path: Path) -> None:
    """Raise `DataCorrupt` if the first row does not name the columns."""
    check_column_names(header, path)
    if all(map(_is_number, header)):
        raise DataCorrupt(
            f"{path} has numbers in its first row ({', '.join(header[:3])}). The first row must name the "
            "columns: add one such as x0,x1."
        )


def _read_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with their line numbers; empty lines are skipped."""
    first_line = 1
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            _check_separator(file.readline(), path)
            file.seek(0)
            reader = csv.reader(file, strict=True)
            for cells in reader:
                first_line = reader.line_num + 1
                if cells:
                    yield reader.line_num, cells
    except OSError as error:
        raise DataCorrupt(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        remedy = f"Convert it to UTF-8, for example: iconv -f latin1 -t utf-8 {path.name}"
        raise DataCorrupt(
            f"{path} is not a csv file in UTF-8 "
            f"(line {_find_undecodable_line(path)}: {error.reason}). {remedy}"
        ) from error
    except csv.Error as error:
        remedy = "Close every quote; double a quote inside a quoted cell."
        raise DataCorrupt(
            f"{path} is not a csv file (the row that begins in line {first_line}: {error}). {remedy}"
        ) from error


def _find_undecodable_line(path: Path) -> int:
    """Return the line of the first byte that is not UTF-8."""
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode()
            except UnicodeDecodeError:
                return number
    return 1


def _check_separator(header: str, path: Path) -> None:
    """Raise `DataCorrupt` if the header has another separator and no comma; a table has at least two
    columns."""
    other = next((name for mark, name in SEPARATORS.items() if mark in header), None)
    if other and "," not in header:
        raise DataCorrupt(f"{path} separates its columns with {other}. Write the file with commas.")


def _parse_numbers(cells: list[str], names: list[str], path: Path, line: int, has_label: bool) -> list[float]:
    try:
        return [_parse_number(cell) for cell in cells]
    except ValueError:
        name, cell = next(
            (name, cell) for name, cell in zip(names, cells, strict=True) if not _is_number(cell)
        )
        hint = "" if has_label else f" If it holds the class: --label {name}, in Python label='{name}'."
        raise DataCorrupt(
            f"{path}, column '{name}', line {line}: {cell!r} is not a number. Fill in missing values, encode "
            f"text or drop the column.{hint}"
        ) from None


def _parse_number(cell: str) -> float:
    if "_" in cell:
        raise ValueError(cell)
    return float(cell)


def _is_number(cell: str) -> bool:
    try:
        _parse_number(cell)
    except ValueError:
        return False
    return True


def _refuse_real_labels(labels: list[str], lines: Sequence[int], label: str, path: Path) -> None:
    """Raise `DataCorrupt` for real numbers: they are measurements, and each value would be its own class."""
    if not all(map(_is_number, labels)):
        return
    for text, line in zip(labels, lines, strict=True):
        if not _parse_number(text).is_integer():
            raise DataCorrupt(
                f"{path}, column '{label}', line {line}: {text!r} is not a whole number; classes must be "
                "text or whole numbers. Choose another column, or group its values into classes first."
            )


def _parse_integers(labels: list[str]) -> list[int] | None:
    """Return the classes as whole numbers if all are written as such, else None."""
    try:
        numbers = [int(label) for label in labels]
    except ValueError:
        return None
    return numbers if [str(number) for number in numbers] == labels else None

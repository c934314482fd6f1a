"""A user's own table as a csv file: commas, a header, numbers, and one column of classes, text or whole
numbers.

Classes that are all whole numbers are sorted as numbers, any others as text. Trap: float("1_000") is a number
to Python and a typing error to everybody else; it is refused, as an empty cell is, by column and line.
"""

import csv
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from vera.data.files.locations import DataDir
from vera.data.tables.user_table import (
    File,
    Label,
    LabelsPerClass,
    ParsedColumns,
    Share,
    Standardise,
    UserTable,
    find_label_column,
)
from vera.errors import DataCorrupt
from vera.spec.registry import datasets
from vera.spec.settings import validated

SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


@datasets.register("csv")
class CSVTable(UserTable):
    """Your own table: a csv file with a header, numbers, and a column of classes."""

    form = "csv"

    @validated
    def __init__(
        self,
        file: File,
        label: Label,
        data_dir: DataDir = None,
        labels_per_class: LabelsPerClass = 10,
        held_out: Share = 0.1,
        standardise: Standardise = True,
    ) -> None:
        super().__init__(file, label, data_dir, labels_per_class, held_out, standardise)

    @classmethod
    def read(cls, path: Path, label: str) -> ParsedColumns:
        rows = _rows(path)
        header = [name.strip() for name in next(rows, (0, []))[1]]
        at = find_label_column(header, label, path)
        names = header[:at] + header[at + 1 :]
        values, labels, lines = array("d"), [], array("q")
        for line, cells in rows:
            if len(cells) != len(header):
                raise DataCorrupt(
                    f"{path}, line {line}, has {len(cells)} values; the header has {len(header)}."
                )
            labels.append(cells.pop(at).strip())
            if not labels[-1]:
                raise DataCorrupt(f"{path}, column '{label}', line {line}: the class is missing.")
            values.extend(_parse_numbers(cells, names, path, line))
            lines.append(line)
        x = np.array(values, np.float64).reshape(len(lines), len(names))
        _refuse_real_labels(labels, lines, label, path)
        return ParsedColumns(names, x, _parse_integers(labels) or labels, lambda row: f"line {lines[row]}")


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Rows with the number of their line; empty lines are passed over."""
    begins = 1
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            _check_separator(file.readline(), path)
            file.seek(0)
            reader = csv.reader(file, strict=True)
            for cells in reader:
                begins = reader.line_num + 1
                if cells:
                    yield reader.line_num, cells
    except OSError as error:
        raise DataCorrupt(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        way = f"Write it anew in UTF-8, for example: iconv -f latin1 -t utf-8 {path.name}"
        raise DataCorrupt(
            f"{path} is not a csv file in UTF-8 (line {_find_undecodable_line(path)}: {error.reason}). {way}"
        ) from error
    except csv.Error as error:
        way = "Close every quote; one inside a quoted cell is written twice."
        raise DataCorrupt(
            f"{path} is not a csv file (the row that begins in line {begins}: {error}). {way}"
        ) from error


def _find_undecodable_line(path: Path) -> int:
    """The line that holds the first byte which is no text."""
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode()
            except UnicodeDecodeError:
                return number
    return 1


def _check_separator(header: str, path: Path) -> None:
    """A table has two columns at least, so its header has a comma."""
    other = next((name for mark, name in SEPARATORS.items() if mark in header), None)
    if other and "," not in header:
        raise DataCorrupt(
            f"{path} has {other} between its columns, and a csv file is read with commas: write it with those."
        )


def _parse_numbers(cells: list[str], names: list[str], path: Path, line: int) -> list[float]:
    try:
        return [_parse_number(cell) for cell in cells]
    except ValueError:
        name, cell = next(
            (name, cell) for name, cell in zip(names, cells, strict=True) if not _is_number(cell)
        )
        raise DataCorrupt(
            f"{path}, column '{name}', line {line}: {cell!r} is not a number. Every column but the class must be numbers: "
            "fill in what is missing, encode text, or leave the column out."
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
    """A column of real numbers is a measurement: each value would be a class of its own."""
    if not all(map(_is_number, labels)):
        return
    for text, line in zip(labels, lines, strict=True):
        if not _parse_number(text).is_integer():
            raise DataCorrupt(
                f"{path}, column '{label}', line {line}: {text!r} is not a whole number; classes must be text or whole numbers. "
                "Name another column, or sort its values into classes first."
            )


def _parse_integers(labels: list[str]) -> list[int] | None:
    """The classes as whole numbers, if each is spelled as one."""
    try:
        numbers = [int(label) for label in labels]
    except ValueError:
        return None
    return numbers if [str(number) for number in numbers] == labels else None

"""A sheet as CSV: raw numbers at full precision, one line a line, for whoever computes further.

A measured column `key` spreads into key (the mean), key_half_width, key_n, key_trials and so on, always all
of them. The profile stands on every line. Difference and verdict are filled at the `paper` profile only, as
in every other format.
"""

import csv
import io

from bench.artifact import Column, Sheet, Value
from bench.judging.cell import Cell
from bench.render.layout import MINUS, measured_columns

Field = float | int | str | None
DETAILS = ("half_width", "n", "trials", "diverged", "failed", "paper", "difference", "verdict", "reason")


def csv_text(sheet: Sheet) -> str:
    measured = measured_columns(sheet)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["profile", *(name for column in sheet.columns for name in _names(column, column in measured))]
    )
    for line in sheet.lines:
        fields = [_fields(line.get(column.key), column in measured, sheet) for column in sheet.columns]
        writer.writerow([sheet.profile, *(field for group in fields for field in group)])
    return out.getvalue()


def _names(column: Column, measured: bool) -> list[str]:
    return [column.key, *(f"{column.key}_{detail}" for detail in DETAILS if measured)]


def _fields(value: Value, measured: bool, sheet: Sheet) -> list[Field]:
    if isinstance(value, Cell):
        return _cell(value, sheet.profile == "paper")
    plain = value.replace(MINUS, "-") if isinstance(value, str) else value
    if not measured:
        return [plain]
    empty: list[Field] = [None] * (len(DETAILS) - 1)
    return [None, *empty, plain] if isinstance(plain, str) else [plain, *empty, None]


def _cell(cell: Cell, comparable: bool) -> list[Field]:
    compared = [cell.difference, cell.verdict] if comparable else [None, None]
    counts = [cell.n, cell.total, cell.diverged, cell.failed]
    return [cell.mean, cell.half_width, *counts, cell.paper, *compared, cell.reason]

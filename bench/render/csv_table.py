"""A sheet as CSV: raw numbers at full precision, one CSV line per line of the sheet.

A measured column `key` becomes the columns key (the mean), key_half_width, key_n, key_trials and so on,
always all of them. Every line names the profile. Difference and verdict are filled at the `paper` profile
only, as in every other format.
"""

import csv
import io

from bench.artifact import Column, Sheet, Value
from bench.judging.cell import Cell
from bench.render.layout import find_measured_columns
from bench.render.numbers import set_hyphen

CsvValue = float | int | str | None
DETAILS = ("half_width", "n", "trials", "diverged", "failed", "paper", "difference", "verdict", "reason")


def render_csv(sheet: Sheet) -> str:
    measured = find_measured_columns(sheet)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [name for column in sheet.columns for name in _name_columns(column, column in measured)]
    writer.writerow(["profile", *names])
    for line in sheet.lines:
        groups = [_spread_value(line.get(column.key), column in measured, sheet) for column in sheet.columns]
        writer.writerow([sheet.profile, *(value for group in groups for value in group)])
    return out.getvalue()


def _name_columns(column: Column, is_measured: bool) -> list[str]:
    return [column.key, *(f"{column.key}_{detail}" for detail in DETAILS if is_measured)]


def _spread_value(value: Value, is_measured: bool, sheet: Sheet) -> list[CsvValue]:
    if isinstance(value, Cell):
        return _spread_cell(value, sheet.profile == "paper")
    plain = set_hyphen(value) if isinstance(value, str) else value
    if not is_measured:
        return [plain]
    empty: list[CsvValue] = [None] * (len(DETAILS) - 1)
    return [None, *empty, plain] if isinstance(plain, str) else [plain, *empty, None]


def _spread_cell(cell: Cell, is_comparable: bool) -> list[CsvValue]:
    compared = [cell.difference, cell.verdict] if is_comparable else [None, None]
    counts = [cell.n, cell.total, cell.diverged, cell.failed]
    return [cell.mean, cell.half_width, *counts, cell.paper, *compared, cell.reason]

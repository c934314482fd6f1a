"""A sheet as cells of an HTML table, with the columns of `bench.render.layout` as in every other format."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench.artifact import Sheet
from bench.render.headings import make_heading
from bench.render.layout import PrintedColumn, lay_out


@dataclass(frozen=True)
class HtmlCell:
    text: str
    style: str = ""
    """The CSS class."""


@dataclass(frozen=True)
class HtmlTable:
    label: str
    headers: Sequence[HtmlCell]
    lines: Sequence[Sequence[HtmlCell]]
    """The first cell names its line."""


def build_table(sheet: Sheet) -> HtmlTable:
    columns = lay_out(sheet)
    headers = [HtmlCell(column.header, _choose_style(column)) for column in columns]
    names = [[HtmlCell(text, _choose_style(column)) for text in column.texts] for column in columns[:1]]
    values = [[_build_cell(column, i) for i in range(len(sheet.lines))] for column in columns[1:]]
    lines = list(zip(*names, *values, strict=True))
    return HtmlTable(make_heading(sheet), headers, lines)


def _build_cell(column: PrintedColumn, line: int) -> HtmlCell:
    """A word in a numeric column is the reason for a missing number."""
    text = column.texts[line]
    is_reason = column.numeric and text[:1].isalpha()
    return HtmlCell(text, "reason" if is_reason else _choose_style(column))


def _choose_style(column: PrintedColumn) -> str:
    return "number" if column.numeric else ""

"""Prints a sheet to the terminal; plain text without colour or wrapping if the output is not a terminal.

Trap: rich truncates or drops what does not fit, and a truncated number is a different number. Column widths
are therefore computed here: in a narrow terminal only words are wrapped, and a table whose numbers need more
room than the terminal has is printed at full width.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import IO

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.artifact import Sheet
from bench.render.layout import PrintedColumn, collect_notes, lay_out, make_heading
from vera.wording import make_printable

UNLIMITED = 10_000
GAP = 3
"""Characters between two columns of the box style."""


def print_sheet(sheet: Sheet, file: IO[str] | None = None) -> None:
    """Print to standard output, or to the file."""
    console = Console(file=file, highlight=False, markup=False, emoji=False)
    screen = console.width if console.is_terminal else UNLIMITED
    table = _build_table([_make_column_printable(column) for column in lay_out(sheet)], screen)
    below = [Text(make_printable(text)) for text in (sheet.caption, *collect_notes(sheet))]
    for block in (Text(make_printable(make_heading(sheet)), style="bold"), "", table, "", *below):
        console.width = UNLIMITED if block is table else screen
        console.print(block)


def _make_column_printable(column: PrintedColumn) -> PrintedColumn:
    """Rows hold texts of any origin; rich prints their escape sequences as they are."""
    texts = tuple(map(make_printable, column.texts))
    return replace(column, header=make_printable(column.header), texts=texts)


def _build_table(columns: Sequence[PrintedColumn], screen: int) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column, width in zip(columns, _fit_widths(columns, screen), strict=True):
        table.add_column(Text(column.header), justify="right" if column.numeric else "left", width=width)
    for line in zip(*(column.texts for column in columns), strict=True):
        table.add_row(*map(Text, line))
    return table


def _fit_widths(columns: Sequence[PrintedColumn], screen: int) -> list[int]:
    """The width of each column's widest text. If the sum exceeds the screen, headers and columns of words are
    narrowed, the widest first, down to their longest word."""
    widths = [max([1, *map(cell_len, (column.header, *column.texts))]) for column in columns]
    excess = sum(widths) + GAP * (len(columns) - 1) - screen
    for i in sorted(range(len(columns)), key=widths.__getitem__, reverse=True):
        unbroken = columns[i].texts if columns[i].numeric else ()
        words = [word for text in (columns[i].header, *columns[i].texts) for word in text.split()]
        spare = widths[i] - max([1, *map(cell_len, (*words, *unbroken))])
        cut = max(0, min(excess, spare))
        widths[i], excess = widths[i] - cut, excess - cut
    return widths

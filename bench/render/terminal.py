"""A sheet at the prompt. Where the output is no terminal it is plain text: no colour, no wrapping.

The trap: rich shortens or drops what does not fit, and a shortened number is another number. So widths are
decided here: in a narrow terminal only words are wrapped, and a table whose numbers need more room than there
is gets it all the same.
"""

from collections.abc import Sequence
from typing import IO

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.artifact import Sheet
from bench.render.headings import heading, notes
from bench.render.layout import Strip, spread

UNLIMITED = 10_000
GAP = 3
"""Between two columns of the box that is used."""


def print_sheet(sheet: Sheet, file: IO[str] | None = None) -> None:
    """To standard output, or to the file."""
    console = Console(file=file, highlight=False, markup=False, emoji=False)
    screen = console.width if console.is_terminal else UNLIMITED
    table, below = _table(spread(sheet), screen), [Text(text) for text in (sheet.caption, *notes(sheet))]
    for part in (Text(heading(sheet), style="bold"), "", table, "", *below):
        console.width = UNLIMITED if part is table else screen
        console.print(part)


def _table(strips: Sequence[Strip], screen: int) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for strip, width in zip(strips, _widths(strips, screen), strict=True):
        table.add_column(Text(strip.header), justify="right" if strip.numeric else "left", width=width)
    for line in zip(*(strip.texts for strip in strips), strict=True):
        table.add_row(*map(Text, line))
    return table


def _widths(strips: Sequence[Strip], screen: int) -> list[int]:
    """As wide as its widest text; where that is too much in all, headers and columns of words give way, down
    to the longest."""
    widths = [max([1, *map(cell_len, (strip.header, *strip.texts))]) for strip in strips]
    excess = sum(widths) + GAP * (len(strips) - 1) - screen
    for i in sorted(range(len(strips)), key=widths.__getitem__, reverse=True):
        whole = strips[i].texts if strips[i].numeric else ()
        words = [word for text in (strips[i].header, *strips[i].texts) for word in text.split()]
        spare = widths[i] - max([1, *map(cell_len, (*words, *whole))])
        cut = max(0, min(excess, spare))
        widths[i], excess = widths[i] - cut, excess - cut
    return widths

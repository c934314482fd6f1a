"""A sheet as GitHub Markdown, padded so that it also reads well as plain text."""

import re

from bench.artifact import Sheet
from bench.render.layout import PrintedColumn, collect_notes, lay_out, make_heading

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~$&])")


def render_markdown(sheet: Sheet) -> str:
    columns = [_pad_column(column) for column in lay_out(sheet)]
    table = [f"| {' | '.join(line)} |" for line in zip(*columns, strict=True)]
    notes = [f"- {escape_markdown(note)}" for note in collect_notes(sheet)]
    heading, caption = escape_markdown(make_heading(sheet)), escape_markdown(sheet.caption)
    return "\n".join([f"# {heading}", "", *table, "", caption, "", *notes]).rstrip() + "\n"


def escape_markdown(text: str) -> str:
    """The text on one line, with every character that Markdown reads as markup escaped."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _pad_column(column: PrintedColumn) -> list[str]:
    """Header, rule and texts, all of one width."""
    header, *texts = (escape_markdown(text) for text in (column.header, *column.texts))
    width = max(3, *map(len, (header, *texts)))
    rule = "-" * (width - 1) + (":" if column.numeric else "-")
    padded = [text.rjust(width) if column.numeric else text.ljust(width) for text in (header, *texts)]
    return [padded[0], rule, *padded[1:]]

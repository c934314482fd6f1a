"""A sheet as GitHub's Markdown, padded so that it also reads well as plain text."""

import re

from bench.artifact import Sheet
from bench.render.headings import heading, notes
from bench.render.layout import Strip, spread

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~$&])")


def markdown(sheet: Sheet) -> str:
    columns = [_column(strip) for strip in spread(sheet)]
    table = [f"| {' | '.join(line)} |" for line in zip(*columns, strict=True)]
    below = [f"- {escaped(note)}" for note in notes(sheet)]
    return (
        "\n".join(
            [f"# {escaped(heading(sheet))}", "", *table, "", escaped(sheet.caption), "", *below]
        ).rstrip()
        + "\n"
    )


def escaped(text: str) -> str:
    """On one line, with every character that Markdown would take for markup shown as itself."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _column(strip: Strip) -> list[str]:
    """Header, rule and texts, all of one width."""
    header, *texts = (escaped(text) for text in (strip.header, *strip.texts))
    width = max(3, *map(len, (header, *texts)))
    rule = "-" * (width - 1) + (":" if strip.numeric else "-")
    padded = [text.rjust(width) if strip.numeric else text.ljust(width) for text in (header, *texts)]
    return [padded[0], rule, *padded[1:]]

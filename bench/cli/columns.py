"""Text in columns, for lists that a verb prints."""

from collections.abc import Sequence

GAP = "  "


def format_columns(lines: Sequence[Sequence[str]]) -> list[str]:
    """One text per line. Every column is as wide as its widest text; the first line may be a header."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        GAP.join(f"{text:{width}}" for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]

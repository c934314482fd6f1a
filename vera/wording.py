"""Words for messages."""

import re

SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\r(?=\n)")
"""Complete escape sequences of a terminal, such as colours and titles, and the first half of a line end."""
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters except tab and line feed, characters that change the direction of text or end a line,
and bytes that were not text."""
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def make_printable(text: str) -> str:
    """The text without escape sequences, and with other control characters replaced."""
    if text.isascii() and text.isprintable():
        return text
    return CONTROL.sub(REPLACEMENT, SEQUENCE.sub("", text))


def plural(count: int, noun: str) -> str:
    """The count with its noun: "1 trial", "1,000 trials"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def format_bytes(size: float) -> str:
    """A size with two or three digits: "820 bytes", "3.4 kB", "14 MB"."""
    if size < 1000:
        return f"{size:.0f} bytes"
    unit = "kB" if size < 999.5e3 else "MB" if size < 999.5e6 else "GB"
    value = size / {"kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]
    return f"{value:.1f} {unit}" if value < 9.95 else f"{value:,.0f} {unit}"

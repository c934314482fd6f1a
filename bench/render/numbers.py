"""How numbers are printed, in every table, figure, claim and page.

Texts carry the true minus sign (U+2212) and not the hyphen, and a dash where nothing was measured. Values
that are not finite are printed as they are (inf, nan).
"""

MINUS = "−"
NOT_MEASURED = "—"
SIGNIFICANT = 4
"""Significant digits, unless a caller names another number."""


def set_minus(text: str) -> str:
    """The text of a number with the true minus sign."""
    return text.replace("-", MINUS)


def set_hyphen(text: str) -> str:
    """The text with hyphens for minus signs, as programs read it."""
    return text.replace(MINUS, "-")


def format_fixed(value: float, digits: int, separator: str = "") -> str:
    """The value with this many digits after the point; what rounds to zero has no sign.

    `separator` goes between groups of thousands.
    """
    return set_minus(f"{value:z{separator}.{digits}f}")


def format_signed(value: float, digits: int) -> str:
    """As `format_fixed`, with a plus sign if the rounded value is positive."""
    text = format_fixed(value, digits)
    return f"+{text}" if value > 0 and float(f"{value:.{digits}f}") else text


def format_interval(mean: float, half_width: float | None, digits: int) -> str:
    """Mean ± half-width of its interval; the mean alone if there is no interval."""
    text = format_fixed(mean, digits)
    return text if half_width is None else f"{text} ± {format_fixed(half_width, digits)}"


def format_significant(value: float | None, digits: int = SIGNIFICANT) -> str:
    """The value with this many significant digits; a dash for None."""
    return NOT_MEASURED if value is None else set_minus(f"{value:.{digits}g}")


def format_exact(value: float) -> str:
    """All digits of a value that was typed in: the paper's −791 does not become −791.00."""
    return set_minus(f"{value:.15g}")


def format_stored(value: object) -> str:
    """A stored value at full precision: the shortest text that reads back as the same number."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return set_minus(repr(value)) if is_number else str(value)

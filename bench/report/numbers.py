"""Numbers in words for people: a true minus sign, and a dash where nothing was measured."""

from bench.render.layout import MINUS

BLANK = "—"


def number(value: float | None) -> str:
    """With four digits that matter."""
    return BLANK if value is None else f"{value:.4g}".replace("-", MINUS)


def exact(value: object) -> str:
    """As stored: the shortest text that gives a number back."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return repr(value).replace("-", MINUS) if is_number else str(value)


def short_commit(commit: str, dirty: bool) -> str:
    return (commit[:10] or "unknown") + (" (changed)" if dirty else "")

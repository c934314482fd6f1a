"""What the values of flags must be, as argparse asks for it: a text becomes a value, or one line says the
whole rule."""

import argparse
import math
import re
from collections.abc import Callable

TINY = math.ulp(0.0)
"""The least number above 0."""
MOST_SEEDS = 10_000
"""A plan lists a trial for each; beyond this nobody meant it."""


def above_0(text: str) -> float:
    return _number(text, "a number above 0", TINY)


def seconds(text: str) -> float:
    return _number(text, "seconds, a number from 0 on")


def some_seconds(text: str) -> float:
    return _number(text, "seconds, a number above 0", TINY)


def gpus(text: str) -> float | str:
    return text if text == "auto" else _number(text, "a number from 0 on, or auto")


WHOLE = re.compile(r"[+-]?\d+")


def whole(text: str) -> int:
    if not WHOLE.fullmatch(text):
        raise argparse.ArgumentTypeError(f"must be a whole number, got '{text}'")
    return int(text)


def at_least(least: int) -> Callable[[str], int]:
    def count(text: str) -> int:
        value = int(text) if WHOLE.fullmatch(text) else least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"must be a whole number, at least {least}, got '{text}'")
        return value

    return count


def seeds(text: str) -> int:
    value = at_least(1)(text)
    if value > MOST_SEEDS:
        raise argparse.ArgumentTypeError(f"must be at most {MOST_SEEDS:,}, got '{text}'")
    return value


def _number(text: str, rule: str, least: float = 0.0) -> float:
    """From `least` on."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not least <= value < math.inf:
        raise argparse.ArgumentTypeError(f"must be {rule}, got '{text}'")
    return value

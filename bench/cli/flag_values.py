"""Types of flag values for argparse. A value that is refused is answered with the whole rule in one line."""

import argparse
import math
import re
from collections.abc import Callable

SMALLEST = math.ulp(0.0)
"""The smallest number above 0."""
MAX_SEEDS = 10_000
"""A plan lists a trial for each seed; more than this is a typing error."""
WHOLE = re.compile(r"[+-]?\d+")


def parse_positive(text: str) -> float:
    return _parse_number(text, "a number above 0", SMALLEST)


def parse_seconds(text: str) -> float:
    return _parse_number(text, "seconds, at least 0")


def parse_positive_seconds(text: str) -> float:
    return _parse_number(text, "seconds, above 0", SMALLEST)


def parse_gpus(text: str) -> float | str:
    return text if text == "auto" else _parse_number(text, "a number, at least 0, or auto")


def parse_whole(text: str) -> int:
    if not WHOLE.fullmatch(text):
        raise argparse.ArgumentTypeError(f"must be a whole number, got '{text}'")
    return int(text)


def at_least(least: int) -> Callable[[str], int]:
    """A parser of whole numbers from `least` on."""

    def parse_count(text: str) -> int:
        value = int(text) if WHOLE.fullmatch(text) else least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"must be a whole number, at least {least}, got '{text}'")
        return value

    return parse_count


def parse_seeds(text: str) -> int:
    value = at_least(1)(text)
    if value > MAX_SEEDS:
        raise argparse.ArgumentTypeError(f"must be at most {MAX_SEEDS:,}, got '{text}'")
    return value


def _parse_number(text: str, rule: str, least: float = 0.0) -> float:
    """A finite number, at least `least`."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not least <= value < math.inf:
        raise argparse.ArgumentTypeError(f"must be {rule}, got '{text}'")
    return value

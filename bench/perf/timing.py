"""Two pieces of work timed against each other: A B A B ..., in rounds, and the median of the rounds' ratios.

Trap: on a machine that does other things too, two timings taken one after the other can differ by more than
what is measured. A round puts both next to each other, so that what slows one slows the other, and only
ratios within a round are used.
"""

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

Work = Callable[[], object]
ROUND_SECONDS = 0.05
"""How long each side of a round runs at least: long against the clock and the scheduler."""


@dataclass(frozen=True)
class Comparison:
    """Medians over the rounds, and the quartiles of the ratio as its spread."""

    work_ms: float
    yardstick_ms: float
    ratio: float
    spread: tuple[float, float]
    rounds: int


def compare(work: Work, yardstick: Work, seconds: float, min_rounds: int) -> Comparison:
    """`work` against `yardstick` for about `seconds`, in at least `min_rounds` rounds; both should be
    warm."""
    repeats = [_repeats(side) for side in (work, yardstick)]
    pairs: list[tuple[float, float]] = []
    started = time.perf_counter()
    while len(pairs) < min_rounds or time.perf_counter() - started < seconds:
        pairs.append((_milliseconds(work, repeats[0]), _milliseconds(yardstick, repeats[1])))
    ratios = [a / b for a, b in pairs]
    medians = [statistics.median(times) for times in zip(*pairs, strict=True)]
    return Comparison(medians[0], medians[1], statistics.median(ratios), quartiles(ratios), len(pairs))


def solo(work: Work, seconds: float, min_rounds: int) -> tuple[float, int]:
    """(median milliseconds, rounds) of work that has nothing to be compared with."""
    repeats = _repeats(work)
    times: list[float] = []
    started = time.perf_counter()
    while len(times) < min_rounds or time.perf_counter() - started < seconds:
        times.append(_milliseconds(work, repeats))
    return statistics.median(times), len(times)


def quartiles(values: list[float]) -> tuple[float, float]:
    if len(values) == 1:
        return values[0], values[0]
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    return first, third


def _repeats(work: Work) -> int:
    return max(1, math.ceil(ROUND_SECONDS * 1000 / _milliseconds(work, 1)))


def _milliseconds(work: Work, repeats: int) -> float:
    """The mean over `repeats` runs in a row."""
    started = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - started) * 1000 / repeats

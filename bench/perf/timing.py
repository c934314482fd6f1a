"""Two pieces of work timed alternately, A B A B ..., and the median ratio of the rounds.

Trap: on a busy machine, two timings taken one after the other can differ by more than the effect. Within a
round both run next to each other, so a slowdown affects both, and only ratios within a round are used.
"""

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

Work = Callable[[], object]
ROUND_SECONDS = 0.05
"""Minimum time of each side of a round: long compared with the clock and the scheduler."""


@dataclass(frozen=True)
class TimeComparison:
    """Medians over the rounds; `spread` holds the quartiles of the ratio."""

    work_ms: float
    yardstick_ms: float
    ratio: float
    spread: tuple[float, float]
    rounds: int


def compare(work: Work, yardstick: Work, seconds: float, min_rounds: int) -> TimeComparison:
    """Time `work` against `yardstick` for about `seconds` and at least `min_rounds` rounds. Both should be
    warm."""
    pairs = _time_rounds((work, yardstick), seconds, min_rounds)
    ratios = [a / b for a, b in pairs]
    medians = [statistics.median(times) for times in zip(*pairs, strict=True)]
    return TimeComparison(
        medians[0], medians[1], statistics.median(ratios), compute_quartiles(ratios), len(pairs)
    )


def time_alone(work: Work, seconds: float, min_rounds: int) -> float:
    """Median milliseconds of work without a yardstick."""
    return statistics.median(ms for (ms,) in _time_rounds((work,), seconds, min_rounds))


def compute_quartiles(values: list[float]) -> tuple[float, float]:
    """The first and third quartile."""
    if len(values) == 1:
        return values[0], values[0]
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    return first, third


def _time_rounds(works: tuple[Work, ...], seconds: float, min_rounds: int) -> list[tuple[float, ...]]:
    """Milliseconds of each piece of work, by round."""
    repeats = [max(1, math.ceil(ROUND_SECONDS * 1000 / _time_runs(work, 1))) for work in works]
    rounds: list[tuple[float, ...]] = []
    started = time.perf_counter()
    while len(rounds) < min_rounds or time.perf_counter() - started < seconds:
        rounds.append(tuple(_time_runs(work, count) for work, count in zip(works, repeats, strict=True)))
    return rounds


def _time_runs(work: Work, repeats: int) -> float:
    """Mean milliseconds over `repeats` consecutive runs."""
    started = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - started) * 1000 / repeats

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
    repeats = [_choose_repeats(side) for side in (work, yardstick)]
    pairs: list[tuple[float, float]] = []
    started = time.perf_counter()
    while len(pairs) < min_rounds or time.perf_counter() - started < seconds:
        pairs.append((_time_runs(work, repeats[0]), _time_runs(yardstick, repeats[1])))
    ratios = [a / b for a, b in pairs]
    medians = [statistics.median(times) for times in zip(*pairs, strict=True)]
    return TimeComparison(
        medians[0], medians[1], statistics.median(ratios), compute_quartiles(ratios), len(pairs)
    )


def time_alone(work: Work, seconds: float, min_rounds: int) -> tuple[float, int]:
    """(median milliseconds, rounds) of work without a yardstick."""
    repeats = _choose_repeats(work)
    times: list[float] = []
    started = time.perf_counter()
    while len(times) < min_rounds or time.perf_counter() - started < seconds:
        times.append(_time_runs(work, repeats))
    return statistics.median(times), len(times)


def compute_quartiles(values: list[float]) -> tuple[float, float]:
    """The first and third quartile."""
    if len(values) == 1:
        return values[0], values[0]
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    return first, third


def _choose_repeats(work: Work) -> int:
    return max(1, math.ceil(ROUND_SECONDS * 1000 / _time_runs(work, 1)))


def _time_runs(work: Work, repeats: int) -> float:
    """Mean milliseconds over `repeats` consecutive runs."""
    started = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - started) * 1000 / repeats

"""One measured value: the mean over seeds, an interval that is honest for so few of them, and what became of
the lost ones.

Sample deviation with ddof 1, Student's t at 95 %, nothing for n = 1. A trial that diverged or failed has no
value and is counted, never averaged away.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist, fmean, stdev, variance
from typing import Literal

LEVEL = 0.95
Better = Literal["higher", "lower"]
Verdict = Literal["agrees", "above", "below", "undetermined"]


@dataclass(frozen=True)
class Cell:
    """The values of the trials that ended ok, and how all of them ended."""

    values: tuple[float, ...] = ()
    outcomes: tuple[str, ...] = ()
    paper: float | None = None
    reason: str = ""
    """Why there is no value, where there is none."""
    comparable: bool = True
    """Whether the paper's value was measured in this way; else it is shown and not judged by."""
    paper_runs: int = 1
    """Runs that the paper's value is the mean of."""

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def total(self) -> int:
        """Trials that ended, in whatever way."""
        return len(self.outcomes)

    @property
    def diverged(self) -> int:
        return self.outcomes.count("diverged")

    @property
    def failed(self) -> int:
        """Ended in any other way without a value: an error, out of memory, out of time, stopped early."""
        return self.total - self.outcomes.count("ok") - self.diverged

    @property
    def unmeasured(self) -> int:
        """Ended ok, but without this measurement."""
        return self.outcomes.count("ok") - self.n

    @property
    def mean(self) -> float | None:
        return fmean(self.values) if self.values else None

    @property
    def half_width(self) -> float | None:
        """Of the 95 % interval of the mean; None for fewer than two values."""
        return t_quantile(self.n - 1) * stdev(self.values) / math.sqrt(self.n) if self.n > 1 else None

    @property
    def difference(self) -> float | None:
        """Measured less the paper's."""
        return (
            None if self.mean is None or self.paper is None or not self.comparable else self.mean - self.paper
        )

    @property
    def verdict(self) -> Verdict | None:
        """Against the paper's value: whether it lies where the mean of as many other runs of ours would, with
        95 %.

        That is the prediction interval, wider than the mean's by √(1 + n / m) for a value of m runs. Where
        some diverged, the others are the lucky ones, and decide nothing. None where there is nothing to
        compare.
        """
        if self.difference is None:
            return None
        if self.half_width is None or self.diverged:
            return "undetermined"
        if abs(self.difference) <= self.half_width * math.sqrt(1 + self.n / self.paper_runs):
            return "agrees"
        return "above" if self.difference > 0 else "below"


def difference_interval(
    a: Sequence[float], b: Sequence[float], level: float = LEVEL
) -> tuple[float, float] | None:
    """Mean of a less mean of b and the half-width of its interval (Welch); None where a side has fewer than
    two values, or where no side has any spread: a handful of equal values is no proof that the next is equal
    too."""
    if len(a) < 2 or len(b) < 2:
        return None
    u, v = variance(a) / len(a), variance(b) / len(b)
    if not u + v:
        return None
    share = u / (u + v)
    freedom = 1 / (share**2 / (len(a) - 1) + (1 - share) ** 2 / (len(b) - 1))
    return fmean(a) - fmean(b), t_quantile(freedom, level) * math.sqrt(u + v)


@cache
def t_quantile(freedom: float, level: float = LEVEL) -> float:
    """The two-sided quantile of Student's t, P(|T| <= q) = level, by Newton's method.

    The probability is concave in q and the normal quantile lies below, so the iterates rise to the solution
    without overshooting.
    """
    q = NormalDist().inv_cdf((1 + level) / 2)
    for _ in range(100):
        step = (level - _central(q, freedom)) / _density(q, freedom)
        q += step
        if abs(step) < 1e-12 * q:
            break
    return q


def _central(t: float, freedom: float, panels: int = 2_000) -> float:
    """P(|T| <= t): with T = √f tan u the density becomes cos^(f-1) u, which Simpson's rule integrates well
    for any f >= 1."""
    end = math.atan(t / math.sqrt(freedom))
    heights = [math.cos(end * i / panels) ** (freedom - 1) for i in range(panels + 1)]
    simpson = heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2])
    return 2 * _norm(freedom) * simpson * end / panels / 3


def _density(t: float, freedom: float) -> float:
    """Of |T| at t."""
    return 2 * _norm(freedom) * (1 + t * t / freedom) ** (-(freedom + 1) / 2) / math.sqrt(freedom)


def _norm(freedom: float) -> float:
    return math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)


def cell_of(outcomes: Iterable[tuple[str, float | None]], paper: float | None = None) -> Cell:
    """From (outcome, value) of each trial; a trial that ended ok without that value is one with a missing
    measurement."""
    pairs = list(outcomes)
    values = tuple(value for outcome, value in pairs if outcome == "ok" and value is not None)
    return Cell(values, tuple(outcome for outcome, _ in pairs), paper, "" if values else _why(pairs))


def _why(pairs: Sequence[tuple[str, float | None]]) -> str:
    if not pairs:
        return "not run"
    counts = Counter("not measured" if outcome == "ok" else outcome.replace("_", " ") for outcome, _ in pairs)
    return ", ".join(f"{ending} {count} of {len(pairs)}" for ending, count in sorted(counts.items()))

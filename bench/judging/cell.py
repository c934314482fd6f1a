"""One measured value: the mean over seeds, its interval, and the outcomes of all trials behind it.

Intervals use the sample standard deviation (ddof 1) and Student's t at 95 %; a single value has none. Trials
that diverged or failed have no value: they are excluded from the mean and counted.
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
    """The values of the trials that ended ok, and the outcomes of all trials."""

    values: tuple[float, ...] = ()
    outcomes: tuple[str, ...] = ()
    paper: float | None = None
    reason: str = ""
    """Why there is no value; empty if there is one."""
    comparable: bool = True
    """Whether the paper measured its value in the same way. If not, the value is shown without a verdict."""
    paper_runs: int = 1
    """Number of runs that the paper's value is the mean of."""

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def total(self) -> int:
        """Number of finished trials, whatever their outcome."""
        return len(self.outcomes)

    @property
    def diverged(self) -> int:
        return self.outcomes.count("diverged")

    @property
    def failed(self) -> int:
        """Trials without a value for another reason: error, out of memory, timeout, stopped early."""
        return self.total - self.outcomes.count("ok") - self.diverged

    @property
    def unmeasured(self) -> int:
        """Trials that ended ok without this measurement."""
        return self.outcomes.count("ok") - self.n

    @property
    def mean(self) -> float | None:
        return fmean(self.values) if self.values else None

    @property
    def half_width(self) -> float | None:
        """Half-width of the 95 % interval of the mean; None for fewer than two values."""
        return t_quantile(self.n - 1) * stdev(self.values) / math.sqrt(self.n) if self.n > 1 else None

    @property
    def difference(self) -> float | None:
        """Our mean minus the paper's value; None if they cannot be compared."""
        if self.mean is None or self.paper is None or not self.comparable:
            return None
        return self.mean - self.paper

    @property
    def verdict(self) -> Verdict | None:
        """Whether the paper's value lies in the 95 % prediction interval of our runs; None without a
        comparison.

        For a paper's value that is the mean of m runs, the prediction interval is √(1 + n / m) times as wide
        as the interval of our mean. If some trials diverged the verdict is undetermined, because the
        remaining seeds are a biased selection.
        """
        if self.difference is None:
            return None
        if self.half_width is None or self.diverged:
            return "undetermined"
        if abs(self.difference) <= self.half_width * math.sqrt(1 + self.n / self.paper_runs):
            return "agrees"
        return "above" if self.difference > 0 else "below"


def make_cell(outcomes: Iterable[tuple[str, float | None]], paper: float | None = None) -> Cell:
    """The cell of (outcome, value) pairs, one for each trial.

    A trial that ended ok with the value None counts as not measured.
    """
    pairs = list(outcomes)
    values = tuple(value for outcome, value in pairs if outcome == "ok" and value is not None)
    reason = "" if values else _explain_missing_value(pairs)
    return Cell(values, tuple(outcome for outcome, _ in pairs), paper, reason)


def _explain_missing_value(pairs: Sequence[tuple[str, float | None]]) -> str:
    if not pairs:
        return "not run"
    counts = Counter("not measured" if outcome == "ok" else outcome.replace("_", " ") for outcome, _ in pairs)
    return ", ".join(f"{ending} {count} of {len(pairs)}" for ending, count in sorted(counts.items()))


def estimate_difference(
    a: Sequence[float], b: Sequence[float], level: float = LEVEL
) -> tuple[float, float] | None:
    """Mean of a minus mean of b, and the half-width of its Welch interval.

    None if a side has fewer than two values, or if neither side has any spread: a few equal values do not
    show that the next one is equal too.
    """
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
    """Two-sided quantile q of Student's t, P(|T| <= q) = level, by Newton's method.

    P(|T| <= q) is concave in q and the normal quantile lies below the solution, so the iterates rise to it
    without overshooting.
    """
    q = NormalDist().inv_cdf((1 + level) / 2)
    for _ in range(100):
        step = (level - _central_probability(q, freedom)) / _density(q, freedom)
        q += step
        if abs(step) < 1e-12 * q:
            break
    return q


def _central_probability(t: float, freedom: float, intervals: int = 2_000) -> float:
    """P(|T| <= t). With T = √f tan u the density becomes cos^(f-1) u, which Simpson's rule integrates
    accurately for any f >= 1."""
    end = math.atan(t / math.sqrt(freedom))
    heights = [math.cos(end * i / intervals) ** (freedom - 1) for i in range(intervals + 1)]
    simpson = heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2])
    return 2 * _normaliser(freedom) * simpson * end / intervals / 3


def _density(t: float, freedom: float) -> float:
    """Density of |T| at t."""
    return 2 * _normaliser(freedom) * (1 + t * t / freedom) ** (-(freedom + 1) / 2) / math.sqrt(freedom)


def _normaliser(freedom: float) -> float:
    return math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)

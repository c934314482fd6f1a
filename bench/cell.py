"""One measured value: the mean over seeds, an interval that is honest for so few of them, and what became of the lost ones.

Sample deviation with ddof 1, Student's t at 95 %, nothing for n = 1. A trial that diverged or failed has no value and is counted,
never averaged away.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, stdev
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
        return self.total - self.outcomes.count("ok") - self.diverged

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
        return None if self.mean is None or self.paper is None else self.mean - self.paper

    @property
    def verdict(self) -> Verdict | None:
        """Against the paper's value: whether it lies in our interval. None where either is missing."""
        if self.mean is None or self.paper is None:
            return None
        if self.half_width is None:
            return "undetermined"
        if abs(self.mean - self.paper) <= self.half_width:
            return "agrees"
        return "above" if self.mean > self.paper else "below"


def difference_interval(a: Sequence[float], b: Sequence[float]) -> tuple[float, float] | None:
    """Mean of a less mean of b and the half-width of its 95 % interval (Welch); None where a side has fewer than two values."""
    if len(a) < 2 or len(b) < 2:
        return None
    u, v = stdev(a) ** 2 / len(a), stdev(b) ** 2 / len(b)
    freedom = (u + v) ** 2 / (u**2 / (len(a) - 1) + v**2 / (len(b) - 1)) if u + v else len(a) + len(b) - 2
    return fmean(a) - fmean(b), t_quantile(freedom) * math.sqrt(u + v)


@cache
def t_quantile(freedom: float, level: float = LEVEL) -> float:
    """The two-sided quantile of Student's t: P(|T| <= q) = level."""
    low, high = 0.0, 1e4
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _central(middle, freedom) < level else (low, middle)
    return high


def _central(t: float, freedom: float, panels: int = 2_000) -> float:
    """P(|T| <= t): with T = √f tan u the density becomes cos^(f-1) u, which Simpson's rule integrates well for any f >= 1."""
    log_norm = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(math.pi)
    end = math.atan(t / math.sqrt(freedom))
    heights = [math.cos(end * i / panels) ** (freedom - 1) for i in range(panels + 1)]
    simpson = heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2])
    return 2 * math.exp(log_norm) * simpson * end / panels / 3


def cell_of(outcomes: Iterable[tuple[str, float | None]], paper: float | None = None) -> Cell:
    """From (outcome, value) of each trial; a trial that ended ok without that value is one with a missing measurement."""
    pairs = list(outcomes)
    values = tuple(value for outcome, value in pairs if outcome == "ok" and value is not None)
    return Cell(values, tuple(outcome for outcome, _ in pairs), paper, "" if values else _why(pairs))


def _why(pairs: Sequence[tuple[str, float | None]]) -> str:
    if not pairs:
        return "not run"
    counts = {outcome: sum(o == outcome for o, _ in pairs) for outcome in dict.fromkeys(o for o, _ in pairs)}
    if set(counts) == {"ok"}:
        return "not measured"
    return ", ".join(f"{outcome.replace('_', ' ')} {count} of {len(pairs)}" for outcome, count in counts.items())

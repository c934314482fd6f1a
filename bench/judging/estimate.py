"""An estimated mean or difference of means, with its standard error and what more seeds would do to it.

Lines of one experiment share their seeds, and a seed fixes data, split and the order of batches. Two cells
with the same seeds are therefore compared seed by seed: Student's t on the paired differences. Cells with
other seeds (one diverged, or was restarted with another seed) are compared by Welch's interval. The seeds
alone decide which, never the result.

Traps. Pairs without any spread give no interval, because a few equal differences do not show that the next
one is equal too; Welch's interval is then used, which is wider. Neither has an interval without spread.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, variance

from bench.judging.cell import LEVEL, Cell
from bench.judging.student_t import t_p_value, t_quantile

NO_SPREAD = 1e-9
"""Differences whose spread is a smaller share of the values than this are equal up to rounding."""


@dataclass(frozen=True)
class SeedEstimate:
    """A mean, or a difference of two means.

    `variances` and `counts` have one entry for a mean or for paired differences, two for Welch's difference.
    """

    mean: float
    variances: tuple[float, ...]
    counts: tuple[int, ...]

    @cached_property
    def error(self) -> float:
        """The standard error of the mean."""
        return math.sqrt(sum(self._terms))

    @cached_property
    def freedom(self) -> float:
        """Degrees of freedom, by Welch and Satterthwaite for two samples."""
        pairs = zip(self._terms, self.counts, strict=True)
        return sum(self._terms) ** 2 / sum(term**2 / (n - 1) for term, n in pairs)

    @property
    def _terms(self) -> list[float]:
        return [own / n for own, n in zip(self.variances, self.counts, strict=True)]

    def half_width(self, level: float = LEVEL) -> float:
        """Half-width of the interval at this level."""
        return t_quantile(self.freedom, level) * self.error

    def p_value(self, value: float = 0.0) -> float:
        """Two-sided p-value of the hypothesis that the true mean equals this value. It is below 1 − level if
        and only if the interval at that level leaves the value out."""
        return t_p_value((self.mean - value) / self.error, self.freedom)

    def grow(self, n: int) -> "SeedEstimate":
        """The estimate of n seeds, if mean and spread stayed as they are."""
        return SeedEstimate(self.mean, self.variances, (n,) * len(self.counts))

    @property
    def is_paired(self) -> bool:
        """Whether a difference was taken seed by seed."""
        return len(self.counts) == 1


def estimate_mean(cell: Cell) -> SeedEstimate | None:
    """The mean of a cell; None without at least two values that differ."""
    if cell.n < 2 or _has_no_spread(cell.values):
        return None
    return SeedEstimate(fmean(cell.values), (variance(cell.values),), (cell.n,))


def estimate_difference(a: Cell, b: Cell) -> SeedEstimate | None:
    """Mean of a minus mean of b, paired by seed if both have the same seeds, else by Welch; None if a side
    has fewer than two values, or if neither side has any spread."""
    if min(a.n, b.n) < 2 or (_has_no_spread(a.values) and _has_no_spread(b.values)):
        return None
    difference = fmean(a.values) - fmean(b.values)
    paired = pair_by_seed(a, b)
    differences = [x - y for x, y in paired]
    if paired and not _has_no_spread(differences, scale=max(map(abs, (*a.values, *b.values)))):
        return SeedEstimate(difference, (variance(differences),), (len(differences),))
    return SeedEstimate(difference, (variance(a.values), variance(b.values)), (a.n, b.n))


def pair_by_seed(a: Cell, b: Cell) -> list[tuple[float, float]]:
    """The values of both cells by seed; empty unless both have the same seeds, each once."""
    by_seed = [dict(zip(cell.seeds, cell.values, strict=False)) for cell in (a, b)]
    are_known = all(len(own) == cell.n == len(cell.seeds) for own, cell in zip(by_seed, (a, b), strict=True))
    if not are_known or by_seed[0].keys() != by_seed[1].keys():
        return []
    return [(value, by_seed[1][seed]) for seed, value in by_seed[0].items()]


def count_larger(a: Cell, b: Cell) -> float:
    """In how many of all pairs of runs, one of a and one of b, the value of a is larger; ties count half.
    Divided by the number of pairs it is the probability of improvement."""
    return sum(0.5 * ((x > y) + (x >= y)) for x in a.values for y in b.values)


def _has_no_spread(values: Sequence[float], scale: float | None = None) -> bool:
    size = max(map(abs, values)) if scale is None else scale
    return max(values) - min(values) <= NO_SPREAD * size

"""One measured value: the mean over seeds, its interval, and the outcomes of all trials behind it.

Intervals use the sample standard deviation (ddof 1) and Student's t at 95 %; a single value has none. Trials
that diverged or failed have no value: they are excluded from the mean and counted.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal

from bench.judging.student_t import t_quantile

LEVEL = 0.95
Better = Literal["higher", "lower"]
Verdict = Literal["agrees", "equal", "above", "below", "undetermined"]


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
    seeds: tuple[int, ...] = ()
    """The seeds of the values, in their order; empty if they are not known."""
    exact_digits: int | None = None
    """For a count, which is equal to the paper's or not: the decimals that the paper prints."""
    is_biased: bool = False
    """Whether the values are a biased selection: some are of trials that diverged later. No value of the
    paper agrees with them."""

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
        return t_quantile(self.n - 1, LEVEL) * stdev(self.values) / math.sqrt(self.n) if self.n > 1 else None

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
        remaining seeds are a biased selection. A count needs no interval: it equals the paper's or not.
        """
        if self.mean is None or self.difference is None:
            return None
        if self.exact_digits is not None and round(self.mean, self.exact_digits) == self.paper:
            return "equal"
        if self.exact_digits is None:
            if self.half_width is None or self.diverged or self.is_biased:
                return "undetermined"
            if abs(self.difference) <= self.half_width * math.sqrt(1 + self.n / self.paper_runs):
                return "agrees"
        return "above" if self.difference > 0 else "below"


def make_cell(
    outcomes: Iterable[tuple[str, float | None]], paper: float | None = None, seeds: Sequence[int] = ()
) -> Cell:
    """The cell of (outcome, value) pairs, one for each trial, and the seeds of these trials if they are
    known.

    A trial that ended ok with the value None counts as not measured.
    """
    pairs = list(outcomes)
    measured = [
        (number, value)
        for number, (outcome, value) in enumerate(pairs)
        if outcome == "ok" and value is not None
    ]
    return Cell(
        tuple(value for _, value in measured),
        tuple(outcome for outcome, _ in pairs),
        paper,
        "" if measured else _explain_missing_value(pairs),
        seeds=tuple(seeds[number] for number, _ in measured) if seeds else (),
    )


def _explain_missing_value(pairs: Sequence[tuple[str, float | None]]) -> str:
    if not pairs:
        return "not run"
    counts = Counter("not measured" if outcome == "ok" else outcome.replace("_", " ") for outcome, _ in pairs)
    return ", ".join(f"{ending} {count} of {len(pairs)}" for ending, count in sorted(counts.items()))

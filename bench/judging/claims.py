"""Claims: sentences of the paper as checks over rows, judged supported, refuted, undetermined or not
testable, with the evidence.

A claim made of several comparisons is corrected once, whatever the depth at which it was put together: a
finding keeps its comparisons, and `require_all` judges all of them together. Support needs no correction,
because every comparison has to support the claim at 95 % (intersection-union). One comparison is enough to
refute it, so each has to do so at the level that keeps the chance of wrongly refuting the whole claim below
5 % (Bonferroni).
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Literal, get_args

from bench.judging.cell import LEVEL, Better, Cell
from bench.judging.estimate import SeedEstimate, count_larger, estimate_difference, estimate_mean
from bench.judging.results import Results
from bench.render.numbers import format_significant
from sweeps.trial.identity import Profile
from vera.wording import plural

Judgement = Literal["supported", "refuted", "undetermined", "not testable"]
MARKS: Mapping[Judgement, str] = {"supported": "✓", "refuted": "✗", "undetermined": "?", "not testable": "–"}
ERROR = 1 - LEVEL
"""The chance of wrongly supporting, and that of wrongly refuting, a claim."""
MAX_SEEDS = 100
"""The largest number of seeds that is worth naming."""
SMOKE = "smoke trials show that everything runs, and nothing else"


@dataclass(frozen=True)
class Comparison:
    """An estimate and the value that it lies above if the claim is true (below, unless `is_above`)."""

    estimate: SeedEstimate
    value: float = 0.0
    is_above: bool = True
    weight: int = 1
    """The number of comparisons that it stands for: more than one if a side was chosen by its values."""
    closed: frozenset[Judgement] = frozenset()
    """Judgements that it cannot give at any number of seeds."""

    def p_value(self, judgement: Judgement, n: float | None = None) -> float:
        """Two-sided p-value for this judgement; 1 if the estimate points to the other one. With `n`: what it
        would be with n seeds, if mean and spread stayed the same."""
        mean = self.estimate.mean
        points_to: Judgement = "supported" if (mean > self.value) == self.is_above else "refuted"
        if judgement != points_to or judgement in self.closed or mean == self.value:
            return 1.0
        if n == math.inf:
            return 0.0
        return (self.estimate if n is None else self.estimate.grow(int(n))).p_value(self.value)


@dataclass(frozen=True)
class Outlook:
    """What more seeds would decide, if means and spreads stayed as they are."""

    judgement: Judgement
    seeds: int | None
    """The smallest number of seeds that decides it; None for more than `MAX_SEEDS`."""

    @property
    def count(self) -> str:
        return f"more than {MAX_SEEDS} seeds" if self.seeds is None else plural(self.seeds, "seed")

    @property
    def sentence(self) -> str:
        verb = "support" if self.judgement == "supported" else "refute"
        return f"with means and spreads as they are, {self.count} would {verb} it"


@dataclass(frozen=True)
class Finding:
    """The judgement of a claim and the evidence for it. If it rests on comparisons it keeps them, its own or
    those of its parts."""

    judgement: Judgement
    evidence: str
    """For a claim that is not testable, the reason."""
    measured: str = field(default="", compare=False)
    """What was measured although the claim is not testable."""
    comparison: Comparison | None = field(default=None, compare=False)
    parts: tuple["Finding", ...] = field(default=(), compare=False)
    exceptions: int = field(default=0, compare=False)
    """How many of the parts need not hold."""

    @property
    def label(self) -> str:
        """The judgement after its mark: "✓ supported"."""
        return f"{MARKS[self.judgement]} {self.judgement}"

    @property
    def evidence_and_measurement(self) -> str:
        return f"{self.evidence}; measured: {self.measured}" if self.measured else self.evidence

    @property
    def explanation(self) -> str:
        """The evidence, and for an undetermined claim what the correction for several comparisons changed and
        the number of seeds that would decide it."""
        texts = [self.evidence_and_measurement]
        if self.judgement == "undetermined" and any(leaf.judgement == "refuted" for leaf in self.leaves):
            texts.append(_describe_correction(self.leaves, self.exceptions))
        texts += [self.outlook.sentence] if self.outlook else []
        return "; ".join(texts)

    @property
    def reasons(self) -> list[str]:
        """Why it is not testable, each reason once."""
        return list(dict.fromkeys(leaf.evidence for leaf in self.leaves if leaf.judgement == "not testable"))

    @property
    def leaves(self) -> "tuple[Finding, ...]":
        """The findings without parts that it is made of."""
        return tuple(leaf for part in self.parts for leaf in part.leaves) if self.parts else (self,)

    @property
    def outlook(self) -> Outlook | None:
        """What more seeds would decide; None if it is decided, or if more seeds alone would not decide it."""
        counts = [n for leaf in self.leaves if leaf.comparison for n in leaf.comparison.estimate.counts]
        if self.judgement != "undetermined" or not counts:
            return None

        def judge(n: float) -> Judgement:
            return _judge(self.leaves, self.exceptions, n)

        candidates = range(max(counts), MAX_SEEDS + 1)
        position = bisect_left(candidates, True, key=lambda n: judge(n) != "undetermined")
        seeds = candidates[position] if position < len(candidates) else None
        final = judge(math.inf if seeds is None else seeds)
        return None if final == "undetermined" else Outlook(final, seeds)

    def withhold(self, judgement: Judgement) -> "Finding":
        """The finding, undetermined instead of this judgement. For a finding of one comparison."""
        comparison = self.comparison and replace(self.comparison, closed=self.comparison.closed | {judgement})
        own: Judgement = "undetermined" if self.judgement == judgement else self.judgement
        return replace(self, judgement=own, comparison=comparison)


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, its place there, and its check."""

    key: str
    text: str
    where: str
    check: Callable[[Results], Finding]
    not_testable: Mapping[Profile, str] = field(default_factory=dict)
    """Profiles whose experiment could not support the claim whatever it measured, and why. At `smoke` no
    claim is testable."""

    def judge(self, results: Results) -> Finding:
        """The finding at the profile of the results."""
        found = self.check(results)
        reason = {"smoke": SMOKE, **self.not_testable}.get(results.profile)
        return found if reason is None else Finding("not testable", reason, measured=found.evidence)


def check_above(
    name_a: str, a: Cell, name_b: str, b: Cell, comparisons: int = 1, better: Better = "higher"
) -> Finding:
    """Whether a is above b, by the interval of the difference.

    Undetermined if the interval holds zero or a side has too few values. If a side was chosen by the values
    that are compared, `comparisons` is the number of sides that it was chosen from. Diverged and failed
    trials have no value; the evidence counts them. If the better side (`better`: higher or lower) diverged in
    some seeds, the finding is undetermined, because its other seeds are a biased selection.
    """
    for name, cell in ((name_a, a), (name_b, b)):
        if not cell.values:
            return Finding("undetermined", f"{name} has no value ({cell.reason})")
    estimate = estimate_difference(a, b)
    if estimate is None:
        means = f"{_describe_mean(name_a, a)}, {_describe_mean(name_b, b)}"
        return Finding("undetermined", f"{means}: {_explain_missing_interval(a, b)}")
    sides = ((name_a, a), (name_b, b)) if better == "higher" else ((name_b, b), (name_a, a))
    winners: dict[Judgement, tuple[str, Cell]] = {"supported": sides[0], "refuted": sides[1]}
    evidence = f"{name_a} − {name_b} = {_describe_difference(estimate, a, b)}"
    return _judge_comparison(Comparison(estimate, weight=comparisons), evidence, winners)


def check_at_most(name: str, a: Cell, b: Cell, tolerance: float) -> Finding:
    """Whether a exceeds b by at most a tolerance.

    Supported if the whole interval of the difference lies below the tolerance, refuted if all of it lies
    above. If b diverged in some seeds, its remaining seeds support nothing.
    """
    if not a.values or not b.values:
        return Finding("undetermined", f"{name}: {a.reason or b.reason}")
    estimate = estimate_difference(a, b)
    if estimate is None:
        return Finding("undetermined", f"{name}: {_explain_missing_interval(a, b)}")
    evidence = f"{name} = {_describe_difference(estimate, a, b)}, tolerance {tolerance:g}"
    winners: dict[Judgement, tuple[str, Cell]] = {"supported": ("the latter", b)}
    return _judge_comparison(Comparison(estimate, tolerance, is_above=False), evidence, winners)


def check_mean_above(name: str, cell: Cell, value: float) -> Finding:
    """Whether a mean lies above a value, by its interval."""
    estimate = estimate_mean(cell)
    if estimate is None:
        return Finding("undetermined", _explain_missing_mean(name, cell))
    evidence = f"{name} = {_describe_estimate(estimate)} (n={_describe_count(cell)})"
    return _judge_comparison(Comparison(estimate, value), evidence)


def check_mean_below(name: str, cell: Cell, value: float) -> Finding:
    """Whether a mean lies below a value, by its interval."""
    estimate = estimate_mean(cell)
    if estimate is None:
        return Finding("undetermined", _explain_missing_mean(name, cell))
    evidence = f"{name} = {_describe_estimate(estimate)} (n={_describe_count(cell)}), to be below {value:g}"
    return _judge_comparison(Comparison(estimate, value, is_above=False), evidence)


def check_near(name: str, cell: Cell, value: float, tolerance: float) -> Finding:
    """Whether a mean equals a value within a tolerance: supported if its whole interval does, refuted if none
    of it does."""
    estimate = estimate_mean(cell)
    if estimate is None:
        return Finding("undetermined", _explain_missing_mean(name, cell))
    mean = f"{format_significant(estimate.mean, 4)} ± {format_significant(estimate.half_width(), 2)}"
    evidence = f"{name} {mean} (n={_describe_count(cell)}), to be {value:g} ± {tolerance:g}"
    distance = replace(estimate, mean=abs(estimate.mean - value))
    return _judge_comparison(Comparison(distance, tolerance, is_above=False), evidence)


def summarise_judgements(counts: Mapping[Judgement, int]) -> str:
    """The number of claims with each judgement: 19 supported · 5 refuted · ..."""
    return " · ".join(f"{counts.get(judgement, 0)} {judgement}" for judgement in get_args(Judgement))


def require_all(findings: Sequence[Finding], exceptions: int = 0) -> Finding:
    """One finding for a claim that consists of several: supported if all are, refuted if one is. Levels are
    corrected for all comparisons together. `exceptions` is the number of findings that need not hold.
    Evidence that several findings share is given once."""
    leaves = tuple(leaf for finding in findings for leaf in finding.leaves)
    judgement = _judge(leaves, exceptions)
    evidence = "; ".join(dict.fromkeys(finding.evidence_and_measurement for finding in findings))
    return Finding(judgement, evidence, parts=leaves, exceptions=exceptions)


def _judge(leaves: Sequence[Finding], exceptions: int = 0, n: float | None = None) -> Judgement:
    """The judgement of all leaves together. With `n`: what it would be with n seeds, if means and spreads
    stayed the same.

    All but `exceptions` have to hold. By the Bonferroni bounds for partial conjunctions, that is supported if
    it is by all but `exceptions` of them at the level for `exceptions` + 1 comparisons, and refuted if one
    more than `exceptions` of them refute it at the level for the remaining number of comparisons.
    """
    against = sorted(_p_values(leaves, "refuted", n))
    if len(against) > exceptions and max(1, _count(leaves) - exceptions) * against[exceptions] < ERROR:
        return "refuted"
    if any(leaf.judgement == "not testable" for leaf in leaves):
        return "not testable"
    least_sure = sorted(_p_values(leaves, "supported", n))[: max(0, len(leaves) - exceptions)]
    is_supported = least_sure and (exceptions + 1) * least_sure[-1] < ERROR
    return "supported" if is_supported else "undetermined"


def _p_values(leaves: Iterable[Finding], judgement: Judgement, n: float | None) -> Iterator[float]:
    """The p-value of each leaf for this judgement. A finding without a comparison is certain."""
    for leaf in leaves:
        if leaf.comparison is None:
            yield 0.0 if leaf.judgement == judgement else 1.0
        else:
            yield leaf.comparison.p_value(judgement, n)


def _count(leaves: Sequence[Finding]) -> int:
    """The number of comparisons, those included that could not be made yet."""
    made = [leaf.comparison.weight for leaf in leaves if leaf.comparison]
    missing = [leaf for leaf in leaves if not leaf.comparison and leaf.judgement == "undetermined"]
    return sum(made) + len(missing)


def _judge_comparison(
    comparison: Comparison, evidence: str, winners: Mapping[Judgement, tuple[str, Cell]] | None = None
) -> Finding:
    """The finding of one comparison. A judgement in favour of a side that diverged in some seeds
    (`winners`: its name and cell) is withheld."""
    finding = Finding("undetermined", evidence, comparison=comparison)
    finding = replace(finding, judgement=_judge([finding]))
    for judgement, (name, winner) in (winners or {}).items():
        if winner.diverged:
            remark = f"; {name} diverged in {winner.diverged} of {winner.total}"
            is_withheld = finding.judgement == judgement
            finding = finding.withhold(judgement)
            finding = replace(finding, evidence=finding.evidence + remark * is_withheld)
    return finding


def _describe_correction(leaves: Sequence[Finding], exceptions: int) -> str:
    smallest = sorted(_p_values(leaves, "refuted", None))[exceptions]
    needed = ERROR / (_count(leaves) - exceptions)
    return (
        f"corrected for {plural(_count(leaves), 'comparison')} this does not refute it "
        f"(p = {smallest:.2g}, {needed:.2g} needed)"
    )


def _explain_missing_interval(a: Cell, b: Cell) -> str:
    if min(a.n, b.n) < 2:
        return "too few for an interval"
    return "equal in every seed, and without any spread there is no interval"


def _explain_missing_mean(name: str, cell: Cell) -> str:
    if not cell.values:
        return f"{name} has no value ({cell.reason})"
    why = "too few for an interval" if cell.n < 2 else "without any spread there is no interval"
    return f"{_describe_mean(name, cell)}: {why}"


def _describe_difference(estimate: SeedEstimate, a: Cell, b: Cell) -> str:
    """The difference with its interval, how the interval was made, and the probability of improvement as a
    count."""
    how = "paired by seed" if estimate.is_paired else "Welch"
    pairs = f"larger in {count_larger(a, b):g} of {a.n * b.n} pairs of runs"
    counts = f"n={_describe_count(a)} and {_describe_count(b)}"
    return f"{_describe_estimate(estimate)} ({counts}, {how}; {pairs})"


def _describe_estimate(estimate: SeedEstimate) -> str:
    return f"{format_significant(estimate.mean, 3)} ± {format_significant(estimate.half_width(), 2)}"


def _describe_mean(name: str, cell: Cell) -> str:
    return f"{name} {format_significant(fmean(cell.values), 4)} (n={_describe_count(cell)})"


def _describe_count(cell: Cell) -> str:
    """Number of values; "2 of 3" if some trials have none."""
    return f"{cell.n}" if cell.n == cell.total else f"{cell.n} of {cell.total}"

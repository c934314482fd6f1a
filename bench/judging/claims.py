"""Claims: a sentence of the paper turned into a check over rows. Supported, refuted or undetermined, always
with the evidence."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from bench.judging.cell import LEVEL, Better, Cell, difference_interval
from bench.judging.results import Results

Judgement = Literal["supported", "refuted", "undetermined"]
MARKS: Mapping[Judgement, str] = {"supported": "✓", "refuted": "✗", "undetermined": "?"}


@dataclass(frozen=True)
class Finding:
    """What the rows say of a claim."""

    judgement: Judgement
    evidence: str

    @property
    def marked(self) -> str:
        """The judgement, its mark first."""
        return f"{MARKS[self.judgement]} {self.judgement}"


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, where it stands, and how it is checked."""

    key: str
    text: str
    where: str
    check: Callable[[Results], Finding]


def compare(
    name_a: str, a: Cell, name_b: str, b: Cell, comparisons: int = 1, better: Better = "higher"
) -> Finding:
    """Whether a lies above b, by an interval of the difference; undetermined where it holds zero or a side
    lacks values.

    Supported at 95 %. Where the claim is one of several `comparisons` that must all hold, it is refuted only
    at the level that keeps the chance of a wrong refutation of the whole claim below 5 % (Bonferroni); for
    support no correction is needed. Trials that were lost have no value to compare: the evidence counts them.
    Where the side that comes out better diverged, what is left of it decides nothing.
    """
    for name, cell in ((name_a, a), (name_b, b)):
        if not cell.values:
            return Finding("undetermined", f"{name} has no value ({cell.reason})")
    interval = _interval(a, b, comparisons)
    if interval is None:
        return Finding("undetermined", f"{_mean(name_a, a)}, {_mean(name_b, b)}: {_no_interval(a, b)}")
    difference, half_width, strict = interval
    evidence = f"{name_a} − {name_b} = {_digits(difference, 3)} ± {_digits(half_width, 2)} (n={_count(a)} and {_count(b)})"
    if difference > half_width:
        return _unless_lost("supported", *((a, name_a) if better == "higher" else (b, name_b)), evidence)
    if -difference > strict:
        return _unless_lost("refuted", *((b, name_b) if better == "higher" else (a, name_a)), evidence)
    return Finding("undetermined", evidence)


def at_most(name: str, a: Cell, b: Cell, tolerance: float, comparisons: int = 1) -> Finding:
    """Whether a exceeds b by no more than a tolerance: supported if the whole interval says so, refuted if
    none of it does.

    `comparisons` as for `compare`; where b diverged, what is left of it supports nothing.
    """
    if not a.values or not b.values:
        return Finding("undetermined", f"{name}: {a.reason or b.reason}")
    interval = _interval(a, b, comparisons)
    if interval is None:
        return Finding("undetermined", f"{name}: {_no_interval(a, b)}")
    difference, half_width, strict = interval
    counts = f"(n={_count(a)} and {_count(b)})"
    evidence = (
        f"{name} = {_digits(difference, 3)} ± {_digits(half_width, 2)} {counts}, tolerance {tolerance:g}"
    )
    if difference + half_width <= tolerance:
        return _unless_lost("supported", b, "the latter", evidence)
    return Finding("refuted" if difference - strict > tolerance else "undetermined", evidence)


def all_of(findings: list[Finding]) -> Finding:
    """Supported if all are, refuted if one is. What several of them say, as that a side was not run, is said
    once."""
    judgements = [finding.judgement for finding in findings]
    evidence = "; ".join(dict.fromkeys(finding.evidence for finding in findings))
    if "refuted" in judgements:
        return Finding("refuted", evidence)
    return Finding(
        "undetermined" if "undetermined" in judgements or not judgements else "supported", evidence
    )


def _unless_lost(judgement: Judgement, winner: Cell, name: str, evidence: str) -> Finding:
    """The judgement, unless the side that wins by it diverged in some seeds: the others are then its lucky
    ones."""
    if winner.diverged:
        return Finding("undetermined", f"{evidence}; {name} diverged in {winner.diverged} of {winner.total}")
    return Finding(judgement, evidence)


def _interval(a: Cell, b: Cell, comparisons: int) -> tuple[float, float, float] | None:
    """The difference, and how far from it support and refutation begin."""
    usual = difference_interval(a.values, b.values)
    strict = difference_interval(a.values, b.values, 1 - (1 - LEVEL) / comparisons)
    return None if usual is None or strict is None else (*usual, strict[1])


def _no_interval(a: Cell, b: Cell) -> str:
    return (
        "too few for an interval"
        if min(a.n, b.n) < 2
        else "equal in every seed, and without any spread there is no interval"
    )


def _mean(name: str, cell: Cell) -> str:
    return f"{name} {_digits(fmean(cell.values), 4)} (n={_count(cell)})"


def _count(cell: Cell) -> str:
    """How many values there are; of how many trials, where some were lost."""
    return f"{cell.n}" if cell.n == cell.total else f"{cell.n} of {cell.total}"


def _digits(value: float, significant: int) -> str:
    return f"{value:.{significant}g}".replace("-", "−")

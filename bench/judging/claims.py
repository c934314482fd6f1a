"""Claims: sentences of the paper as checks over rows, judged supported, refuted or undetermined, with the
evidence."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from bench.judging.cell import LEVEL, Better, Cell, estimate_difference
from bench.judging.results import Results
from bench.render.numbers import format_significant

Judgement = Literal["supported", "refuted", "undetermined"]
MARKS: Mapping[Judgement, str] = {"supported": "✓", "refuted": "✗", "undetermined": "?"}


@dataclass(frozen=True)
class Finding:
    """The judgement of a claim and the evidence for it."""

    judgement: Judgement
    evidence: str

    @property
    def label(self) -> str:
        """The judgement after its mark: "✓ supported"."""
        return f"{MARKS[self.judgement]} {self.judgement}"


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, its place there, and its check."""

    key: str
    text: str
    where: str
    check: Callable[[Results], Finding]


def check_above(
    name_a: str, a: Cell, name_b: str, b: Cell, comparisons: int = 1, better: Better = "higher"
) -> Finding:
    """Whether a is above b, by the interval of the difference.

    Undetermined if the interval holds zero or a side has too few values. Support needs 95 %. A claim that is
    one of several `comparisons`, all of which must hold, is refuted only at the level that keeps the chance
    of wrongly refuting the whole claim below 5 % (Bonferroni); support needs no correction. Diverged and
    failed trials have no value; the evidence counts them. If the better side (`better`: higher or lower)
    diverged in some seeds, the finding is undetermined.
    """
    for name, cell in ((name_a, a), (name_b, b)):
        if not cell.values:
            return Finding("undetermined", f"{name} has no value ({cell.reason})")
    interval = _estimate_intervals(a, b, comparisons)
    if interval is None:
        means = f"{_describe_mean(name_a, a)}, {_describe_mean(name_b, b)}"
        return Finding("undetermined", f"{means}: {_explain_missing_interval(a, b)}")
    difference, half_width, strict = interval
    evidence = f"{name_a} − {name_b} = {_describe_difference(difference, half_width, a, b)}"
    if difference > half_width:
        winner = (a, name_a) if better == "higher" else (b, name_b)
        return _judge_unless_diverged("supported", *winner, evidence)
    if -difference > strict:
        winner = (b, name_b) if better == "higher" else (a, name_a)
        return _judge_unless_diverged("refuted", *winner, evidence)
    return Finding("undetermined", evidence)


def check_at_most(name: str, a: Cell, b: Cell, tolerance: float, comparisons: int = 1) -> Finding:
    """Whether a exceeds b by at most a tolerance.

    Supported if the whole interval of the difference lies below the tolerance, refuted if all of it lies
    above. `comparisons` as for `check_above`. If b diverged in some seeds, its remaining seeds support
    nothing.
    """
    if not a.values or not b.values:
        return Finding("undetermined", f"{name}: {a.reason or b.reason}")
    interval = _estimate_intervals(a, b, comparisons)
    if interval is None:
        return Finding("undetermined", f"{name}: {_explain_missing_interval(a, b)}")
    difference, half_width, strict = interval
    evidence = f"{name} = {_describe_difference(difference, half_width, a, b)}, tolerance {tolerance:g}"
    if difference + half_width <= tolerance:
        return _judge_unless_diverged("supported", b, "the latter", evidence)
    return Finding("refuted" if difference - strict > tolerance else "undetermined", evidence)


def require_all(findings: list[Finding]) -> Finding:
    """Supported if all findings are, refuted if one is. Evidence that several of them share is given once."""
    judgements = [finding.judgement for finding in findings]
    evidence = "; ".join(dict.fromkeys(finding.evidence for finding in findings))
    if "refuted" in judgements:
        return Finding("refuted", evidence)
    is_open = "undetermined" in judgements or not judgements
    return Finding("undetermined" if is_open else "supported", evidence)


def _judge_unless_diverged(judgement: Judgement, winner: Cell, name: str, evidence: str) -> Finding:
    """The judgement; undetermined if the winning side diverged in some seeds, because the others are a biased
    selection."""
    if winner.diverged:
        return Finding("undetermined", f"{evidence}; {name} diverged in {winner.diverged} of {winner.total}")
    return Finding(judgement, evidence)


def _estimate_intervals(a: Cell, b: Cell, comparisons: int) -> tuple[float, float, float] | None:
    """The difference of the means, and its half-widths for support and for refutation."""
    usual = estimate_difference(a.values, b.values)
    strict = estimate_difference(a.values, b.values, 1 - (1 - LEVEL) / comparisons)
    return None if usual is None or strict is None else (*usual, strict[1])


def _explain_missing_interval(a: Cell, b: Cell) -> str:
    if min(a.n, b.n) < 2:
        return "too few for an interval"
    return "equal in every seed, and without any spread there is no interval"


def _describe_difference(difference: float, half_width: float, a: Cell, b: Cell) -> str:
    interval = f"{format_significant(difference, 3)} ± {format_significant(half_width, 2)}"
    return f"{interval} (n={_describe_count(a)} and {_describe_count(b)})"


def _describe_mean(name: str, cell: Cell) -> str:
    return f"{name} {format_significant(fmean(cell.values), 4)} (n={_describe_count(cell)})"


def _describe_count(cell: Cell) -> str:
    """Number of values; "2 of 3" if some trials have none."""
    return f"{cell.n}" if cell.n == cell.total else f"{cell.n} of {cell.total}"

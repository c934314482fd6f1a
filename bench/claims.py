"""Claims: a sentence of the paper turned into a check over rows. Supported, refuted or undetermined, always with the evidence."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from bench.cell import Cell, difference_interval
from bench.results import Results

Judgement = Literal["supported", "refuted", "undetermined"]


@dataclass(frozen=True)
class Finding:
    """What the rows say of a claim."""

    judgement: Judgement
    evidence: str


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, where it stands, and how it is checked."""

    key: str
    text: str
    where: str
    check: Callable[[Results], Finding]


def compare(name_a: str, a: Cell, name_b: str, b: Cell) -> Finding:
    """Whether a lies above b: by the 95 % interval of the difference, undetermined where it holds zero or a side lacks values."""
    for name, cell in ((name_a, a), (name_b, b)):
        if not cell.values:
            return Finding("undetermined", f"{name} has no value ({cell.reason})")
    interval = difference_interval(a.values, b.values)
    if interval is None:
        return Finding("undetermined", f"{_mean(name_a, a)}, {_mean(name_b, b)}: too few for an interval")
    difference, half_width = interval
    evidence = f"{name_a} − {name_b} = {_digits(difference, 3)} ± {_digits(half_width, 2)} (n={_count(a)} and {_count(b)})"
    if abs(difference) <= half_width:
        return Finding("undetermined", evidence)
    return Finding("supported" if difference > 0 else "refuted", evidence)


def all_of(findings: list[Finding]) -> Finding:
    """Supported if all are, refuted if one is."""
    judgements = [finding.judgement for finding in findings]
    evidence = "; ".join(finding.evidence for finding in findings)
    if "refuted" in judgements:
        return Finding("refuted", evidence)
    return Finding("undetermined" if "undetermined" in judgements or not judgements else "supported", evidence)


def _mean(name: str, cell: Cell) -> str:
    return f"{name} {_digits(fmean(cell.values), 4)} (n={_count(cell)})"


def _count(cell: Cell) -> str:
    """How many values there are; of how many trials, where some were lost."""
    return f"{cell.n}" if cell.n == cell.total else f"{cell.n} of {cell.total}"


def _digits(value: float, significant: int) -> str:
    return f"{value:.{significant}g}".replace("-", "−")

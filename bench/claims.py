"""Claims: a sentence of the paper turned into a check over rows. Supported, refuted or undetermined, always with the evidence."""

from collections.abc import Callable
from dataclasses import dataclass
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
        return Finding("undetermined", f"{name_a} {a.mean:.4g} (n={a.n}), {name_b} {b.mean:.4g} (n={b.n}): too few for an interval")
    difference, half_width = interval
    evidence = f"{name_a} − {name_b} = {difference:.3g} ± {half_width:.2g} (n={a.n} and {b.n})"
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

"""The status of every value that the paper prints: whether it was measured, and whether it agrees.

The artifacts compare the paper's values with ours (`Artifact.list_compared`). A value that none of them
compares is a `VeraError`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from bench.artifact import Artifact
from bench.catalogue import catalogue
from bench.judging.compared import ComparedValue
from bench.judging.reference import NOT_AVAILABLE
from bench.judging.results import Results
from bench.paper.ledger.statements import FILE, Statement, has_label, list_statements
from bench.paper.tables.sample_quality import NOT_TRAINED_HERE
from bench.paper.values import PAPER
from bench.render.numbers import format_interval
from vera.errors import VeraError

Standing = Literal[
    "agrees", "differs", "undecided", "laptop only", "not run", "quoted", "setting", "mark", "none"
]
"""What became of a value: at `paper` it agrees (or equals), differs, or has no verdict (undecided); it was
measured at laptop only, or not at all; the paper quotes it from another paper and it is not trained here
(quoted); it is no result but a setting or a mark; the paper prints N/A (none)."""
STANDINGS: Mapping[str, Standing] = {
    "agrees": "agrees",
    "equal": "agrees",
    "above": "differs",
    "below": "differs",
}
SETTINGS = ("Table 7", "Table 9", "Text App B.1.1", "Text App B.7.1")
MARKS = ("Table 1",)


@dataclass(frozen=True)
class ValueStatus:
    """A value of the paper, where it is declared, and what became of it."""

    entry: Mapping[str, str]
    module: str
    """The file that compares it, or that has the setting."""
    standing: Standing
    judgement: str
    """In words."""
    ours: str = ""
    n: int = 0
    """Trials at `paper` with a value."""
    at_laptop: int = 0
    """Trials at `laptop` that ended ok, on data of that profile."""

    @property
    def is_result(self) -> bool:
        """Whether it is a numeric result of the paper."""
        return self.standing not in ("setting", "mark", "none")


def list_value_statuses(laptop: Results, paper: Results) -> list[ValueStatus]:
    """One for each line of values.csv, in its order; VeraError if a value is declared nowhere."""
    found: dict[int, ValueStatus] = {}
    for statement in list_statements("values"):
        for number, status in _read_source(statement, laptop, paper):
            known = found.get(number)
            if known is None or known.standing in ("not run", "laptop only"):
                found[number] = status
    for number, entry in enumerate(PAPER.entries):
        if entry["value"] == NOT_AVAILABLE:
            module = next(s.declared for s in list_statements("values") if s.where == entry["artifact"])
            found[number] = ValueStatus(entry, describe_module(module), "none", "the paper prints N/A")
        if number not in found:
            fields = ", ".join(value for value in entry.values() if value)
            raise VeraError(f"No artifact of {FILE.name} compares the paper's value {fields}.")
    return [found[number] for number in range(len(PAPER.entries))]


def _read_source(statement: Statement, laptop: Results, paper: Results) -> Iterator[tuple[int, ValueStatus]]:
    """The values of one source that its artifact compares."""
    if statement.declared not in catalogue:
        number = PAPER.find_number(statement.where, method=statement.line)
        judgement = f"equal: {statement.statement}"
        yield number, ValueStatus(PAPER.entries[number], f"`{statement.declared}`", "setting", judgement)
        return
    artifact = catalogue.artifact(statement.declared)
    for compared in artifact.list_compared(paper.copy_without_notes()):
        if PAPER.entries[compared.number]["artifact"] == statement.where:
            yield compared.number, _judge(artifact, compared, laptop)


def _judge(artifact: Artifact, compared: ComparedValue, laptop: Results) -> ValueStatus:
    entry, module, cell = PAPER.entries[compared.number], describe_module(artifact.name), compared.cell
    kind = entry["artifact"]
    if cell is None:
        return ValueStatus(entry, module, "setting", compared.verdict)
    if cell.reason == NOT_TRAINED_HERE:
        return ValueStatus(entry, module, "quoted", "quoted from another paper, not trained here")
    at_laptop = count_ended(artifact, compared.label, laptop)
    ours = "" if cell.mean is None else format_interval(cell.mean, cell.half_width, _count_digits(entry))
    standing: Standing = "undecided"
    if cell.total:
        judgement = cell.verdict or "no verdict" + ("" if cell.comparable else ": quoted by the paper")
        standing = STANDINGS.get(cell.verdict or "", "undecided")
    elif at_laptop:
        standing, judgement = "laptop only", "measured at laptop, on other data"
    else:
        standing, judgement = "not run", "not run"
    if kind in MARKS:
        standing, judgement = "mark", compared.verdict or judgement
    return ValueStatus(entry, module, standing, judgement, ours, cell.n, at_laptop)


def _count_digits(entry: Mapping[str, str]) -> int:
    """The decimals that the paper prints, and one more."""
    return len(entry["value"].partition(".")[2]) + 1


def count_ended(artifact: Artifact, label: str, results: Results) -> int:
    """The trials of the artifact with this label that ended ok; with any label if none is given. The label of
    a line that was chosen among several, such as "PCD (best σ)", stands for all of them."""
    family, _, chosen = label.partition(" (")
    wanted = [
        trial
        for trial in artifact.trials(results.profile)
        if (has_label(trial, family) if chosen or not label else trial.label == label)
    ]
    rows = {row.trial_id: row for row in results.find_all_rows(wanted)}
    return sum(row.outcome == "ok" for row in rows.values())


def describe_module(artifact: str) -> str:
    """The file of an artifact."""
    name = type(catalogue.artifact(artifact)).__module__.replace(".", "/")
    return f"`{artifact}` (`{name}.py`)"

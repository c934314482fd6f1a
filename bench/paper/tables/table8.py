"""Table 8: what the data sets hold, counted on the data as they are trained on, against the paper's counts.

Its trials load the data and take one step of a tiny classifier; the numbers are of the split that any trial
with that seed has. "Examples" are training points after the held-out ones were taken away, except for MNIST,
which has a test set of its own. The largest class is that of the training points, so it depends on the split:
with the published code's default seed it is the paper's.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from bench.artifact import Artifact, Column, Sheet, Value
from bench.judging.claims import Claim, Finding, all_of
from bench.judging.results import Results
from bench.paper.experiments.tabular import TABLES, Table, data_notes, made
from bench.paper.values import paper_value
from bench.render.caption import caption_tail
from bench.render.layout import exact
from sweeps.trial.identity import Profile, Trial

SEED = 1234
"""The default of the published code."""
FACTS = {
    "features": "features",
    "train_examples": "examples",
    "classes": "classes",
    "max_class_percent": "largest class, %",
}


def facts_trial(table: Table, profile: Profile) -> Trial:
    trial = made(table, profile, table.name, {"name": "supervised"}, ("energy",), steps=1)
    tiny = {"energy": {"name": "mlp-classifier", "hidden": [8]}}
    return replace(trial, spec=replace(trial.spec, networks=tiny, seed=SEED))


def agrees(fact: str, ours: float, paper: float) -> bool:
    """Counts must be equal; a percentage is printed with one digit."""
    return round(ours, 1) == paper if fact == "max_class_percent" else ours == paper


def counts_agree(results: Results) -> Finding:
    if not any(table.reference for table in TABLES[results.profile]):
        return Finding("undetermined", f"the {results.profile} profile has data of its own")
    return all_of([_of_table(results, table) for table in TABLES[results.profile] if table.reference])


def _of_table(results: Results, table: Table) -> Finding:
    found = {fact: results.cell(facts_trial(table, results.profile), fact).mean for fact in FACTS}
    paper = {fact: paper_value("Table 8", dataset=table.reference or "", metric=fact) for fact in FACTS}
    if any(value is None for value in found.values()):
        return Finding("undetermined", f"{table.name} was not loaded")
    wrong = [f"{FACTS[fact]} {exact(value)}, in the paper {exact(paper[fact])}"
             for fact, value in found.items() if value is not None and not agrees(fact, value, paper[fact])]  # fmt: skip
    notes = data_notes(results.like(facts_trial(table, results.profile)))
    evidence = "; ".join((*(wrong or ["all four equal"]), *notes))
    return Finding("refuted" if wrong else "supported", f"{table.name}: {evidence}")


class Table8(Artifact):
    name = "table8"
    title = "Table 8: the tables of numbers"
    seeds: ClassVar[Mapping[Profile, tuple[int, ...]]] = {
        "smoke": (SEED,),
        "laptop": (SEED,),
        "paper": (SEED,),
    }
    claims = (Claim("counts", "The data have the counts of Table 8.", "B.8.1", counts_agree),)
    columns = (
        Column("dataset", "data"),
        *(Column(fact, header, 1 if fact == "max_class_percent" else 0) for fact, header in FACTS.items()),
    )

    def trials(self, profile: Profile) -> Iterator[Trial]:
        return (facts_trial(table, profile) for table in TABLES[profile])

    def render(self, results: Results) -> Sheet:
        lines = tuple(self.line(results, table) for table in TABLES[results.profile])
        rows = results.rows_of(self.trials(results.profile))
        caption, notes = (
            f"Counted on the loaded data. {caption_tail(rows)}",
            (*data_notes(rows), *results.notes),
        )
        return Sheet(self.name, self.title, caption, self.columns, lines, results.profile, notes)

    def line(self, results: Results, table: Table) -> dict[str, Value]:
        trial = facts_trial(table, results.profile)
        paper = (
            {fact: paper_value("Table 8", dataset=table.reference, metric=fact) for fact in FACTS}
            if table.reference
            else {}
        )
        return {"dataset": table.name} | {fact: results.cell(trial, fact, paper.get(fact)) for fact in FACTS}

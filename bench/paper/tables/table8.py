"""Table 8: features, examples and classes of the data sets, counted on the loaded data and compared with
the paper's counts.

Its trials load the data and take one step of a tiny classifier. The numbers belong to the split that every
trial with this seed has. "Examples" are training points without the held-out ones, except for MNIST, which
has its own test set. The largest class is that of the training points, so it depends on the split; with the
default seed of the published code it equals the paper's.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from bench.artifact import Artifact, Column, Sheet, Value
from bench.judging.cell import Cell
from bench.judging.claims import Claim, Finding, require_all
from bench.judging.results import Results
from bench.paper.experiments.tabular import TABULAR
from bench.paper.experiments.tabular_data import TableSetting, read_data_notes
from bench.paper.values import PAPER
from bench.render.caption import describe_origin
from bench.render.numbers import format_exact
from sweeps.trial.identity import Profile, Trial

SEED = 1234
"""The default of the published code."""
FACTS = {
    "features": "features",
    "train_examples": "examples",
    "classes": "classes",
    "max_class_percent": "largest class, %",
}
PRINTED_DIGITS = {"max_class_percent": 1}
"""Decimals of the paper's numbers; none for a count."""


def make_facts_trial(table: TableSetting, profile: Profile) -> Trial:
    trial = TABULAR.trial("Supervised", profile, table)
    spec = replace(
        trial.spec,
        networks={"energy": {"name": "mlp-classifier", "hidden": [8]}},
        method={"name": "supervised"},
        steps=1,
        evaluate_every=1,
        seed=SEED,
    )
    return replace(trial, spec=spec, label=table.name)


def find_paper_facts(table: TableSetting) -> dict[str, float]:
    """The paper's counts; none for a data set that it does not have."""
    if table.reference is None:
        return {}
    return {fact: PAPER.read_value("Table 8", dataset=table.reference, metric=fact) for fact in FACTS}


def read_fact(results: Results, table: TableSetting, fact: str) -> Cell:
    """A count of the loaded data beside the paper's, which it equals or not."""
    found = results.cell(make_facts_trial(table, results.profile), fact, find_paper_facts(table).get(fact))
    return replace(found, exact_digits=PRINTED_DIGITS.get(fact, 0))


def check_all_counts(results: Results) -> Finding:
    tables = [table for table in TABULAR.data(results.profile) if table.reference]
    if not tables:
        return Finding("undetermined", f"the {results.profile} profile has data of its own")
    return require_all([check_counts(results, table) for table in tables])


def check_counts(results: Results, table: TableSetting) -> Finding:
    """Whether all counts of one data set are the paper's."""
    found = {fact: read_fact(results, table, fact) for fact in FACTS}
    if any(cell.mean is None for cell in found.values()):
        return Finding("undetermined", f"{table.name} was not loaded")
    wrong = [
        f"{FACTS[fact]} {format_exact(cell.mean or 0)}, in the paper {format_exact(cell.paper or 0)}"
        for fact, cell in found.items()
        if cell.verdict != "equal"
    ]
    notes = read_data_notes(results.find_rows(make_facts_trial(table, results.profile)))
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
    claims = (
        Claim(
            "counts",
            "The data have the counts of Table 8.",
            "B.8.1",
            check_all_counts,
            {"laptop": "none of the paper's data sets is in the package"},
        ),
    )
    columns = (
        Column("dataset", "data"),
        *(Column(fact, header, PRINTED_DIGITS.get(fact, 0)) for fact, header in FACTS.items()),
    )

    def trials(self, profile: Profile) -> Iterator[Trial]:
        return (make_facts_trial(table, profile) for table in TABULAR.data(profile))

    def render(self, results: Results) -> Sheet:
        lines = tuple(self.line(results, table) for table in TABULAR.data(results.profile))
        rows = self.rows(results)
        caption = f"Counted on the loaded data. {describe_origin(rows)}"
        notes = (*read_data_notes(rows), *results.notes)
        return Sheet(self.name, self.title, caption, self.columns, lines, results.profile, notes)

    def line(self, results: Results, table: TableSetting) -> dict[str, Value]:
        return {"dataset": table.name} | {fact: read_fact(results, table, fact) for fact in FACTS}

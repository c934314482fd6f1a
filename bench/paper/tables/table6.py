"""Table 6: accuracy with ten labels for each class on four tabular data sets. A seed changes split, labels
and weights.

The accuracy is the last one, because the paper's is what a model "converged to". The best during training,
chosen on the points it is measured on, has a column of its own. Brier score and calibration error measure
how far the probabilities can be trusted; AUROC is given for two classes. A classifier that ends up
predicting one class for everything has collapsed. It is counted in its own column, because its accuracy
does not show it.

Traps. Unlabelled points can only help where every label would: data sets on which the full-label line is
not above the supervised one take no part in the claims that VERA beats another line. The copy of HUMAN that
replaces UCI's file has 296 recomputed columns; a note names rows that were made with it.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from bench.artifact import Column, DataArtifact, DataSets, Sheet, Value, on_all
from bench.judging.claims import Claim, Finding
from bench.judging.results import Results, find_first_rows, read_metrics
from bench.paper.experiments.tabular import TABULAR
from bench.paper.experiments.tabular_data import LABELS, TableSetting, read_data_notes
from bench.paper.tables.accuracy import ACCURACY, BEST, check_more_accurate, to_percent
from bench.paper.tuning.table6_tuning import describe_tuning
from bench.paper.values import PAPER
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial

PAPER_RUNS = 3
"""Runs behind each of the paper's values."""
PROBABILITY_METRICS = ("brier", "calibration_error", "auroc")


def describe_collapses(results: Results, trial: Trial) -> str:
    """How many of the trials that ended ok predict one class for everything."""
    values = results.cell(trial, "collapsed").values
    return f"{round(sum(values))} of {len(values)}" if values else ""


def count_collapses(rows: Sequence[Row]) -> int:
    return sum(read_metrics(row).get("collapsed") == 1 for row in rows if row.outcome == "ok")


def explain_no_room(results: Results, table: TableSetting) -> str:
    """Why unlabelled points cannot help on a data set: ten labels a class are as good as every label, by the
    interval of their difference. Empty if they may help, or if this is not known."""
    room = check_more_accurate(TABULAR, "Full-label", "Supervised")(results, table)
    if room.comparison is None or room.judgement == "supported":
        return ""
    return f"every label is not seen to be better than ten of each class ({room.evidence})"


def jem_fails(results: Results, table: TableSetting) -> Finding:
    """On one data set: most trials of JEM diverge, or collapse where the supervised baseline does not, or its
    accuracy is below that baseline. A single failed trial is not a failure of the method."""
    rows, baseline = (
        results.find_rows(TABULAR.trial(label, results.profile, table)) for label in ("JEM", "Supervised")
    )
    if not rows:
        return Finding("undetermined", "JEM not run")
    diverged, collapsed = sum(row.outcome == "diverged" for row in rows), count_collapses(rows)
    counts = f"of {len(rows)} trials {diverged} diverged and {collapsed} collapsed"
    failed = diverged + (collapsed if baseline and not count_collapses(baseline) else 0)
    if len(rows) > 1 and 2 * failed > len(rows):
        return Finding("supported", counts)
    finding = check_more_accurate(TABULAR, "Supervised", "JEM")(results, table)
    return replace(finding, evidence=f"{counts}; {finding.evidence}")


def one_network(results: Results) -> Finding:
    """Whether VERA's trials have the same hidden layers on all data sets, in energy and generator. The
    evidence names the settings that differ."""
    tables, networks = TABULAR.data(results.profile), dict[str, dict[str, Any]]()
    for table in tables:
        for row in find_first_rows(results, [TABULAR.trial("VERA", results.profile, table)]):
            components = json.loads(row.spec)["networks"].items()
            networks[table.name] = {
                f"{role} {name}": value for role, component in components for name, value in component.items()
            }
    if missing := len(tables) - len(networks):
        return Finding("undetermined", f"{missing} data sets have no VERA trial")
    settings = next(iter(networks.values()))
    differing = [key for key in settings if len({str(own[key]) for own in networks.values()}) > 1]
    described = [
        f"{key} is {', '.join(f'{own[key]} on {name}' for name, own in networks.items())}"
        for key in differing
    ]
    if any(key.endswith(" hidden") for key in differing):
        return Finding("refuted", "; ".join(described))
    return Finding("supported", "; ".join(["hidden layers are the same", *described]))


class Table6(DataArtifact):
    experiment = TABULAR
    name = "table6"
    title = "Table 6: accuracy with ten labels a class"
    takes = "tables"
    columns = (
        Column("dataset", "data"),
        Column("method", "method"),
        Column(ACCURACY, "accuracy, %", 1),
        Column("collapsed", "collapsed"),
        Column(BEST, "best on the way, %", 1),
        Column("brier", "Brier", 3),
        Column("calibration_error", "ECE", 3),
        Column("auroc", "AUROC", 3),
    )

    def claims_on(self, data: DataSets[TableSetting]) -> Iterator[Claim]:
        yield Claim(
            "vera-beats-supervised",
            "VERA beats training on the labels alone, on every set.",
            "Sec. 6.1",
            on_all(check_more_accurate(TABULAR, "VERA", "Supervised"), data, explain_no_room),
        )
        yield Claim(
            "vera-beats-vat",
            "VERA beats VAT on every set (in the paper's own table they tie on MNIST).",
            "Sec. 6.1",
            on_all(check_more_accurate(TABULAR, "VERA", "VAT"), data, explain_no_room),
        )
        yield Claim(
            "vera-beats-meg",
            "VERA beats MEG on every set.",
            "Sec. 6.1",
            on_all(check_more_accurate(TABULAR, "VERA", "MEG"), data, explain_no_room),
        )
        yield Claim(
            "jem-fails",
            "JEM trained with PCD fails on tables: it diverges, collapses, or falls below the labels alone.",
            "Sec. 6.1",
            on_all(jem_fails, data),
        )
        if self.dataset is None:
            yield Claim("one-network", "One architecture serves all data sets.", "Sec. 6.1", one_network)

    def render(self, results: Results) -> Sheet:
        lines = [line for table in self.data(results.profile) for line in self.block(results, table)]
        text = "Held-out accuracy at the end of training, higher is better"
        tuning = describe_tuning(results) if results.profile == "laptop" and self.dataset is None else ()
        notes = (
            *tuning,
            "Best on the way: the highest of all evaluations, chosen on the held-out points; never a result.",
            "Collapsed: gives one class to more than 95 % of the held-out points. "
            "Brier is the multi-class form; ECE has 20 bins.",
            *read_data_notes(self.rows(results)),
        )
        return self.sheet(results, text, self.columns, lines, notes)

    def names(self, profile: Profile) -> tuple[str, str]:
        """As for any artifact on other data; the title gives the number of labels."""
        name, title = super().names(profile)
        labels = (self.dataset or {}).get("labels_per_class", LABELS)
        text = {LABELS: "ten labels a class", None: "every label"}.get(labels, "few labels")
        return name, title.replace("ten labels a class", text)

    def block(self, results: Results, table: TableSetting) -> Iterator[dict[str, Value]]:
        """The lines of one data set."""
        for trial in self.trials_on(results.profile, [table]):
            paper = PAPER.find_for("Table 6", TABULAR.find_line(trial.label), table)
            final = to_percent(results.cell(trial, ACCURACY, paper))
            measured = {key: results.cell(trial, key) for key in PROBABILITY_METRICS}
            yield {
                "dataset": table.name,
                "method": trial.label,
                ACCURACY: replace(final, paper_runs=PAPER_RUNS),
                "collapsed": describe_collapses(results, trial),
                BEST: to_percent(results.cell(trial, BEST)),
                **{key: cell if cell.values else "" for key, cell in measured.items()},
            }

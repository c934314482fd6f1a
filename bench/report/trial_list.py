"""The list of trials of a profile. Each trial is a table body of two rows: its line and its details.

Without JavaScript every trial is expanded and the list is complete; `script.js` collapses, sorts and filters
it. A cell has a sort value if it is not sorted by its text.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench.judging.results import Results, read_metrics
from bench.render.numbers import format_significant
from bench.report.curve_drawing import CurveName, History, group_points
from bench.report.trial_detail import TrialDetail, build_detail
from sweeps.store.row import Row

HEADLINE_LIMIT = 4
"""Maximum number of metrics with a column of their own."""


@dataclass(frozen=True)
class StoredTrial:
    """A row with its metrics and its curves."""

    row: Row
    metrics: Mapping[str, float]
    histories: Mapping[CurveName, History]


@dataclass(frozen=True)
class TrialColumn:
    """A column of the list. `key` is its name in filters and links."""

    key: str
    header: str
    text: Callable[[StoredTrial], str]
    value: Callable[[StoredTrial], float | None] | None = None
    """The number to sort by; None to sort by the text."""


@dataclass(frozen=True)
class TrialCell:
    text: str
    style: str
    """The CSS class."""
    value: str | None = None
    """The number to sort by, empty if it was not measured; None to sort by the text."""


@dataclass(frozen=True)
class TrialLine:
    row: Row
    cells: Sequence[TrialCell]
    detail: TrialDetail


@dataclass(frozen=True)
class TrialList:
    columns: Sequence[TrialColumn]
    """Those after the id."""
    lines: Sequence[TrialLine]


COLUMNS = (
    TrialColumn("sweep", "sweep", lambda trial: trial.row.sweep),
    TrialColumn("label", "label", lambda trial: trial.row.label),
    TrialColumn("dataset", "data set", lambda trial: trial.row.dataset),
    TrialColumn("method", "method", lambda trial: trial.row.method),
    TrialColumn("seed", "seed", lambda trial: str(trial.row.seed), lambda trial: trial.row.seed),
    TrialColumn("outcome", "outcome", lambda trial: trial.row.outcome),
    TrialColumn(
        "steps", "steps", lambda trial: _format_steps(trial.row), lambda trial: trial.row.outcome_step
    ),
)
SECONDS = TrialColumn(
    "seconds", "seconds", lambda trial: f"{trial.row.seconds:,.1f}", lambda trial: trial.row.seconds
)


def build_trial_list(results: Results) -> TrialList:
    """All trials of the profile, ordered by sweep, label and seed."""
    rows = sorted(results.rows, key=lambda row: (row.sweep, row.label, row.seed, row.trial_id))
    trials = [StoredTrial(row, read_metrics(row), group_points(results.read_curves(row))) for row in rows]
    columns = [*COLUMNS, *map(_make_metric_column, choose_headlines(trials)), SECONDS]
    lines = [
        TrialLine(
            trial.row,
            [_build_cell(trial, column) for column in columns],
            build_detail(trial.row, trial.histories, results.flag),
        )
        for trial in trials
    ]
    return TrialList(columns, lines)


def choose_headlines(trials: Sequence[StoredTrial]) -> list[str]:
    """The metrics with a column: those that most trials measured, and at the end the training loss.

    Of the metrics that were recorded in training only, the loss is the only one that gets a column.
    """
    ok = [trial for trial in trials if trial.row.outcome == "ok"]
    counts = Counter(name for trial in ok for name in trial.metrics if not name.endswith("_se"))
    kinds = {(kind, metric) for trial in trials for kind, metric in trial.histories}
    evaluated = {metric for kind, metric in kinds if kind == "evaluation"}
    training_only = {metric for kind, metric in kinds if kind == "training"} - evaluated
    measured = sorted(
        (name for name in counts if name not in training_only),
        key=lambda name: (-counts[name], name not in evaluated, name),
    )
    loss = ["loss"] if "loss" in training_only and "loss" in counts else []
    return [*measured, *loss][:HEADLINE_LIMIT]


def _make_metric_column(name: str) -> TrialColumn:
    """The metric of trials that ended ok; the last finite values of the others are in their details."""

    def value(trial: StoredTrial) -> float | None:
        return trial.metrics.get(name) if trial.row.outcome == "ok" else None

    return TrialColumn(name, name.replace("_", " "), lambda trial: format_significant(value(trial)), value)


def _build_cell(trial: StoredTrial, column: TrialColumn) -> TrialCell:
    if column.value is None:
        return TrialCell(column.text(trial), column.key)
    value = column.value(trial)
    return TrialCell(column.text(trial), "number", "" if value is None else repr(value))


def _format_steps(row: Row) -> str:
    return f"{row.steps:,}" if row.outcome_step == row.steps else f"{row.outcome_step:,} of {row.steps:,}"

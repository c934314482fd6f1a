"""The list of trials of a profile: one packed table of texts and sort values, and packed pieces of details.

The page holds every trial's line. `script.js` sorts, filters and searches them and shows a page of them at a
time, so the list works with 100,000 trials. Details, rendered here, exist for the trials that finished last;
the browser unpacks a piece of them when one of its trials is opened.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from bench.judging.results import Results, read_metrics
from bench.render.numbers import format_significant
from bench.report.curve_drawing import CurveName, History, group_points
from bench.report.packed_data import pack
from bench.report.trial_detail import CommandContext, TrialDetail, build_detail
from sweeps.store.row import Row

HEADLINE_LIMIT = 12
"""Maximum number of metrics with a column of their own. The page shows those that most listed trials have."""
DETAIL_LIMIT, IMAGE_LIMIT = 2_000, 300
"""Maximum number of trials with details, and with images among them."""
PIECE = 25
"""Trials in a piece of details."""


@dataclass(frozen=True)
class StoredTrial:
    """A row with its metrics, its curves and its arrays."""

    row: Row
    metrics: Mapping[str, float]
    histories: Mapping[CurveName, History] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    has_details: bool = True
    """Whether the page shows more of it than its line."""


@dataclass(frozen=True)
class TrialColumn:
    """A column of the list. `key` is its name in filters and links."""

    key: str
    header: str
    text: Callable[[StoredTrial], str]
    value: Callable[[StoredTrial], float | None] | None = None
    """The number to sort by; None to sort by the text."""


@dataclass(frozen=True)
class TrialList:
    count: int
    data: str
    """The packed table."""
    details: Sequence[str]
    """Packed lists of the HTML of `PIECE` trials each."""
    detail_count: int


COLUMNS = (
    TrialColumn("sweep", "sweep", lambda trial: trial.row.sweep),
    TrialColumn("label", "label", lambda trial: trial.row.label),
    TrialColumn("dataset", "data set", lambda trial: trial.row.data),
    TrialColumn("method", "method", lambda trial: trial.row.method),
    TrialColumn("seed", "seed", lambda trial: str(trial.row.seed), lambda trial: trial.row.seed),
    TrialColumn("outcome", "outcome", lambda trial: trial.row.outcome),
    TrialColumn(
        "steps", "steps", lambda trial: _format_steps(trial.row), lambda trial: trial.row.outcome_step
    ),
)
LAST_COLUMNS = (
    TrialColumn(
        "seconds", "seconds", lambda trial: f"{trial.row.seconds:,.1f}", lambda trial: trial.row.seconds
    ),
    TrialColumn("finished", "finished", lambda trial: trial.row.finished_at[:16].replace("T", " ")),
)


def read_trials(results: Results) -> list[StoredTrial]:
    """All trials of the profile, ordered by sweep, label and seed, with curves and arrays of those that
    finished last."""
    rows = sorted(results.rows, key=lambda row: (row.sweep, row.label, row.seed, row.trial_id))
    latest = sorted(rows, key=lambda row: (row.finished_at, row.trial_id), reverse=True)[:DETAIL_LIMIT]
    results.load_curves(latest)
    arrays = dict(results.store.read_many_arrays(latest[:IMAGE_LIMIT]))
    detailed = {row.trial_id for row in latest}
    return [
        StoredTrial(
            row,
            read_metrics(row),
            group_points(results.read_curves(row)) if row.trial_id in detailed else {},
            arrays.get(row.trial_id, {}),
            row.trial_id in detailed,
        )
        for row in rows
    ]


def build_trial_list(
    trials: Sequence[StoredTrial], context: CommandContext, render: Callable[[TrialDetail], str]
) -> TrialList:
    """`render` makes the HTML of a trial's details."""
    columns = [*COLUMNS, *map(_make_metric_column, choose_headlines(trials)), *LAST_COLUMNS]
    places = [place for place, trial in enumerate(trials) if trial.has_details]
    table = {
        "columns": [
            {
                "key": column.key,
                "header": column.header,
                "texts": [column.text(trial) for trial in trials],
                "values": column.value and [column.value(trial) for trial in trials],
                "metric": column not in COLUMNS and column not in LAST_COLUMNS,
            }
            for column in columns
        ],
        "ids": [trial.row.trial_id for trial in trials],
        "details": None if len(places) == len(trials) else places,
        "piece": PIECE,
    }
    details = [
        pack([_render_trial(trials[place], context, render) for place in places[start : start + PIECE]])
        for start in range(0, len(places), PIECE)
    ]
    return TrialList(len(trials), pack(table), details, len(places))


def _render_trial(trial: StoredTrial, context: CommandContext, render: Callable[[TrialDetail], str]) -> str:
    return render(build_detail(trial.row, trial.histories, context, trial.arrays))


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


def _format_steps(row: Row) -> str:
    return f"{row.steps:,}" if row.outcome_step == row.steps else f"{row.outcome_step:,} of {row.steps:,}"

"""The list of trials: one body of the table for each, its line and, below, everything that is known of it.

Without a script every trial is open and the list is complete; `script.js` folds, sorts and filters it. A cell
carries the value it is sorted by where that is not its text.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench.judging.results import Results, read_metrics
from bench.report.curves import LIMIT, Curve, Name, by_name
from bench.report.detail import detail
from bench.report.markup import Markup, element, together
from bench.report.numbers import number
from sweeps.store.row import Row
from vera.wording import plural

HEADLINES = 4
"""Metrics that have a column of their own, at most."""


@dataclass(frozen=True)
class Entry:
    """A row and its curves, read once."""

    row: Row
    metrics: Mapping[str, float]
    curves: Mapping[Name, Curve]
    flag: str = ""
    """What a command must add to find the trial."""


@dataclass(frozen=True)
class Field:
    """A column of the list: `key` names it in links, `value` is what it is sorted by (None: the text
    itself)."""

    key: str
    header: str
    text: Callable[[Entry], str]
    value: Callable[[Entry], float | None] | None = None


FIELDS = (
    Field("sweep", "sweep", lambda entry: entry.row.sweep),
    Field("label", "label", lambda entry: entry.row.label),
    Field("dataset", "data set", lambda entry: entry.row.dataset),
    Field("method", "method", lambda entry: entry.row.method),
    Field("seed", "seed", lambda entry: str(entry.row.seed), lambda entry: entry.row.seed),
    Field("outcome", "outcome", lambda entry: entry.row.outcome),
    Field("steps", "steps", lambda entry: _steps(entry.row), lambda entry: entry.row.outcome_step),
)
SECONDS = Field(
    "seconds", "seconds", lambda entry: f"{entry.row.seconds:,.1f}", lambda entry: entry.row.seconds
)


def entries_of(results: Results) -> list[Entry]:
    """In the order of sweep, label and seed, as one would look for them."""
    rows = sorted(results.rows, key=lambda row: (row.sweep, row.label, row.seed, row.trial_id))
    return [Entry(row, read_metrics(row), by_name(results.curves(row)), results.flag) for row in rows]


def headlines(entries: Sequence[Entry]) -> list[str]:
    """The metrics that most trials measured or evaluated; of what is only watched in training the loss alone,
    and last."""
    names = Counter(
        name
        for entry in entries
        if entry.row.outcome == "ok"
        for name in entry.metrics
        if not name.endswith("_se")
    )
    kinds = {(kind, metric) for entry in entries for kind, metric in entry.curves}
    evaluated = {metric for kind, metric in kinds if kind == "evaluation"}
    watched = {metric for kind, metric in kinds if kind == "training"} - evaluated
    judged = sorted(
        (name for name in names if name not in watched),
        key=lambda name: (-names[name], name not in evaluated, name),
    )
    return [*judged, *(name for name in ("loss",) if name in watched and name in names)][:HEADLINES]


def trial_list(results: Results) -> Markup:
    entries = entries_of(results)
    fields = [*FIELDS, *map(_metric_field, headlines(entries)), SECONDS]
    headings = [
        _heading("id", "id"),
        *(_heading(field.key, field.header, field.value is not None) for field in fields),
    ]
    head = element("thead", element("tr", headings))
    label = f"Trials of the {results.profile} profile"
    table = element(
        "table", head, [_body(entry, fields) for entry in entries], class_="trials", aria_label=label
    )
    return together(_controls(results, len(entries)), element("div", table, class_="wide"), _reading())


def _metric_field(name: str) -> Field:
    """A result, so only of a trial that ended ok; the last finite values of the others stand in their
    details."""

    def value(entry: Entry) -> float | None:
        return entry.metrics.get(name) if entry.row.outcome == "ok" else None

    return Field(name, name.replace("_", " "), lambda entry: number(value(entry)), value)


def _controls(results: Results, n: int) -> Markup:
    name = f"filter-{results.profile}"
    field = element(
        "input",
        type="search",
        id=name,
        class_="filter",
        placeholder="for example: vera outcome=ok",
        autocomplete="off",
    )
    shown = element("output", plural(n, "trial"), for_=name)
    return element("p", element("label", "Show only ", for_=name), field, " ", shown, class_="controls")


def _reading() -> Markup:
    return element(
        "p",
        "Words must all occur in a trial's line; ",
        element("code", "method=pcd"),
        " asks a column for exactly that, and quotes hold words together. A link can carry the view: ",
        element("code", "report.html#filter=pcd&sort=-seconds&open=ID"),
        ", where a minus sorts from high to low and ID is a trial's id or the beginning of it. ",
        "Metrics are listed of trials that ended ok; the last finite ones of the others are in their details. ",
        f"Curves of more than {LIMIT} points are thinned.",
        class_="aside",
    )


def _heading(key: str, header: str, is_number: bool = False) -> Markup:
    button = element("button", header, type="button")
    return element("th", button, scope="col", data_key=key, class_="number" if is_number else None)


def _body(entry: Entry, fields: Sequence[Field]) -> Markup:
    name = entry.row.trial_id
    below = f"detail-{name}"
    fold = element("button", name[:8], type="button", aria_expanded="true", aria_controls=below, title=name)
    line = element("tr", element("th", fold, scope="row"), [_cell(entry, field) for field in fields])
    more = element(
        "tr",
        element("td", detail(entry.row, entry.curves, entry.flag), colspan=1 + len(fields)),
        class_="detail",
        id=below,
    )
    return element(
        "tbody", line, more, id=f"trial-{name}", data_id=name, class_=f"outcome-{entry.row.outcome}"
    )


def _cell(entry: Entry, field: Field) -> Markup:
    if field.value is None:
        return element("td", field.text(entry), class_=field.key)
    value = field.value(entry)
    return element("td", field.text(entry), class_="number", data_value="" if value is None else repr(value))


def _steps(row: Row) -> str:
    return f"{row.steps:,}" if row.outcome_step == row.steps else f"{row.outcome_step:,} of {row.steps:,}"

"""The README's tables of all tables and figures: trials, time, one value measured here, the paper's value; at
`laptop` and at `paper`. Times come from the published rows, values from the published tables."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product

from bench.catalogue import catalogue
from bench.costs import describe_gpu_time
from bench.judging.cell import make_cell
from bench.judging.results import Results, read_metrics
from bench.publishing.ledger import name_run
from bench.publishing.markdown_templates import render_template
from bench.publishing.overview_entries import (
    ENTRIES,
    PAPER_QUOTES,
    OverviewEntry,
    TableQuote,
    TrialQuote,
)
from bench.publishing.published_tables import read_published_table
from bench.render.numbers import format_exact, format_interval
from sweeps.store.row import Row
from sweeps.trial.canonical_json import canonical_json


def render_overview(laptop: Results, paper: Results) -> str:
    """Both tables."""
    return render_template("overview", laptop=list_laptop_lines(laptop.rows), paper=list_paper_lines(paper))


def list_laptop_lines(rows: Iterable[Row]) -> list[dict[str, str]]:
    """A line for every artifact. Minutes are those of the sweep of the same name."""
    seconds: Counter[str] = Counter()
    for row in rows:
        seconds[name_run(row)] += round(row.seconds * row.cpus)
    lines = []
    for entry in ENTRIES:
        value, paper = _quote(entry.name, entry.quote, ())
        lines.append(
            {
                "name": entry.name,
                "others": entry.others,
                "trials": entry.trials,
                "minutes": f"{seconds[entry.name] / 60:.0f}" if seconds[entry.name] >= 30 else "",
                "shows": entry.shows,
                "value": value,
                "paper": paper,
                "gpu_time": estimate_gpu_time(entry),
            }
        )
    return lines


def estimate_gpu_time(entry: OverviewEntry) -> str:
    """GPU time of the trials at `paper`, from counted operations; empty if not all are counted."""
    works: dict[tuple[str, int], tuple[float | None, int]] = {}
    for artifact in (catalogue.artifact(name) for name in (entry.name, *entry.also)):
        for trial, seed in product(artifact.trials("paper"), artifact.seeds["paper"]):
            works[canonical_json(trial.spec.to_dict()), seed] = artifact.flop(trial), trial.spec.steps
    counted = [(work, steps) for work, steps in works.values() if work is not None]
    return describe_gpu_time(counted) if counted and len(counted) == len(works) else ""


def list_paper_lines(results: Results) -> list[dict[str, str]]:
    """A line for every artifact with trials at `paper`."""
    lines = []
    for name, quote in PAPER_QUOTES.items():
        artifact = catalogue.artifact(name)
        declared, seeds = list(artifact.trials("paper")), artifact.seeds["paper"]
        if rows := [row for row in results.find_all_rows(declared) if row.seed in seeds]:
            hours = sum(row.seconds * row.cpus for row in rows) / 3600
            value, paper = _quote(f"{name}-paper", quote, rows)
            lines.append(
                {
                    "name": name,
                    "run": f"{len(rows)}",
                    "declared": f"{len(declared) * len(seeds)}",
                    "hours": f"{hours:.1f}" if hours >= 0.05 else "",
                    "value": value,
                    "paper": paper,
                }
            )
    return lines


def _quote(table: str, quote: TableQuote | TrialQuote | None, rows: Sequence[Row]) -> tuple[str, str]:
    """(value measured here, value of the paper), as text."""
    if quote is None:
        return "", ""
    if isinstance(quote, TrialQuote):
        values = [
            (row.outcome, read_metrics(row).get(quote.metric)) for row in rows if row.label == quote.label
        ]
        cell = make_cell(values)
        mean, half_width, paper = cell.mean, cell.half_width, quote.paper
    else:
        mean, half_width, paper = _look_up(table, quote)
    value = "" if mean is None else f"{quote.about}: {format_interval(mean, half_width, quote.digits)}"
    return value, "" if paper is None else format_exact(paper)


def _look_up(table: str, quote: TableQuote) -> tuple[float | None, float | None, float | None]:
    """Mean, half-width and the paper's value in a published table."""
    (line,) = (
        line
        for line in read_published_table(quote.table or table)
        if all(line[name] == value for name, value in quote.line.items())
    )
    mean, half_width, paper = (
        float(text) if (text := line[f"{quote.metric}{suffix}"]) else None
        for suffix in ("", "_half_width", "_paper")
    )
    return mean, half_width, paper

"""Tables of a paper's tables and figures: trials, time, one value measured here, the paper's value; at
`laptop` and at `paper`. Times come from the published rows, values from the published tables."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from bench.catalogue import catalogue
from bench.costs import describe_gpu_time
from bench.judging.results import Results
from bench.publishing.markdown import render_template
from bench.publishing.quotes import Quote
from bench.publishing.results_tables import name_run
from sweeps.store.row import Row
from sweeps.trial.canonical_json import canonical_json


class OverviewEntry(NamedTuple):
    """One line: an artifact, or several that share their trials."""

    name: str
    trials: str
    shows: str
    others: str = ""
    quote: Quote | None = None
    also: Sequence[str] = ()
    """Artifacts of the same line."""


def render_overview(
    entries: Sequence[OverviewEntry],
    paper_quotes: Mapping[str, Quote | None],
    laptop: Results,
    paper: Results,
) -> str:
    """The table of all entries at `laptop`, and that of the artifacts of `paper_quotes` at `paper`."""
    return render_template(
        "overview",
        laptop=list_laptop_lines(entries, laptop.rows),
        paper=list_paper_lines(paper_quotes, paper),
    )


def list_laptop_lines(entries: Iterable[OverviewEntry], rows: Iterable[Row]) -> list[list[str]]:
    """A line for every entry. Minutes are those of the sweep of the same name."""
    seconds: Counter[str] = Counter()
    for row in rows:
        seconds[name_run(row)] += round(row.seconds * row.cpus)
    return [
        [
            f"`make reproduce-{entry.name}`{entry.others}",
            entry.trials,
            f"{seconds[entry.name] / 60:.0f}" if seconds[entry.name] >= 30 else "",
            entry.shows,
            *(entry.quote.read(entry.name, ()) if entry.quote else ("", "")),
            estimate_gpu_time(entry),
        ]
        for entry in entries
    ]


def estimate_gpu_time(entry: OverviewEntry) -> str:
    """GPU time of the trials at `paper`, from counted operations; empty if not all are counted."""
    works: dict[tuple[str, int], tuple[float | None, int]] = {}
    for artifact in (catalogue.artifact(name) for name in (entry.name, *entry.also)):
        for trial, seed in product(artifact.trials("paper"), artifact.seeds["paper"]):
            works[canonical_json(trial.spec.to_dict()), seed] = artifact.flop(trial), trial.spec.steps
    counted = [(work, steps) for work, steps in works.values() if work is not None]
    return describe_gpu_time(counted) if counted and len(counted) == len(works) else ""


def list_paper_lines(quotes: Mapping[str, Quote | None], results: Results) -> list[list[str]]:
    """A line for every artifact with trials at `paper`."""
    lines = []
    for name, quote in quotes.items():
        artifact = catalogue.artifact(name)
        declared, seeds = list(artifact.trials("paper")), artifact.seeds["paper"]
        if rows := [row for row in results.find_all_rows(declared) if row.seed in seeds]:
            hours = sum(row.seconds * row.cpus for row in rows) / 3600
            lines.append(
                [
                    f"`make reproduce-{name} PROFILE=paper`",
                    str(len(rows)),
                    str(len(declared) * len(seeds)),
                    f"{hours:.1f}" if hours >= 0.05 else "",
                    *(quote.read(f"{name}-paper", rows) if quote else ("", "")),
                ]
            )
    return lines

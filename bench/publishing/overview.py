"""The table of a paper's tables and figures: trials and time at `laptop`, cost at `paper`, one value of each
and the paper's value. Times come from the published rows, values from the published tables and rows."""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

from bench.artifact import Artifact
from bench.catalogue import catalogue
from bench.costs import describe_gpu_time
from bench.judging.results import Results
from bench.publishing.markdown import render_template
from bench.publishing.quotes import Quote
from bench.publishing.results_tables import name_run
from sweeps.store.row import Row
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Profile, Trial


class OverviewEntry(NamedTuple):
    """One line: one artifact, or several that belong together."""

    names: Sequence[str]
    """The first one has the quoted values."""
    shows: str
    quote: Quote | None = None
    paper_quote: Quote | None = None
    listed: str = ""
    """The first cell, if not every name is to be spelled out."""

    @property
    def artifacts(self) -> list[Artifact]:
        """The artifacts of the line, in their order."""
        return [catalogue.artifact(name) for name in self.names]


def render_overview(entries: Iterable[OverviewEntry], laptop: Results, paper: Results) -> str:
    """The table of all entries. A trial counts for the first line that has it."""
    lines: list[list[str]] = []
    taken: set[str] = set()
    for entry in entries:
        names = entry.listed or ", ".join(f"`{name}`" for name in entry.names)
        rows = find_rows(entry, paper)
        here, in_paper = (
            entry.quote.read(entry.names[0], find_rows(entry, laptop)) if entry.quote else ("", "")
        )
        at_paper, own_paper = (
            entry.paper_quote.read(f"{entry.names[0]}-paper", rows) if entry.paper_quote else ("", "")
        )
        lines.append(
            [
                names,
                entry.shows,
                describe_laptop_cost(entry, laptop, taken),
                here,
                describe_paper_cost(entry, rows),
                at_paper,
                own_paper or in_paper,
            ]
        )
        taken |= set(list_trials(entry, "laptop"))
    return render_template("overview", lines=lines)


def list_trials(entry: OverviewEntry, profile: Profile) -> dict[str, tuple[Artifact, Trial]]:
    """The trials of all artifacts of a line, by settings and seed."""
    return {
        f"{canonical_json(trial.spec.to_dict())} {seed}": (artifact, trial)
        for artifact in entry.artifacts
        for trial, seed in product(artifact.trials(profile), artifact.seeds.get(profile, ()))
    }


def find_rows(entry: OverviewEntry, results: Results) -> list[Row]:
    """The stored rows of the line's trials with its seeds, each once."""
    found = {
        row.trial_id: row
        for artifact in entry.artifacts
        for row in results.find_all_rows(list(artifact.trials(results.profile)))
        if row.seed in artifact.seeds.get(results.profile, ())
    }
    return list(found.values())


def describe_laptop_cost(entry: OverviewEntry, laptop: Results, taken: Iterable[str]) -> str:
    """The number of trials that no earlier line has, how many are shared, and the minutes of the sweeps with
    the names of the artifacts."""
    own = set(list_trials(entry, "laptop"))
    shared = len(own & set(taken))
    counts = [f"{len(own) - shared}"] * (len(own) > shared) + [f"{shared} shared"] * (shared > 0)
    seconds = sum(row.seconds * row.cpus for row in laptop.rows if name_run(row) in entry.names)
    time = f", {seconds / 60:.0f} min" if seconds >= 30 else ""
    return f"{' + '.join(counts)}{time}"


def describe_paper_cost(entry: OverviewEntry, rows: Sequence[Row]) -> str:
    """What the stored trials at `paper` took, or an estimate of the GPU time if there are none; empty if not
    all operations are counted."""
    declared = list_trials(entry, "paper")
    if rows:
        hours = sum(row.seconds * row.cpus for row in rows) / 3600
        return f"{len(rows)} of {len(declared)}" + (f", {hours:.1f} h" if hours >= 0.05 else "")
    works = [(artifact.flop(trial), trial.spec.steps) for artifact, trial in declared.values()]
    counted = [(work, steps) for work, steps in works if work is not None]
    return describe_gpu_time(counted) if counted and len(counted) == len(works) else ""

"""Whether a search found settings at least as good as the grid's, and for fewer training steps.

The best configurations of both are compared by an interval of the difference of their scores, within the
tolerance of the objective. They are judged by fresh seeds if both were run with some (`vera run trial:ID
--seeds 5`), because a configuration looks better on the seeds that selected it; otherwise by the seeds that
selected them, and the evidence says so. A diverged seed counts as the worst value in both cases.

Trap: a search that finds the grid's trials in its store learns from them at no cost, and rows do not record
what a search knew. A search is therefore compared only if every trial of the grid ended after the search's
last trial had started: run the search first, then the grid.
"""

from collections.abc import Sequence
from dataclasses import replace

from bench.judging.cell import Cell, make_cell
from bench.judging.claims import Finding, check_at_most, require_all
from bench.judging.results import Results
from bench.searches.stored_searches import GRID_NAME, GridReference, StoredSearch, find_searches
from sweeps.search.declaration import Configuration
from sweeps.store.row import FAILURES, Row
from sweeps.trial.identity import reseed

CHEAP_SHARE = 1 / 3
DEFAULT_NAME = "tpe"
"""The name of a search that is started without flags."""


def score_fresh_seeds(run: StoredSearch, entry: Configuration, results: Results) -> Cell:
    """The scores of a configuration with seeds that no search uses."""
    return _score_rows(run, results.find_rows(reseed(entry.trials[0], 0)))


def _score_rows(run: StoredSearch, rows: Sequence[Row]) -> Cell:
    """The scores of rows; failed trials say nothing about the method and are left out."""
    judged = [(row.seed, run.objective.score_row(row)) for row in rows if row.outcome not in FAILURES]
    known = [(seed, score) for seed, score in judged if score is not None]
    return make_cell([("ok", score) for _, score in known], seeds=[seed for seed, _ in known])


def check_at_least_as_good(run: StoredSearch, grid: GridReference, results: Results) -> Finding:
    """Whether the search's best is not below the grid's, for fewer training steps than the grid took."""
    if grid.run is None:
        return Finding(
            "undetermined",
            f"the grid of {grid.points} was not run to its end here; it would take {grid.steps:,} steps",
        )
    own, other = run.best, grid.run.best
    if own is None or other is None:
        name = run.name if own is None else GRID_NAME
        return Finding("undetermined", f"no configuration of {name} ran to its end")
    if grid.compute_share(run) >= 1:
        return Finding("refuted", f"it took {run.steps:,} steps, the grid {grid.steps:,}")
    if known := _count_known_trials(run, grid.run):
        return Finding(
            "undetermined",
            f"{known} of the grid's trials ended before {run.name} was through, "
            "which may have learned from them: to compare the two, run the grid after it",
        )
    cells, seeds = (
        (score_fresh_seeds(grid.run, other, results), score_fresh_seeds(run, own, results)),
        "fresh seeds",
    )
    if min(cell.n for cell in cells) < 2:
        cells = _score_rows(grid.run, list(other.rows.values())), _score_rows(run, list(own.rows.values()))
        seeds = "the seeds that chose them"
    finding = check_at_most(f"{GRID_NAME} − {run.name}", *cells, run.objective.tolerance)
    return replace(finding, evidence=f"{finding.evidence}, of {seeds}")


def _count_known_trials(run: StoredSearch, grid: StoredSearch) -> int:
    """How many of the grid's trials had ended when the search's last trial started."""
    last = max(row.started_at for row in run.rows)
    return sum(row.finished_at < last for row in grid.rows)


def describe_verdict(run: StoredSearch, grid: GridReference, results: Results) -> str:
    """The finding on one search in a sentence."""
    finding = check_at_least_as_good(run, grid, results)
    return (
        f"{finding.label} at {results.profile}: {run.problem} {run.method}, {run.name} is "
        f"at least as good as the grid for {100 * grid.compute_share(run):.0f} % of its steps "
        f"({finding.explanation})."
    )


def check_cheap_and_good(results: Results) -> Finding:
    """Whether the default search is at least as good as the grid with a third of its steps, on every problem
    and method for which it was run. Searches of other names do not count."""
    runs = [
        (run, GridReference.choose(runs, results.profile))
        for runs in find_searches(results).values()
        for run in runs
        if run.name == DEFAULT_NAME
    ]
    if not runs:
        return Finding("undetermined", f"no search named {DEFAULT_NAME} was run")
    return require_all([_check_cheap(run, grid, results) for run, grid in runs])


def _check_cheap(run: StoredSearch, grid: GridReference, results: Results) -> Finding:
    finding = check_at_least_as_good(run, grid, results)
    share = grid.compute_share(run)
    is_too_expensive = grid.run is not None and share > CHEAP_SHARE
    evidence = (
        f"{run.problem} {run.method}: {finding.evidence}; "
        f"{run.name} took {100 * share:.0f} % of the grid's steps"
    )
    return Finding("refuted", evidence) if is_too_expensive else replace(finding, evidence=evidence)

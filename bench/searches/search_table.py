"""Searches: what each found, what it cost, and whether the grid would have been the better way. Not in the
paper.

Which search is at least as good as the grid, within what its objective says is too small to matter, is
decided by an interval of the difference between the two best configurations. They are judged by fresh seeds
where both were run with some (`vera run trial:ID --seeds 5`), because what was chosen by a value is flattered
by it; else by the seeds that chose them, and the evidence says so. A diverged seed counts as the worst in
either.

Trap: a search that finds the grid's trials in its store learns from them for nothing, and rows do not say
what a search knew. So it is compared only where all that was run of the grid ended after the search's last
trial had begun: the search first, then the grid.
"""

from collections.abc import Iterator, Sequence

from bench.artifact import Artifact, Column, Sheet, Value
from bench.judging.cell import Cell
from bench.judging.claims import Claim, Finding, all_of, at_most
from bench.judging.results import Results
from bench.render.caption import caption_tail
from bench.searches.stored_searches import GRID, Grid, Searched, search_rows, searched
from sweeps.search.declaration import Configuration
from sweeps.store.row import FAILURES, Row
from sweeps.trial.identity import Profile, Trial, with_seed

THIRD = 1 / 3
BEGIN = "vera search moons"
USUAL = "tpe"
"""What a search is called that is begun without flags."""
FRESH = 5
"""Seeds that a best configuration should be run with to be judged."""


def run_again(entry: Configuration, seeds: int = 3) -> str:
    """The command that trains it with seeds from 0 on, which no search uses."""
    first = entry.rows[min(entry.rows)]
    return f"vera run trial:{first.trial_id[:8]} --seeds {seeds}"


def scores(run: Searched, rows: Sequence[Row]) -> Cell:
    """Of the trials that say something of the method."""
    said = [(row.outcome, run.objective.of_row(row)) for row in rows if row.outcome not in FAILURES]
    values = [value for _, value in said if value is not None]
    return Cell(tuple(values), ("ok",) * len(values), reason="" if values else "not run")


def fresh(run: Searched, entry: Configuration, results: Results) -> Cell:
    trial = with_seed(entry.trials[0], 0)
    return scores(run, results.like(trial))


def at_least_as_good(run: Searched, grid: Grid, results: Results, comparisons: int = 1) -> Finding:
    """Whether its best is not below the grid's, for fewer training steps than the grid took."""
    if grid.run is None:
        return Finding(
            "undetermined",
            f"the grid of {grid.points} was not run to its end here; it would take {grid.steps:,} steps",
        )
    own, other = run.best, grid.run.best
    if own is None or other is None:
        return Finding(
            "undetermined", f"no configuration of {run.name if own is None else GRID} ran to its end"
        )
    if grid.share(run) >= 1:
        return Finding("refuted", f"it took {run.steps:,} steps, the grid {grid.steps:,}")
    if known := may_have_known(run, grid.run):
        return Finding(
            "undetermined", f"{known} of the grid's trials ended before {run.name} was through, which may have learned from them: "
            "to compare the two, run the grid after it"
        )  # fmt: skip
    cells, seeds = (fresh(grid.run, other, results), fresh(run, own, results)), "fresh seeds"
    if min(cell.n for cell in cells) < 2:
        cells = scores(grid.run, list(other.rows.values())), scores(run, list(own.rows.values()))
        seeds = "the seeds that chose them"
    finding = at_most(f"{GRID} − {run.name}", *cells, run.objective.tolerance, comparisons)
    return Finding(finding.judgement, f"{finding.evidence}, of {seeds}")


def may_have_known(run: Searched, grid: Searched) -> int:
    """How many of the grid's trials had ended when the last of the search's own began."""
    last = max(row.started_at for row in run.rows)
    return sum(row.finished_at < last for row in grid.rows)


def verdict(run: Searched, grid: Grid, results: Results) -> str:
    finding = at_least_as_good(run, grid, results)
    share = f"{100 * grid.share(run):.0f} % of its steps"
    task, method = run.pair
    return (
        f"{finding.marked} at {results.profile}: {task} {method}, {run.name} is at least as good as "
        f"the grid for {share} ({finding.evidence})."
    )


def cheap(run: Searched, grid: Grid, results: Results, comparisons: int) -> Finding:
    """Likewise, for a third of the grid's steps at most."""
    finding = at_least_as_good(run, grid, results, comparisons)
    dear = grid.run is not None and grid.share(run) > THIRD
    evidence = f"{' '.join(run.pair)}: {finding.evidence}; {run.name} took {100 * grid.share(run):.0f} % of the grid's steps"
    return Finding("refuted" if dear else finding.judgement, evidence)


def cheap_and_good(results: Results) -> Finding:
    """Of the usual search alone, so that it does not depend on which others there are."""
    grids = [
        (Grid.of(runs, results.profile), run)
        for runs in searched(results).values()
        for run in runs
        if run.name == USUAL
    ]
    if not grids:
        return Finding("undetermined", f"no search named {USUAL} was run")
    return all_of([cheap(run, grid, results, len(grids)) for grid, run in grids])


class SearchArtifact(Artifact):
    """Read off whatever searches the store has; `vera search` makes their trials."""

    listed = False

    @property
    def command(self) -> str:
        return BEGIN

    def trials(self, profile: Profile) -> Iterator[Trial]:
        return iter(())

    def rows(self, results: Results) -> list[Row]:
        return search_rows(results)


class Searches(SearchArtifact):
    name = "searches"
    title = "Searches for settings: what they found and what they cost"
    companions = ("search-figures",)
    claims = (
        Claim("cheap-search", "The usual search (TPE and ASHA) finds settings at least as good as the grid's for at most a third "
              "of its training steps.", "not in the paper", cheap_and_good),
    )  # fmt: skip
    columns = (
        Column("task", "task"), Column("method", "method"), Column("search", "search"),
        Column("configurations", "configurations", 0), Column("stopped", "stopped early", 0), Column("diverged", "diverged", 0),
        Column("steps", "training steps", 0), Column("share", "% of the grid's steps", 1), Column("seconds", "seconds", 0),
        Column("metric", "sought"), Column("score", "best", 3), Column("point", "at"), Column("command", "to run it again"),
    )  # fmt: skip

    def render(self, results: Results) -> Sheet:
        found = searched(results)
        lines = tuple(line for runs in found.values() for line in self.block(runs, results.profile))
        notes = tuple(note for runs in found.values() for note in self.remarks(runs, results))
        caption = (
            "A configuration is a point of the space with all its seeds; its score is the mean over them, a diverged seed counting "
            "as the worst. The best is one of those that ran to their end. Costs are of the trials that the search itself ran. "
            f"{caption_tail([row for runs in found.values() for run in runs for row in run.rows])}"
        )
        return Sheet(
            self.name, self.title, caption, self.columns, lines, results.profile, (*notes, *results.notes)
        )

    def block(self, runs: Sequence[Searched], profile: Profile) -> Iterator[dict[str, Value]]:
        grid = Grid.of(runs, profile)
        for run in runs:
            task, method = run.pair
            yield {
                "task": task, "method": method, "search": run.name, "configurations": float(len(run.configurations)),
                "stopped": float(run.stopped), "diverged": float(run.diverged), "steps": float(run.steps),
                "share": 100 * grid.share(run), "seconds": run.seconds, "metric": run.objective.metric.replace("_", " "),
                **self.found(run),
            }  # fmt: skip

    def found(self, run: Searched) -> dict[str, Value]:
        result = run.best.result() if run.best else None
        if run.best is None or result is None:
            return {"score": "none ran to its end"}
        return {
            "score": run.objective.score(result.scores[0]),
            "point": run.best.place,
            "command": run_again(run.best),
        }

    def remarks(self, runs: Sequence[Searched], results: Results) -> Iterator[str]:
        """What the grid costs, and whether it is worth that."""
        grid, (task, method) = Grid.of(runs, results.profile), runs[0].pair
        if grid.run is None:
            yield f"{task} {method}: the grid of {grid.points} would take {grid.steps:,} steps; it was not run to its end here."
        else:
            yield f"{task} {method}: the grid of {grid.points} took {grid.steps:,} steps and {grid.run.seconds:,.0f} s here."
        yield from (verdict(run, grid, results) for run in runs if run.name != GRID)
        unsure = [run for run in runs if run.best is not None and fresh(run, run.best, results).n < 2]
        if grid.run is not None and len(runs) > 1 and unsure:
            commands = "; ".join(run_again(run.best, FRESH) for run in unsure if run.best is not None)
            yield f"{task} {method}: to judge the best by seeds that did not choose them: {commands}"

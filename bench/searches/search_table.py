"""The table of searches: what each found and what it cost, compared with the grid. Not in the paper."""

from collections.abc import Iterator, Sequence

from bench.artifact import Artifact, Column, Sheet, Value
from bench.judging.claims import Claim
from bench.judging.results import Results
from bench.render.caption import describe_origin
from bench.searches.search_judging import check_cheap_and_good, describe_verdict, score_fresh_seeds
from bench.searches.stored_searches import (
    GRID_NAME,
    GridReference,
    StoredSearch,
    find_search_rows,
    find_searches,
)
from sweeps.search.declaration import Configuration
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial

FRESH_SEEDS = 5
"""Number of fresh seeds that the best configurations should be run with."""


class SearchArtifact(Artifact):
    """An artifact of all searches in the store, which `vera search` has run."""

    listed = False

    @property
    def command(self) -> str:
        return "vera search moons"

    def trials(self, profile: Profile) -> Iterator[Trial]:
        return iter(())

    def rows(self, results: Results) -> list[Row]:
        return find_search_rows(results)


class SearchTable(SearchArtifact):
    name = "searches"
    title = "Searches for settings: what they found and what they cost"
    companions = ("search-figures",)
    claims = (
        Claim(
            "cheap-search",
            "The usual search (TPE and ASHA) finds settings at least as good as the grid's "
            "for at most a third of its training steps.",
            "not in the paper",
            check_cheap_and_good,
        ),
    )
    columns = (
        Column("task", "task"),
        Column("method", "method"),
        Column("search", "search"),
        Column("configurations", "configurations", 0),
        Column("stopped", "stopped early", 0),
        Column("diverged", "diverged", 0),
        Column("steps", "training steps", 0),
        Column("share", "% of the grid's steps", 1),
        Column("seconds", "seconds", 0),
        Column("metric", "sought"),
        Column("score", "best", 3),
        Column("point", "at"),
        Column("command", "to run it again"),
    )

    def render(self, results: Results) -> Sheet:
        found = find_searches(results)
        lines = tuple(line for runs in found.values() for line in self._make_lines(runs, results.profile))
        notes = tuple(note for runs in found.values() for note in self._make_notes(runs, results))
        caption = (
            "A configuration is a point of the space with all its seeds; its score is the mean over them, "
            "a diverged seed counting as the worst. The best is one of those that ran to their end. "
            "Costs are of the trials that the search itself ran. "
            f"{describe_origin([row for runs in found.values() for run in runs for row in run.rows])}"
        )
        return Sheet(
            self.name, self.title, caption, self.columns, lines, results.profile, (*notes, *results.notes)
        )

    def _make_lines(self, runs: Sequence[StoredSearch], profile: Profile) -> Iterator[dict[str, Value]]:
        grid = GridReference.choose(runs, profile)
        for run in runs:
            yield {
                "task": run.problem,
                "method": run.method,
                "search": run.name,
                "configurations": float(len(run.configurations)),
                "stopped": float(run.stopped),
                "diverged": float(run.diverged),
                "steps": float(run.steps),
                "share": 100 * grid.compute_share(run),
                "seconds": run.seconds,
                "metric": run.objective.metric.replace("_", " "),
                **self._describe_best(run),
            }

    def _describe_best(self, run: StoredSearch) -> dict[str, Value]:
        score = run.best.compute_score() if run.best else None
        if run.best is None or score is None:
            return {"score": "none ran to its end"}
        return {
            "score": run.objective.score(score.scores[0]),
            "point": run.best.description,
            "command": _make_rerun_command(run.best, 3),
        }

    def _make_notes(self, runs: Sequence[StoredSearch], results: Results) -> Iterator[str]:
        """The cost of the grid, the verdict on every search, and how to judge the best by fresh seeds."""
        grid, name = GridReference.choose(runs, results.profile), f"{runs[0].problem} {runs[0].method}"
        if grid.run is None:
            yield (
                f"{name}: the grid of {grid.points} would take {grid.steps:,} steps; "
                "it was not run to its end here."
            )
        else:
            yield (
                f"{name}: the grid of {grid.points} took {grid.steps:,} steps "
                f"and {grid.run.seconds:,.0f} s here."
            )
        yield from (describe_verdict(run, grid, results) for run in runs if run.name != GRID_NAME)
        bests = [run.best for run in runs if run.best and score_fresh_seeds(run, run.best, results).n < 2]
        if grid.run is not None and len(runs) > 1 and bests:
            commands = "; ".join(_make_rerun_command(best, FRESH_SEEDS) for best in bests)
            yield f"{name}: to judge the best by seeds that did not choose them: {commands}"


def _make_rerun_command(entry: Configuration, seeds: int) -> str:
    """The command that trains a configuration with seeds from 0 on, which no search uses."""
    first = entry.rows[min(entry.rows)]
    return f"vera run trial:{first.trial_id[:8]} --seeds {seeds}"

"""Searches as the store has them: which there are, what each tried, what it cost. Loads neither torch nor
ray.

A search is found by the sweep that its rows name, `search-TASK-METHOD-NAME`, and by what is declared for that
task and method. Its seeds are those that it was run with. Trap: a trial that it took over from another sweep
is that sweep's row: it counts for the score of a configuration, not for what the search cost.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from bench.judging.results import Results
from bench.searches.problems import TASKS
from sweeps.search.declaration import PREFIX, Configuration, Search, best
from sweeps.search.objective import Objective
from sweeps.store.row import Row
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Profile

GRID = "grid"
"""The name of the search that the others of its task and method are measured against."""
Pair = tuple[str, str]
"""Task and method."""


@dataclass(frozen=True)
class Searched:
    """One search: all its configurations of which a trial has ended, oldest first."""

    pair: Pair
    search: Search
    configurations: tuple[Configuration, ...]

    @property
    def name(self) -> str:
        return self.search.run_name

    @property
    def objective(self) -> Objective:
        return self.search.objectives[0]

    @property
    def rows(self) -> list[Row]:
        return [row for entry in self.configurations for row in entry.own_rows]

    @property
    def steps(self) -> int:
        return sum(entry.steps for entry in self.configurations)

    @property
    def seconds(self) -> float:
        return sum(entry.seconds for entry in self.configurations)

    @property
    def stopped(self) -> int:
        return sum(entry.stopped for entry in self.configurations)

    @property
    def diverged(self) -> int:
        return sum(entry.diverged for entry in self.configurations)

    @cached_property
    def best(self) -> Configuration | None:
        """Of those that ran to their end."""
        return next(iter(best(self.configurations)), None)

    @property
    def is_whole_grid(self) -> bool:
        """Whether it ran every combination of the declared values to its end."""
        results = {entry.key: entry.result() for entry in self.configurations}
        ended = {key for key, result in results.items() if result is not None and result.stopped_at is None}
        return ended == set(map(canonical_json, self.search.space.grid()))


@dataclass(frozen=True)
class Grid:
    """What searches of a task and method are measured against: the grid as it was run, else what the declared
    one would take."""

    points: int
    steps: int
    run: Searched | None

    @classmethod
    def of(cls, runs: Sequence[Searched], profile: Profile) -> "Grid":
        run = next((run for run in runs if run.name == GRID and run.is_whole_grid), None)
        if run is not None:
            steps = sum(row.outcome_step for entry in run.configurations for row in entry.rows.values())
            return cls(len(run.configurations), steps, run)
        search = max((run.search for run in runs), key=lambda search: len(search.seeds))
        return cls(len(list(search.space.grid())), search.grid_steps(profile), None)

    def share(self, run: Searched) -> float:
        return run.steps / self.steps


def search_rows(results: Results) -> list[Row]:
    """Those of declared searches."""
    return [row for row in results.rows if row.sweep.startswith(PREFIX) and declared(row) is not None]


def declared(row: Row) -> Pair | None:
    """The task and method of a row's search; the method's own name decides where two sweeps begin alike."""
    for task in TASKS.values():
        if f"{row.sweep}-".startswith(f"{PREFIX}{task.name}-{row.method}-") and row.method in task.searches:
            return task.name, row.method
    return None


def searched(results: Results) -> dict[Pair, list[Searched]]:
    """Every search in the store, by task and method as they are declared, the grid first and then by name."""
    by_sweep: dict[tuple[Pair, str], list[Row]] = {}
    for row in search_rows(results):
        pair = declared(row)
        assert pair is not None
        by_sweep.setdefault((pair, row.sweep), []).append(row)
    found: dict[Pair, list[Searched]] = {}
    for (pair, sweep), rows in by_sweep.items():
        found.setdefault(pair, []).append(_read(results, pair, sweep, rows))
    order = [(task.name, method) for task in TASKS.values() for method in task.searches]
    return {
        pair: sorted(found[pair], key=lambda run: (run.name != GRID, run.name))
        for pair in order
        if pair in found
    }


def _read(results: Results, pair: Pair, sweep: str, own: Sequence[Row]) -> Searched:
    """Where its trials changed in between, as when a default did, those of the kind that ended last."""
    plain = TASKS[pair[0]].searches[pair[1]]
    search = replace(
        plain, run_name=sweep[len(plain.sweep) + 1 :], seeds=tuple(sorted({row.seed for row in own}))
    )
    kinds = Counter(search.fixed(_facts(row)) for row in own)
    latest = search.fixed(_facts(max(own, key=lambda row: row.finished_at)))
    if len(kinds) > 1:
        results.notes.append(
            f"{sweep}: {len(kinds)} variants of its trials are in the store; shown is the one that finished last."
        )
    alike = [row for row in results.rows if row.method == pair[1]]
    found = search.gathered(alike, results.profile, latest)
    return Searched(pair, search, tuple(entry for entry in found if entry.own_rows))


def _facts(row: Row) -> Mapping[str, Any]:
    facts: Mapping[str, Any] = json.loads(row.spec)
    return facts

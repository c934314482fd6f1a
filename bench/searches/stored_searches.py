"""The searches in a store: their configurations and their costs. Imports neither torch nor ray.

A search is found by the sweep of its rows, `search-PROBLEM-METHOD-NAME`, and by the declaration of that
problem and method. Its seeds are those of its rows. Trap: a trial that a search took over from another sweep
is a row of that sweep. It counts for the score of a configuration, but not for the cost of the search.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from bench.judging.results import Results
from bench.searches.problems import PROBLEMS
from sweeps.search.declaration import PREFIX, Configuration, Search, find_best
from sweeps.search.objective import Objective
from sweeps.store.row import Row
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Profile

GRID_NAME = "grid"
"""The name of the search that the others of its problem and method are compared with."""
SearchKey = tuple[str, str]
"""(problem, method)."""


@dataclass(frozen=True)
class StoredSearch:
    """One search: its configurations with at least one finished trial, oldest first."""

    problem: str
    method: str
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
        """The rows that the search itself ran."""
        return [row for entry in self.configurations for row in entry.own_rows]

    @property
    def steps(self) -> int:
        return sum(entry.steps for entry in self.configurations)

    @property
    def seconds(self) -> float:
        return sum(entry.seconds for entry in self.configurations)

    @property
    def stopped(self) -> int:
        return sum(entry.is_stopped for entry in self.configurations)

    @property
    def diverged(self) -> int:
        return sum(entry.has_diverged for entry in self.configurations)

    @cached_property
    def best(self) -> Configuration | None:
        """The best configuration that ran to its end."""
        return next(iter(find_best(self.configurations)), None)

    @property
    def is_complete_grid(self) -> bool:
        """Whether it ran every combination of the declared values to its end."""
        scores = {entry.key: entry.compute_score() for entry in self.configurations}
        ended = {key for key, score in scores.items() if score is not None and score.stopped_at is None}
        return ended == set(map(canonical_json, self.search.space.iterate_grid()))


@dataclass(frozen=True)
class GridReference:
    """The grid that searches of a problem and method are compared with: the stored one, or, if it was not run
    to its end, the declared one with the steps that it would take."""

    points: int
    steps: int
    run: StoredSearch | None

    @classmethod
    def choose(cls, runs: Sequence[StoredSearch], profile: Profile) -> "GridReference":
        run = next((run for run in runs if run.name == GRID_NAME and run.is_complete_grid), None)
        if run is not None:
            steps = sum(row.outcome_step for entry in run.configurations for row in entry.rows.values())
            return cls(len(run.configurations), steps, run)
        search = max((run.search for run in runs), key=lambda search: len(search.seeds))
        return cls(len(list(search.space.iterate_grid())), search.count_grid_steps(profile), None)

    def compute_share(self, run: StoredSearch) -> float:
        """The steps of a search as a share of the grid's."""
        return run.steps / self.steps


def find_search_rows(results: Results) -> list[Row]:
    """The rows of declared searches."""
    return [row for row in results.rows if row.sweep.startswith(PREFIX) and identify_search(row) is not None]


def identify_search(row: Row) -> SearchKey | None:
    """The problem and method of the row's search; None if no such search is declared.

    The row's method decides between sweeps whose names begin with the same words, as search-flow-vera and
    search-flow-vera-hmc.
    """
    for problem in PROBLEMS.values():
        prefix = f"{PREFIX}{problem.name}-{row.method}-"
        if f"{row.sweep}-".startswith(prefix) and row.method in problem.searches:
            return problem.name, row.method
    return None


def find_searches(results: Results) -> dict[SearchKey, list[StoredSearch]]:
    """Every search in the store by problem and method, in the order of declaration; the grid first, then by
    name."""
    by_sweep: dict[tuple[SearchKey, str], list[Row]] = {}
    for row in find_search_rows(results):
        key = identify_search(row)
        assert key is not None
        by_sweep.setdefault((key, row.sweep), []).append(row)
    found: dict[SearchKey, list[StoredSearch]] = {}
    for (key, sweep), rows in by_sweep.items():
        found.setdefault(key, []).append(_read_search(results, key, sweep, rows))
    order = [(problem.name, method) for problem in PROBLEMS.values() for method in problem.searches]
    return {
        key: sorted(found[key], key=lambda run: (run.name != GRID_NAME, run.name))
        for key in order
        if key in found
    }


def _read_search(results: Results, key: SearchKey, sweep: str, own: Sequence[Row]) -> StoredSearch:
    """The search of a sweep. If its trials have several variants, because a default changed in between, only
    those of the variant that finished last."""
    problem, method = key
    declared = PROBLEMS[problem].searches[method]
    run_name, seeds = sweep[len(declared.sweep) + 1 :], tuple(sorted({row.seed for row in own}))
    search = replace(declared, run_name=run_name, seeds=seeds)
    variants = {search.select_fixed_facts(json.loads(row.spec)) for row in own}
    last = max(own, key=lambda row: row.finished_at)
    if len(variants) > 1:
        results.notes.append(
            f"{sweep}: {len(variants)} variants of its trials are in the store; "
            "shown is the one that finished last."
        )
    same_method = [row for row in results.rows if row.method == method]
    fixed = search.select_fixed_facts(json.loads(last.spec))
    found = search.match_configurations(same_method, results.profile, fixed)
    return StoredSearch(problem, method, search, tuple(entry for entry in found if entry.own_rows))

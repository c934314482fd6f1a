"""The declaration of a search: the trial to vary, the space, the objectives and the seeds.

A search is also a sweep: every proposal is a trial of the sweep `search-PROBLEM-METHOD-NAME`, with an id like
any other, and its row goes into the same store. The store is the only memory of a search. A configuration is
a point with all its seeds. Several searches of one problem and method differ by their names. A row belongs to
the sweep that ran it first: the cost of a search counts its own rows only, while a score may also use rows of
other sweeps.
"""

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sweeps.search.objective import Aggregate, Objective, SearchScore, aggregate_scores
from sweeps.search.space import Point, Space
from sweeps.store.row import Row
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Profile, Trial, reseed

PREFIX = "search-"


@dataclass(frozen=True)
class Search:
    """A search for the settings of one method on one search problem."""

    name: str
    about: str
    base: Callable[[Profile], Trial]
    """The trial whose settings are varied; its seed is ignored."""
    space: Space
    objectives: tuple[Objective, ...]
    seeds: tuple[int, ...]
    aggregate: Aggregate = "mean"
    run_name: str = ""
    """Distinguishes several searches of one problem and method."""

    @property
    def sweep(self) -> str:
        return f"{PREFIX}{self.name}" + (f"-{self.run_name}" if self.run_name else "")

    def build_configuration(self, point: Point, profile: Profile) -> "Configuration":
        base = self.base(profile)
        label = base.spec.method["name"]  # the base's own label may name a setting that varies here
        trial = replace(base, spec=self.space.apply(base.spec, point), sweep=self.sweep, label=label)
        return Configuration(self, point, tuple(reseed(trial, seed) for seed in self.seeds))

    def describe_settings(self, row: Row) -> str:
        """The settings of a row that the search varies, as text; the row's label if they are not of its
        space."""
        point = self.space.read(json.loads(row.spec))
        return row.label if point is None else self.space.describe(point)

    def list_largest_trials(self, profile: Profile) -> list[Trial]:
        """One trial for each combination of choices, with integers at their maximum: none needs more
        memory."""
        values = [
            axis.choices or (int(axis.bounds[1]) if axis.integer else axis.round(axis.low),)
            for axis in self.space.axes
        ]
        points = [dict(zip(self.space.names, point, strict=True)) for point in itertools.product(*values)]
        return [self.build_configuration(point, profile).trials[0] for point in points]

    def list_choice_trials(self, profile: Profile) -> list[Trial]:
        """A few trials in which each choice of each axis occurs at least once; other axes keep the base's
        values."""
        axes = tuple(axis for axis in self.space.axes if axis.choices)
        chosen, turns = replace(self, space=Space(axes)), max((len(axis.choices) for axis in axes), default=1)
        points = [
            {axis.name: axis.choices[turn % len(axis.choices)] for axis in axes} for turn in range(turns)
        ]
        return [chosen.build_configuration(point, profile).trials[0] for point in points]

    def find_configurations(self, rows: Iterable[Row], profile: Profile) -> "list[Configuration]":
        """Every configuration with at least one finished seed, whichever sweep ran it. Loads torch, which the
        identity of the base needs."""
        return self.match_configurations(rows, profile, self.select_fixed_facts(self.base(profile).facts))

    def match_configurations(
        self, rows: Iterable[Row], profile: Profile, fixed: str
    ) -> "list[Configuration]":
        """The same without torch, given the facts that all its trials share; oldest first."""
        configurations: dict[str, Configuration] = {}
        for row in sorted(rows, key=lambda row: row.finished_at):
            if row.seed not in self.seeds or row.profile != profile:
                continue
            facts = json.loads(row.spec)
            point = self.space.read(facts) if self.select_fixed_facts(facts) == fixed else None
            if point is not None:
                key = canonical_json(point)
                configurations.setdefault(key, self.build_configuration(point, profile)).rows[row.seed] = row
        return list(configurations.values())

    def count_grid_steps(self, profile: Profile) -> int:
        """Training steps of the whole grid, if every trial runs to its end."""
        return len(list(self.space.iterate_grid())) * len(self.seeds) * self.base(profile).spec.steps

    def select_fixed_facts(self, facts: Mapping[str, Any]) -> str:
        """The facts that all trials of the search share, as JSON: everything but the seed and the axes."""
        rest: dict[str, Any] = json.loads(canonical_json({**facts, "seed": 0}))
        for axis in self.space.axes:
            for path in axis.paths:
                *parents, last = path.split(".")
                owner: Any = rest
                for key in parents:
                    owner = owner.get(key, {})
                owner.pop(last, None)
        return canonical_json(rest)


class Configuration:
    """A point with all its seeds, and the rows of the finished ones."""

    def __init__(self, search: Search, point: Point, trials: Sequence[Trial]) -> None:
        self.search, self.point, self.trials = search, point, tuple(trials)
        self.rows: dict[int, Row] = {}
        """By seed."""

    @property
    def key(self) -> str:
        return canonical_json(self.point)

    @property
    def description(self) -> str:
        """The point as text."""
        return self.search.space.describe(self.point)

    @property
    def own_rows(self) -> list[Row]:
        """The rows that this search ran; the others come from other sweeps."""
        return [row for row in self.rows.values() if row.sweep == self.search.sweep]

    @property
    def has_diverged(self) -> bool:
        return any(row.outcome == "diverged" for row in self.rows.values())

    @property
    def is_stopped(self) -> bool:
        """Whether a seed was stopped early; the other seeds are then not run."""
        return any(row.outcome == "stopped_early" for row in self.rows.values())

    @property
    def is_complete(self) -> bool:
        return self.is_stopped or len(self.rows) == len(self.trials)

    @property
    def steps(self) -> int:
        """Training steps that this search spent on it."""
        return sum(row.outcome_step for row in self.own_rows)

    @property
    def seconds(self) -> float:
        """Training seconds that this search spent on it."""
        return sum(row.seconds for row in self.own_rows)

    def compute_score(self) -> SearchScore | None:
        """The scores aggregated over the seeds; None while seeds are missing, or if a seed failed for
        technical reasons."""
        if not self.is_complete:
            return None
        objectives = self.search.objectives
        scores = [[objective.score_row(row) for objective in objectives] for row in self.rows.values()]
        if any(score is None for of_seed in scores for score in of_seed):
            return None
        columns = zip(*scores, strict=True)
        together = tuple(
            aggregate_scores([s for s in column if s is not None], self.search.aggregate)
            for column in columns
        )
        stops = [row.outcome_step for row in self.rows.values() if row.outcome == "stopped_early"]
        return SearchScore(together, min(stops) if stops else None)


def find_best(configurations: Iterable[Configuration]) -> list[Configuration]:
    """The best configuration; with several objectives the Pareto front. Configurations stopped early are
    excluded."""
    scored = [
        (entry, score.scores)
        for entry in configurations
        if (score := entry.compute_score()) and score.stopped_at is None
    ]
    front = [entry for entry, scores in scored if not any(_dominates(other, scores) for _, other in scored)]
    return front if front and len(front[0].search.objectives) > 1 else front[:1]


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(a >= b for a, b in zip(one, other, strict=True)) and any(
        a > b for a, b in zip(one, other, strict=True)
    )

"""A search, declared: which trial is varied, in which space, what is sought, and with which seeds.

It is a sweep too: every proposal is a trial of the sweep `search-TASK-METHOD-NAME`, with an id like any
other, and its row goes into the same store. That store is the search's whole memory. Seeds are an axis: a
configuration is a point with all its seeds. Several searches of one task and method differ by their names. A
row belongs to the sweep that ran it first, so what a search cost is counted over its own rows, while a score
may rest on others' too.
"""

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sweeps.search.objective import Aggregate, Objective, Result, aggregated
from sweeps.search.space import Point, Space
from sweeps.store.row import Row
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Profile, Trial, with_seed

PREFIX = "search-"


@dataclass(frozen=True)
class Search:
    """One method on one task. `base` is the trial whose settings are varied; its own seed does not matter.
    `run_name` tells the searches of one such pair apart."""

    name: str
    about: str
    base: Callable[[Profile], Trial]
    space: Space
    objectives: tuple[Objective, ...]
    seeds: tuple[int, ...]
    aggregate: Aggregate = "mean"
    run_name: str = ""

    @property
    def sweep(self) -> str:
        return f"{PREFIX}{self.name}" + (f"-{self.run_name}" if self.run_name else "")

    def configuration(self, point: Point, profile: Profile) -> "Configuration":
        base = self.base(profile)
        label = base.spec.method["name"]  # the base's own may tell of a setting that is an axis here
        trial = replace(base, spec=self.space.apply(base.spec, point), sweep=self.sweep, label=label)
        return Configuration(self, point, tuple(with_seed(trial, seed) for seed in self.seeds))

    def largest(self, profile: Profile) -> list[Trial]:
        """One trial for each combination of choices, with whole numbers at their most: no other takes more
        memory."""
        values = [
            axis.choices or (int(axis.high or 0) if axis.whole else axis.settled(axis.low),)
            for axis in self.space.axes
        ]
        points = [dict(zip(self.space.names, point, strict=True)) for point in itertools.product(*values)]
        return [self.configuration(point, profile).trials[0] for point in points]

    def choices(self, profile: Profile) -> list[Trial]:
        """A few trials in which each choice of each axis stands once at least; what is no choice is the
        base's own."""
        axes = tuple(axis for axis in self.space.axes if axis.choices)
        chosen, turns = replace(self, space=Space(axes)), max((len(axis.choices) for axis in axes), default=1)
        points = [
            {axis.name: axis.choices[turn % len(axis.choices)] for axis in axes} for turn in range(turns)
        ]
        return [chosen.configuration(point, profile).trials[0] for point in points]

    def found(self, rows: Iterable[Row], profile: Profile) -> "list[Configuration]":
        """What a store has of it: every configuration of which some seed has ended, whichever sweep ran it.
        Loads torch, which the identity of its base needs."""
        return self.gathered(rows, profile, self.fixed(self.base(profile).facts))

    def gathered(self, rows: Iterable[Row], profile: Profile, fixed: str) -> "list[Configuration]":
        """The same without torch, for whoever knows what the trials have in common; oldest first."""
        configurations: dict[str, Configuration] = {}
        for row in sorted(rows, key=lambda row: row.finished_at):
            if row.seed not in self.seeds or row.profile != profile:
                continue
            facts = json.loads(row.spec)
            point = self.space.read(facts) if self.fixed(facts) == fixed else None
            if point is not None:
                key = canonical_json(point)
                configurations.setdefault(key, self.configuration(point, profile)).rows[row.seed] = row
        return list(configurations.values())

    def grid_steps(self, profile: Profile) -> int:
        """Training steps of the whole grid, if every trial runs to its end."""
        return len(list(self.space.grid())) * len(self.seeds) * self.base(profile).spec.steps

    def fixed(self, facts: Mapping[str, Any]) -> str:
        """What all its trials have in common: everything but the seed and the axes."""
        rest: dict[str, Any] = json.loads(canonical_json({**facts, "seed": 0}))
        for axis in self.space.axes:
            for place in axis.places:
                *path, last = place.split(".")
                owner: Any = rest
                for key in path:
                    owner = owner.get(key, {})
                owner.pop(last, None)
        return canonical_json(rest)


class Configuration:
    """A point with all its seeds, and the rows of those that have ended."""

    def __init__(self, search: Search, point: Point, trials: Sequence[Trial]) -> None:
        self.search, self.point, self.trials = search, point, tuple(trials)
        self.rows: dict[int, Row] = {}

    @property
    def key(self) -> str:
        return canonical_json(self.point)

    @property
    def place(self) -> str:
        """Its point in words."""
        values = [(axis.short_name, self.point[axis.name]) for axis in self.search.space.axes]
        return ", ".join(
            f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in values
        )

    @property
    def own_rows(self) -> list[Row]:
        """Those that this very search ran; others were there before it."""
        return [row for row in self.rows.values() if row.sweep == self.search.sweep]

    @property
    def diverged(self) -> bool:
        return any(row.outcome == "diverged" for row in self.rows.values())

    @property
    def stopped(self) -> bool:
        """Whether a seed was stopped early; then the others need not be run."""
        return any(row.outcome == "stopped_early" for row in self.rows.values())

    @property
    def over(self) -> bool:
        return self.stopped or len(self.rows) == len(self.trials)

    @property
    def steps(self) -> int:
        """Training steps that it took this search."""
        return sum(row.outcome_step for row in self.own_rows)

    @property
    def seconds(self) -> float:
        """Of training, likewise."""
        return sum(row.seconds for row in self.own_rows)

    def result(self) -> Result | None:
        """Its scores over the seeds; None while seeds are missing, and of one that failed for the machine's
        sake."""
        if not self.over:
            return None
        scores = [self._scores(row) for row in self.rows.values()]
        if any(score is None for of_seed in scores for score in of_seed):
            return None
        columns = zip(*scores, strict=True)
        together = tuple(
            aggregated([s for s in column if s is not None], self.search.aggregate) for column in columns
        )
        stops = [row.outcome_step for row in self.rows.values() if row.outcome == "stopped_early"]
        return Result(together, min(stops) if stops else None)

    def _scores(self, row: Row) -> list[float | None]:
        return [objective.of_row(row) for objective in self.search.objectives]


def best(configurations: Iterable[Configuration]) -> list[Configuration]:
    """The best one; with several objectives all that no other is better than in everything. Stopped ones do
    not count."""
    scored = [
        (entry, result.scores)
        for entry in configurations
        if (result := entry.result()) and result.stopped_at is None
    ]
    kept = [entry for entry, scores in scored if not any(_dominates(other, scores) for _, other in scored)]
    return kept if kept and len(kept[0].search.objectives) > 1 else kept[:1]


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(a >= b for a, b in zip(one, other, strict=True)) and any(
        a > b for a, b in zip(one, other, strict=True)
    )

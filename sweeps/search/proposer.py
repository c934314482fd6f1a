"""The search loop: which trial to run next, given a sampler, a stopping rule and the store. Plain Python, no
Ray.

A proposed configuration becomes one trial per seed. A trial whose row is in the store is not run; the sampler
learns its score as if it had been. `configurations` is the total budget, earlier runs included: the same
command after an interruption runs the rest, and a larger number extends the search. The next command runs
failed trials again. Trap: in a space of few choices a sampler may repeat its proposals forever, so the
search ends after too many repetitions. The first repetition of a configuration from an earlier run does not
count, because grid and random sampling start again from the beginning.

Under a stopping rule the first seed of a configuration runs first and is compared with other first seeds
only. The other seeds start when it has run to its end, and run to theirs. If all seeds were compared, the
seeds of the best configuration would push each other out, and few configurations would keep all their seeds.
If the first seed diverged, the others are judged too.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from sweeps.search.declaration import Configuration, Search
from sweeps.search.objective import SearchScore
from sweeps.search.samplers import SAMPLERS, GridSampler, RandomSampler, Sampler
from sweeps.search.space import Point, Space
from sweeps.search.stopping_rules import StoppingRule
from sweeps.store.row import FAILURES, CurvePoint, Row
from sweeps.trial.identity import Profile, Trial
from vera.errors import SettingError
from vera.spec.settings import suggest_or_list

REPETITIONS = 50
"""Repeated proposals in a row after which the search ends."""
SEEDS = 2**32
"""The number of seeds that NumPy's generator accepts; TPE draws from it."""


class Proposer:
    """Hands out trials one by one and records their rows."""

    def __init__(
        self,
        search: Search,
        profile: Profile,
        *,
        sampler: str,
        rule: StoppingRule,
        configurations: int,
        rows: Iterable[Row],
        seed: int = 0,
    ) -> None:
        self.search, self.profile, self.rule, self.configurations = search, profile, rule, configurations
        found = search.find_configurations(rows, profile)
        self.begun = {entry.key for entry in found if entry.own_rows}
        """Keys of the configurations that count towards the budget."""
        for entry in found:
            entry.rows = {seed: row for seed, row in entry.rows.items() if row.outcome not in FAILURES}
        self.known = {entry.key: entry for entry in found if entry.rows or entry.key in self.begun}
        scores = [(entry.point, entry.compute_score()) for entry in self.known.values() if entry.is_complete]
        self.sampler: Sampler = build_sampler(sampler, search.space, len(search.objectives), seed, scores)
        self._earlier = set(self.begun)
        """Begun by earlier runs, and not proposed since."""
        self.waiting: deque[Trial] = deque()
        self.issued: list[Trial] = []
        self.owners: dict[str, Configuration] = {}
        """The configurations of the issued trials, by trial id."""
        for entry in self._iterate_unfinished():  # those of earlier runs come first
            self._queue(entry)

    def record_milestones(self, row: Row, curves: Iterable[CurvePoint]) -> None:
        """Record a stored trial's scores at the rule's milestones, if it has the first seed."""
        if row.seed != self.search.seeds[0]:
            return
        objective = self.search.objectives[0]
        for point in curves:
            metrics = {point.metric: point.value}
            score = objective.score_metrics(metrics) if point.kind == "evaluation" else None
            if score is not None:
                self.rule.record_score(row.trial_id, point.step, score)
        if row.outcome == "diverged":
            self.rule.record_end(row.trial_id, row.outcome_step, objective.score(objective.worst))

    def next_trial(self) -> Trial | None:
        """The next trial to run; None when there is none."""
        repeated = 0
        while not self.waiting and repeated < REPETITIONS:
            point = self.sampler.propose() if self.has_budget() else None
            if point is None:
                return None
            repeated = 0 if self._begin(point) else repeated + 1
        if not self.waiting:
            return None
        self.issued.append(self.waiting.popleft())
        return self.issued[-1]

    def record_row(self, row: Row) -> None:
        """Record the row of an issued trial."""
        entry = self.owners[row.trial_id]
        was_complete = entry.is_complete
        entry.rows[row.seed] = row
        self.record_milestones(row, ())
        if row.outcome == "stopped_early":
            self.waiting = deque(trial for trial in self.waiting if self.owners[trial.id] is not entry)
        if entry.is_complete and not was_complete:
            self.sampler.learn(entry.point, entry.compute_score())
        elif not entry.is_complete and self.rule.milestones and row.seed == self.search.seeds[0]:
            if row.outcome in FAILURES:  # no score is possible, so the other seeds are not run
                self.sampler.learn(entry.point, None)
            else:
                self._queue(entry)

    def is_first_seed(self, trial_id: str) -> bool:
        """Whether an issued trial has its configuration's first seed; the rule compares only those."""
        return self.owners[trial_id].trials[0].id == trial_id

    def is_judged(self, trial_id: str) -> bool:
        """Whether the rule applies to an issued trial."""
        rows, first = self.owners[trial_id].rows, self.search.seeds[0]
        return self.is_first_seed(trial_id) or (first in rows and rows[first].outcome == "diverged")

    def has_budget(self) -> bool:
        """Whether another configuration may be proposed."""
        return len(self.begun) < self.configurations

    def _begin(self, point: Point) -> bool:
        """Queue the trials of a proposed point. False if the proposal repeats one of this run."""
        entry = self.search.build_configuration(self.search.space.round_point(point), self.profile)
        if entry.key in self.begun:
            known = self.known.get(entry.key)
            self.sampler.learn(entry.point, known.compute_score() if known and known.is_complete else None)
            is_earlier = entry.key in self._earlier
            self._earlier.discard(entry.key)
            return is_earlier
        self.begun.add(entry.key)
        entry = self.known.setdefault(entry.key, entry)
        if entry.is_complete:
            self.sampler.learn(entry.point, entry.compute_score())
        else:
            self._queue(entry)
        return True

    def count_remaining(self) -> int:
        """How many trials remain to be run if none is stopped early."""
        rest = sum(len(_list_missing(entry)) for entry in self._iterate_unfinished())
        return rest + max(0, self.configurations - len(self.begun)) * len(self.search.seeds)

    def _iterate_unfinished(self) -> Iterator[Configuration]:
        return (entry for entry in self.known.values() if entry.key in self.begun and not entry.is_complete)

    def _queue(self, entry: Configuration) -> None:
        """Queue the missing trials of a configuration; under a rule the first seed alone while it is
        missing."""
        missing = _list_missing(entry)
        alone = bool(self.rule.milestones) and self.search.seeds[0] not in entry.rows
        for trial in missing[:1] if alone else missing:
            self.owners[trial.id] = entry
            self.waiting.append(trial)


def _list_missing(entry: Configuration) -> list[Trial]:
    return [trial for trial in entry.trials if trial.spec.seed not in entry.rows]


def build_sampler(
    name: str, space: Space, objectives: int, seed: int, known: Sequence[tuple[Point, SearchScore | None]]
) -> Sampler:
    """The sampler of this name, which has learned the known points. Only TPE imports Optuna."""
    if name not in SAMPLERS:
        raise SettingError(f"There is no sampler '{name}'.{suggest_or_list(name, list(SAMPLERS))}")
    if not 0 <= seed < SEEDS:
        raise SettingError(
            f"The sampler's seed must be an integer from 0 to {SEEDS - 1}, got {seed}: change --sampler-seed."
        )
    if name == "grid":
        return GridSampler(space)
    if name == "random":
        return RandomSampler(space, seed)
    from sweeps.search.tpe import TpeSampler

    sampler = TpeSampler(space, objectives, (seed + len(known)) % SEEDS)
    for point, score in known:
        sampler.learn(point, score)
    return sampler

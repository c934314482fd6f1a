"""The search itself: which trial comes next, given a sampler, a rule for stopping, and what the store has.
Plain Python, no Ray.

A configuration that is proposed becomes one trial a seed. A trial whose row is in the store is not run; its
score is told to the sampler as if it had been. `configurations` is how many the search is allowed in all,
those of earlier runs included: the same command after an interruption does the rest, and a larger number
extends it. Trials that failed are run again by the next command. Trap: a sampler may propose what it has
proposed before, in a space of few choices for ever; then the search ends. What an earlier run had begun does
not count as that the first time: a grid, and random draws, begin again from their beginning.

Under a rule that stops trials the first seed of a configuration goes ahead and is judged, against first seeds
alone; the others follow when it has run to its end, and run to theirs. Were all judged, the seeds of the best
configuration would take each other's places, and hardly any would be left with all of them. Only where the
first seed diverged are the others judged too.
"""

from collections import deque
from collections.abc import Iterable, Iterator

from sweeps.search.declaration import Configuration, Search
from sweeps.search.samplers import Sampler, sampler_for
from sweeps.search.space import Point
from sweeps.search.stopping_rules import Rule
from sweeps.store.row import FAILURES, CurvePoint, Row
from sweeps.trial.identity import Profile, Trial

REPETITIONS = 50
"""Proposals in a row that are no news, after which there is nothing left to propose."""


class Proposer:
    """Hands out trials one by one and takes their rows."""

    def __init__(
        self,
        search: Search,
        profile: Profile,
        *,
        sampler: str,
        rule: Rule,
        configurations: int,
        rows: Iterable[Row],
        seed: int = 0,
    ) -> None:
        self.search, self.profile, self.rule, self.configurations = search, profile, rule, configurations
        found = search.found(rows, profile)
        self.begun = {entry.key for entry in found if entry.own_rows}
        for entry in found:
            entry.rows = {seed: row for seed, row in entry.rows.items() if row.outcome not in FAILURES}
        self.known = {entry.key: entry for entry in found if entry.rows or entry.key in self.begun}
        told = [(entry.point, entry.result()) for entry in self.known.values() if entry.over]
        self.sampler: Sampler = sampler_for(sampler, search.space, len(search.objectives), seed, told)
        self._earlier = set(self.begun)
        """Begun by earlier runs, and not proposed since."""
        self.waiting: deque[Trial] = deque()
        self.issued: list[Trial] = []
        self.owners: dict[str, Configuration] = {}
        """The configurations of trials that were handed out, by trial id."""
        self._resume()

    def remember(self, row: Row, curves: Iterable[CurvePoint]) -> None:
        """Tell the rule what a stored trial had at its milestones, if it is one of those that are
        compared."""
        if row.seed != self.search.seeds[0]:
            return
        objective = self.search.objectives[0]
        for point in curves:
            score = objective.of_metrics({point.metric: point.value}) if point.kind == "evaluation" else None
            if score is not None:
                self.rule.note(row.trial_id, point.step, score)
        if row.outcome == "diverged":
            self.rule.note_end(row.trial_id, row.outcome_step, objective.score(objective.worst))

    def next(self) -> Trial | None:
        """The next trial to run; None when there is none."""
        repeated = 0
        while not self.waiting and repeated < REPETITIONS:
            point = self.sampler.propose() if self.may_propose() else None
            if point is None:
                return None
            repeated = 0 if self._open(point) else repeated + 1
        if not self.waiting:
            return None
        self.issued.append(self.waiting.popleft())
        return self.issued[-1]

    def ended(self, row: Row) -> None:
        """A trial that was handed out has its row."""
        entry = self.owners[row.trial_id]
        told = entry.over
        entry.rows[row.seed] = row
        self.remember(row, ())
        if row.outcome == "stopped_early":
            self.waiting = deque(trial for trial in self.waiting if self.owners[trial.id] is not entry)
        if entry.over and not told:
            self.sampler.learn(entry.point, entry.result())
        elif not entry.over and self.rule.milestones and row.seed == self.search.seeds[0]:
            if row.outcome in FAILURES:  # no score can come of it, so the other seeds are not run
                self.sampler.learn(entry.point, None)
            else:
                self._queue(entry)

    def leads(self, trial_id: str) -> bool:
        """Whether a trial that was handed out has its configuration's first seed: the rule counts those
        alone."""
        return self.owners[trial_id].trials[0].id == trial_id

    def is_judged(self, trial_id: str) -> bool:
        """Whether the rule is to look at a trial that was handed out."""
        rows, first = self.owners[trial_id].rows, self.search.seeds[0]
        return self.leads(trial_id) or (first in rows and rows[first].outcome == "diverged")

    def may_propose(self) -> bool:
        return len(self.begun) < self.configurations

    def _open(self, point: Point) -> bool:
        """Whether it was news, or was to be expected."""
        entry = self.search.configuration(self.search.space.settled(point), self.profile)
        if entry.key in self.begun:
            known = self.known.get(entry.key)
            self.sampler.learn(entry.point, known.result() if known and known.over else None)
            expected = entry.key in self._earlier
            self._earlier.discard(entry.key)
            return expected
        self.begun.add(entry.key)
        entry = self.known.setdefault(entry.key, entry)
        if entry.over:
            self.sampler.learn(entry.point, entry.result())
        else:
            self._queue(entry)
        return True

    def at_most(self) -> int:
        """How many trials are still to be run, if none is stopped early."""
        rest = sum(len(_missing(entry)) for entry in self._unfinished())
        return rest + max(0, self.configurations - len(self.begun)) * len(self.search.seeds)

    def _unfinished(self) -> Iterator[Configuration]:
        return (entry for entry in self.known.values() if entry.key in self.begun and not entry.over)

    def _resume(self) -> None:
        """Configurations that an earlier run had begun come first."""
        for entry in self._unfinished():
            self._queue(entry)

    def _queue(self, entry: Configuration) -> None:
        """Its missing trials; under a rule the first seed alone, as long as that is missing."""
        missing = _missing(entry)
        alone = bool(self.rule.milestones) and self.search.seeds[0] not in entry.rows
        for trial in missing[:1] if alone else missing:
            self.owners[trial.id] = entry
            self.waiting.append(trial)


def _missing(entry: Configuration) -> list[Trial]:
    return [trial for trial in entry.trials if trial.spec.seed not in entry.rows]

"""A search under Ray Tune: the proposer as Tune's searcher, the rule as its scheduler. The only file here that needs Ray.

Tune asks for a trial when a worker is free, and tells of every report; nothing of the search is kept by Tune. A trial that the rule
stops gets its row at once, from its last report, as `stopped_early`: the driver writes it, because Tune ends the worker's part
without asking it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from ray.tune.schedulers import FIFOScheduler, TrialScheduler
from ray.tune.search import Searcher

from sweeps.row import Row
from sweeps.search.proposer import Proposer
from sweeps.trial import Trial

Report = Mapping[str, Any]
METRICS = "metrics/"
"""Tune hands a scheduler what was reported with nested names joined."""


class ProposerSearcher(Searcher):
    """Tune's view of a proposer. `job_of` makes what a worker is told of a trial, `row_of` reads its row once it has one."""

    def __init__(self, proposer: Proposer, job_of: Callable[[Trial], Any], row_of: Callable[[str], Row | None]) -> None:
        super().__init__(metric="trained_steps", mode="max")  # Tune wants one that every report has; nothing reads it
        self.proposer, self.job_of, self.row_of = proposer, job_of, row_of
        self.issued: dict[str, Trial] = {}
        """Trials that were handed out, by their id in Tune."""
        self.under_way: set[str] = set()
        """Of these, the ones that have not ended."""

    def suggest(self, trial_id: str) -> Any:
        trial = self.proposer.next()
        if trial is None:  # with None Tune asks again: when a first seed has ended, others may follow
            return None if self.under_way and self.proposer.rule.milestones else Searcher.FINISHED
        self.issued[trial_id] = trial
        self.under_way.add(trial_id)
        return {"job": self.job_of(trial)}

    def on_trial_complete(self, trial_id: str, result: Report | None = None, error: bool = False) -> None:
        self.under_way.discard(trial_id)
        row = self.row_of(self.issued[trial_id].id)
        if row is not None:  # else it was interrupted, or lost and gets its row in the end
            self.proposer.ended(row)

    def save(self, checkpoint_path: str) -> None:
        """The store is the memory."""

    def restore(self, checkpoint_path: str) -> None:
        """Likewise."""


class RuleScheduler(FIFOScheduler):
    """Trials in order, each asked about at its milestones. `stopped` writes the row of one that is not to go on."""

    def __init__(self, proposer: Proposer, stopped: Callable[[Trial, Report], None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.proposer, self.stopped = proposer, stopped

    def on_trial_result(self, tune_controller: Any, trial: Any, result: Report) -> str:
        rule, step, trial_id = self.proposer.rule, result["trained_steps"], result["trial"]
        if result["done"] or step not in rule.scores or trial_id in rule.scores[step] or not self.proposer.is_judged(trial_id):
            return TrialScheduler.CONTINUE
        objective = self.proposer.search.objectives[0]
        metrics = {name.removeprefix(METRICS): value for name, value in result.items() if name.startswith(METRICS)}
        score = objective.of_metrics(metrics)
        rule.note(trial_id, step, objective.score(objective.worst) if score is None else score)
        if not rule.stops(trial_id, step):
            return TrialScheduler.CONTINUE
        owner = self.proposer.owners[trial_id]
        self.stopped(next(own for own in owner.trials if own.id == trial_id), {**result, "metrics": metrics})
        return TrialScheduler.STOP

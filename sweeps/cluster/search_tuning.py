"""A search under Ray Tune: the proposer as Tune's searcher, the rule as its scheduler. The only file here
that needs Ray.

Tune asks for a trial when a worker is free, and tells of every report; nothing of the search is kept by Tune.
A trial that the rule stops gets its row at once, from its last report, as `stopped_early`: the driver writes
it, because Tune ends the worker's part without asking it.
"""

from collections import deque
from collections.abc import Mapping
from typing import Any

from ray.tune.schedulers import FIFOScheduler, TrialScheduler
from ray.tune.search import Searcher

from sweeps.cluster.search_jobs import Jobs, Report
from sweeps.search.proposer import Proposer
from sweeps.trial.identity import Trial

METRICS, WORKER = "metrics/", "worker/"
"""Tune hands a scheduler what was reported with nested names joined."""


class ProposerSearcher(Searcher):
    """Tune's view of a proposer."""

    def __init__(self, proposer: Proposer, jobs: Jobs) -> None:
        super().__init__(
            metric="trained_steps", mode="max"
        )  # Tune wants one that every report has; nothing reads it
        self.proposer, self.jobs = proposer, jobs
        self.issued: dict[str, Trial] = {}
        """Trials that were handed out, by their id in Tune."""
        self.under_way: set[str] = set()
        """Of these, the ones that have not ended."""
        self.again: deque[Trial] = deque()
        """To be handed out once more, with a job that is made."""

    def suggest(self, trial_id: str) -> Any:
        trial = self.again.popleft() if self.again else None
        job = None if trial is None else self.jobs.made[trial.id]
        if trial is None:
            trial = self.proposer.next()
            if trial is None:  # with None Tune asks again
                return None if self._may_follow() else Searcher.FINISHED
            job = self.jobs.make(trial)
        self.issued[trial_id] = trial
        self.under_way.add(trial_id)
        return {"job": job}

    def on_trial_complete(self, trial_id: str, result: Report | None = None, error: bool = False) -> None:
        self.under_way.discard(trial_id)
        trial = self.issued[trial_id]
        row = self.jobs.row(trial, done=bool(result and result.get("done")) and not error)
        if row is None:
            return
        if self.jobs.again(trial, row):
            self.again.append(trial)
        else:
            self.proposer.ended(row)

    def _may_follow(self) -> bool:
        """Whether a trial that is under way may bring others: the other seeds of a first, or itself with a
        whole GPU."""
        by_rule = bool(self.under_way and self.proposer.rule.milestones)
        return by_rule or any(self.jobs.may_come_again(self.issued[trial_id]) for trial_id in self.under_way)

    def save(self, checkpoint_path: str) -> None:
        """The store is the memory."""

    def restore(self, checkpoint_path: str) -> None:
        """Likewise."""


class RuleScheduler(FIFOScheduler):
    """Trials in order, each asked about at its milestones."""

    def __init__(self, proposer: Proposer, jobs: Jobs) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.proposer, self.jobs = proposer, jobs
        self.scores: dict[str, dict[int, float]] = {}
        """Of trials that were judged, by id and milestone."""

    def on_trial_result(self, tune_controller: Any, trial: Any, result: Report) -> str:
        rule, step, trial_id = self.proposer.rule, result["trained_steps"], result["trial"]
        scores = self.scores.setdefault(trial_id, {})
        if (
            result["done"]
            or step not in rule.scores
            or step in scores
            or not self.proposer.is_judged(trial_id)
        ):
            return TrialScheduler.CONTINUE
        objective, metrics = self.proposer.search.objectives[0], _part(result, METRICS)
        score = objective.of_metrics(metrics)
        scores[step] = objective.score(objective.worst) if score is None else score
        rule.note(trial_id, step, scores[step])
        stops = rule.stops(trial_id, step)
        if not self.proposer.leads(trial_id):
            rule.forget(trial_id)
        if not stops:
            return TrialScheduler.CONTINUE
        own = next(own for own in self.proposer.owners[trial_id].trials if own.id == trial_id)
        self.jobs.stop(
            own, {**result, "metrics": metrics, "worker": _part(result, WORKER)}, objective, scores
        )
        return TrialScheduler.STOP


def _part(result: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in result.items() if name.startswith(prefix)}

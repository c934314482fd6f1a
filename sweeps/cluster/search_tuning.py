"""A search under Ray Tune: the proposer as Tune's searcher, the stopping rule as its scheduler.

Tune asks for a trial when a worker is free and passes on every report; it keeps no state of the search. A
trial that the rule stops gets its row at once, from its last report, as `stopped_early`. The driver writes
this row, because Tune ends the worker without calling it. A trial that runs out of memory on a share of a GPU
becomes a job once more, with a whole GPU, before the search learns its outcome.
"""

from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ray.tune.schedulers import FIFOScheduler, TrialScheduler
from ray.tune.search import Searcher

from sweeps.cluster.budget_searcher import count_places
from sweeps.cluster.engine import Engine, TrialJob, build_job, build_job_record
from sweeps.cluster.gpu_packing import build_retry, is_sharing
from sweeps.errors import UnknownTrial
from sweeps.run.checkpoint_store import open_checkpoint_store
from sweeps.run.record import Ending
from sweeps.search.objective import Objective
from sweeps.search.proposer import Proposer
from sweeps.store.location import resolve_location
from sweeps.store.row import CurvePoint, Row
from sweeps.store.store import DELAY, Store
from sweeps.trial.identity import Trial

METRICS, WORKER = "metrics/", "worker/"
"""Prefixes of the nested names that Tune flattens for a scheduler."""

Report = Mapping[str, Any]


class SearchJobs:
    """The last job of each trial. `gpus` is the share that each trial gets at first."""

    def __init__(self, engine: Engine, store: Store, gpus: float, milestones: tuple[int, ...]) -> None:
        self.engine, self.store, self.gpus, self.milestones = engine, store, gpus, milestones
        self.attempts = {row.trial_id: row.attempt for row in store.read_rows()}
        self.by_trial: dict[str, TrialJob] = {}

    def create(self, trial: Trial) -> TrialJob:
        job = build_job(trial, self.attempts.get(trial.id, 0) + 1, self.gpus, self.milestones)
        self.by_trial[trial.id] = job
        return job

    def find_row(self, trial: Trial, is_done: bool) -> Row | None:
        """The row of the trial's last job; None if it was interrupted, or if Tune gave it up: its row is then
        written at the end of the search."""
        attempt = self.by_trial[trial.id]["attempt"]
        with suppress(UnknownTrial):
            row = self.store.read_row(trial.id)
            if row.attempt >= attempt:
                return row
        return self.store.wait_for_row(trial.id, attempt, DELAY) if is_done else None

    def retry(self, trial: Trial, row: Row) -> bool:
        """Replace the job by one with a whole GPU, if its row says so. Whether the job was replaced."""
        job = build_retry(self.by_trial[trial.id], row)
        if job is not None:
            self.by_trial[trial.id] = TrialJob(job)
        return job is not None

    def stop(self, trial: Trial, report: Report, objective: Objective, scores: Mapping[int, float]) -> None:
        """Write the row of a trial that the rule stops, with its score at each milestone as its curve, then
        delete its checkpoint: nothing would delete it after an interruption."""
        step = report["trained_steps"]
        ending = Ending("stopped_early", step, f"not among the best at step {step:,}")
        record = build_job_record(trial, self.by_trial[trial.id], self.engine, ending, report)
        points = [
            CurvePoint(trial.id, "evaluation", objective.metric, at, objective.score(score))
            for at, score in scores.items()
        ]
        self.store.write(replace(record, curves=points))
        open_checkpoint_store(resolve_location(self.engine.checkpoints), trial.id).delete()


class ProposerSearcher(Searcher):
    """The proposer as a Tune searcher."""

    def __init__(self, proposer: Proposer, jobs: SearchJobs) -> None:
        super().__init__(metric="trained_steps", mode="max")  # Tune requires a metric; nothing reads it
        self.proposer, self.jobs = proposer, jobs
        self.issued: dict[str, Trial] = {}
        """Issued trials, by Tune's trial id."""
        self.running: set[str] = set()
        """Tune's ids of the issued trials that have not ended."""
        self.retries: deque[Trial] = deque()
        """Trials to issue once more; their jobs exist."""

    def suggest(self, trial_id: str) -> Any:
        budget = self.jobs.engine.budget
        if budget is not None and budget.is_spent:
            return Searcher.FINISHED
        if budget is not None and len(self.running) >= count_places(self.jobs.engine, self.jobs.gpus):
            return None
        trial = self.retries.popleft() if self.retries else None
        job = None if trial is None else self.jobs.by_trial[trial.id]
        if trial is None:
            trial = self.proposer.next_trial()
            if trial is None:  # on None Tune asks again later
                return None if self._may_continue() else Searcher.FINISHED
            job = self.jobs.create(trial)
        self.issued[trial_id] = trial
        self.running.add(trial_id)
        return {"job": job}

    def on_trial_complete(self, trial_id: str, result: Report | None = None, error: bool = False) -> None:
        self.running.discard(trial_id)
        trial = self.issued[trial_id]
        row = self.jobs.find_row(trial, is_done=bool(result and result.get("done")) and not error)
        if row is None:
            return
        if self.jobs.retry(trial, row):
            self.retries.append(trial)
        else:
            self.proposer.record_row(row)

    def _may_continue(self) -> bool:
        """Whether a running trial may lead to more trials: further seeds, or a retry with a whole GPU."""
        by_rule = bool(self.running and self.proposer.rule.milestones)
        return by_rule or any(is_sharing(self.jobs.by_trial[self.issued[name].id]) for name in self.running)

    def save(self, checkpoint_path: str) -> None:
        """Nothing to do: the store holds all state."""

    def restore(self, checkpoint_path: str) -> None:
        """Nothing to do: the store holds all state."""


class RuleScheduler(FIFOScheduler):
    """Runs trials in order and applies the stopping rule at its milestones."""

    def __init__(self, proposer: Proposer, jobs: SearchJobs) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.proposer, self.jobs = proposer, jobs
        self.scores: dict[str, dict[int, float]] = {}
        """Scores of the judged trials, by trial id and milestone."""

    def on_trial_result(self, tune_controller: Any, trial: Any, result: Report) -> str:
        rule, step, trial_id = self.proposer.rule, result["trained_steps"], result["trial"]
        scores = self.scores.setdefault(trial_id, {})
        is_due = not result["done"] and step in rule.scores and step not in scores
        if not is_due or not self.proposer.is_judged(trial_id):
            return TrialScheduler.CONTINUE
        objective, metrics = self.proposer.search.objectives[0], _select(result, METRICS)
        score = objective.score_metrics(metrics)
        scores[step] = objective.score(objective.worst) if score is None else score
        rule.record_score(trial_id, step, scores[step])
        should_stop = rule.should_stop(trial_id, step)
        if not self.proposer.is_first_seed(trial_id):
            rule.forget(trial_id)
        if not should_stop:
            return TrialScheduler.CONTINUE
        own = next(own for own in self.proposer.owners[trial_id].trials if own.id == trial_id)
        report = {**result, "metrics": metrics, "worker": _select(result, WORKER)}
        self.jobs.stop(own, report, objective, scores)
        return TrialScheduler.STOP


def _select(result: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The entries under a prefix, without it."""
    return {name.removeprefix(prefix): value for name, value in result.items() if name.startswith(prefix)}

"""The trials of a search as jobs for workers, and their rows: attempt, GPU share and outcome of each.

A trial that runs out of memory on a share of a GPU becomes a job once more, with a whole GPU, before the
search learns its outcome.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sweeps.cluster.engine import Engine, TrialJob, build_job
from sweeps.cluster.gpu_packing import build_retry, is_sharing
from sweeps.errors import UnknownTrial
from sweeps.run.checkpoint_store import open_checkpoint_store
from sweeps.run.record import Ending, build_record_from_report
from sweeps.search.objective import Objective
from sweeps.store.location import resolve_location
from sweeps.store.row import CurvePoint, Record, Row
from sweeps.store.store import DELAY, Store
from sweeps.trial.identity import Trial

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

    def is_retryable(self, trial: Trial) -> bool:
        return is_sharing(self.by_trial[trial.id])

    def stop(self, trial: Trial, report: Report, objective: Objective, scores: Mapping[int, float]) -> None:
        """Write the row of a trial that the rule stops, then delete its checkpoint: nothing would delete it
        after an interruption."""
        self.store.write(self._build_record(trial, report, objective, scores))
        open_checkpoint_store(resolve_location(self.engine.checkpoints), trial.id).delete()

    def _build_record(
        self, trial: Trial, report: Report, objective: Objective, scores: Mapping[int, float]
    ) -> Record:
        """The trial's last report, its worker's provenance, and its score at each milestone as its curve."""
        step, job = report["trained_steps"], self.by_trial[trial.id]
        ending = Ending("stopped_early", step, f"not among the best at step {step:,}")
        own = {name: job[name] for name in ("attempt", "gpus", "before")}
        conditions = replace(
            self.engine.conditions, checkpoint_dir=resolve_location(self.engine.checkpoints), **own
        )
        metrics = {name: value for name, value in report["metrics"].items() if isinstance(value, int | float)}
        record = build_record_from_report(trial, conditions, ending, metrics, report["trained_seconds"])
        points = [
            CurvePoint(trial.id, "evaluation", objective.metric, at, objective.score(score))
            for at, score in scores.items()
        ]
        return replace(record, row=replace(record.row, **report["worker"]), curves=points)

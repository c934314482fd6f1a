"""The trials of a search as jobs for workers, and their rows: which attempt each is at, which part of a GPU
it has, how it ended.

A trial that runs out of memory on a part of a GPU becomes a job once more, with a whole one, before the
search hears of it.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sweeps.cluster.execute import Engine, Job, job_for
from sweeps.cluster.gpu_packing import repeated
from sweeps.errors import UnknownTrial
from sweeps.run.attempt import Attempt, Ending
from sweeps.run.checkpoint_store import shelf_at
from sweeps.search.objective import Objective
from sweeps.store.address import settled
from sweeps.store.row import CurvePoint, Record, Row
from sweeps.store.store import DELAY, Store
from sweeps.trial.identity import Trial

Report = Mapping[str, Any]


class Jobs:
    """What workers were told, the last for each trial. `gpus` is what each gets at first."""

    def __init__(self, engine: Engine, store: Store, gpus: float, milestones: tuple[int, ...]) -> None:
        self.engine, self.store, self.gpus, self.milestones = engine, store, gpus, milestones
        self.attempts = {row.trial_id: row.attempt for row in store.rows()}
        self.made: dict[str, Job] = {}
        """By trial id."""

    def make(self, trial: Trial) -> Job:
        self.made[trial.id] = job_for(trial, self.attempts.get(trial.id, 0) + 1, self.gpus, self.milestones)
        return self.made[trial.id]

    def row(self, trial: Trial, done: bool) -> Row | None:
        """Of the trial's last job; None if it was interrupted, or lost and gets its row in the end."""
        attempt = self.made[trial.id]["attempt"]
        with suppress(UnknownTrial):
            row = self.store.row(trial.id)
            if row.attempt >= attempt:
                return row
        return self.store.ended(trial.id, attempt, DELAY) if done else None

    def again(self, trial: Trial, row: Row) -> bool:
        """Whether it is to be run once more; its job is then another one."""
        job = repeated(self.made[trial.id], row)
        if job is not None:
            self.made[trial.id] = Job(job)
        return job is not None

    def may_come_again(self, trial: Trial) -> bool:
        return 0 < self.made[trial.id]["gpus"] < 1

    def stop(self, trial: Trial, report: Report, objective: Objective, scores: Mapping[int, float]) -> None:
        """Write the row of a trial that is not to go on. Its checkpoint goes now: after an interruption
        nobody returns for it."""
        self.store.write(self._stopped(trial, report, objective, scores))
        shelf_at(settled(self.engine.checkpoints), trial.id).forget()

    def _stopped(
        self, trial: Trial, report: Report, objective: Objective, scores: Mapping[int, float]
    ) -> Record:
        """What it reported last, with its score at each milestone as its curve, and what its worker said of
        itself."""
        step, job = report["trained_steps"], self.made[trial.id]
        ending = Ending("stopped_early", step, f"not among the best at step {step:,}")
        own = {name: job[name] for name in ("attempt", "gpus", "before")}
        conditions = replace(self.engine.conditions, checkpoint_dir=settled(self.engine.checkpoints), **own)
        metrics = {name: value for name, value in report["metrics"].items() if isinstance(value, int | float)}
        record = Attempt.lost(trial, conditions, ending, metrics, report["trained_seconds"]).record()
        points = [
            CurvePoint(trial.id, "evaluation", objective.metric, at, objective.score(score))
            for at, score in scores.items()
        ]
        return replace(record, row=replace(record.row, **report["worker"]), curves=points)

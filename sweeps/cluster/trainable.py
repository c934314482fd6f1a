"""An attempt at a trial as a Ray Tune trainable. The logic is in `sweeps.run.attempt` and needs no Ray.

Workers are reused: a trainable holds one attempt at a time and drops it before the next. The worker writes
the row as soon as the trial ends, so a driver that dies loses no finished trial. Tune's own checkpoint holds
only a step. The training state is in the attempt's checkpoint file, which outlives Tune, its experiment
folder and the cluster. A trial is not run again if its row was written meanwhile, by another driver or by a
worker that died before it could report.
"""

import json
import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from ray import tune

from sweeps.errors import StoreError
from sweeps.run.attempt import Attempt
from sweeps.run.conditions import Conditions
from sweeps.run.provenance import collect_trial_provenance
from sweeps.store.row import FAILURES, Row
from sweeps.store.store import Store
from sweeps.trial.identity import Trial
from vera.spec.registry import load_plugin

SLICE_SECONDS = 2.0
"""How long a trial trains between two reports."""


class TrialTrainable(tune.Trainable):
    """Config: {"job": {"id", "facts", "sweep", "label", "attempt", "gpus", "before", "milestones"}}, as plain
    data, because exports show it.

    `settings` is shared by all trials of a run: {"conditions", "store", "plugins"}.
    """

    def setup(self, config: dict[str, Any], settings: dict[str, Any]) -> None:  # type: ignore[override]
        self.settings = settings
        if settings["conditions"]["data_dir"] is not None:  # the trial's identity depends on its files
            os.environ["VERA_DATA"] = str(settings["conditions"]["data_dir"])
        for file in settings["plugins"]:
            load_once(file)
        self._begin(config)

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        self._begin(new_config)
        return True

    def step(self) -> dict[str, Any]:
        if self.stored is not None:
            return self._build_report(done=True) | {
                "outcome": self.stored.outcome,
                "reason": self.stored.reason,
            }
        self.attempt.advance(SLICE_SECONDS, self._find_milestone())
        if self.attempt.save_error is not None:
            return self._build_report(done=True) | {"store_error": self.attempt.save_error}
        if self.attempt.ending is None:
            if self.attempt.step in self.job.get("milestones", ()):  # a scheduler may stop it here
                self._store_model()
            return self._build_report(done=False)
        record = self.attempt.record()
        model_error = self._store_model()
        try:
            self._open_store().write(record)
        except StoreError as error:  # training again would not help: report it to the driver
            self.attempt.save_result()
            return self._build_report(done=True) | {"store_error": str(error)}
        if record.row.outcome not in FAILURES:  # a retry continues from the checkpoint
            self.attempt.checkpoints.delete()
        ending = {"outcome": record.row.outcome, "reason": record.row.reason}
        return self._build_report(done=True) | ending | ({"model_error": model_error} if model_error else {})

    def save_checkpoint(self, checkpoint_dir: str) -> None:
        self.attempt.save()
        (Path(checkpoint_dir) / "step.json").write_text(json.dumps({"step": self.attempt.step}))

    def load_checkpoint(self, checkpoint: Any) -> None:
        """Nothing to do: the attempt loads its own checkpoint when it is built."""

    def cleanup(self) -> None:
        """Save a checkpoint unless the row is stored. Tune may set up a trial in two workers and drop one of
        them after the other has stored the row."""
        stored = None
        with suppress(StoreError):
            stored = self._find_row()
        if self.attempt is not None and self.attempt.step > 0 and stored is None:
            self.attempt.save()

    def _begin(self, config: dict[str, Any]) -> None:
        self.job = config["job"]
        trial = Trial.from_pinned_facts(self.job["facts"], self.job["sweep"], self.job["label"])
        self.stored = self._find_row()
        own = {name: self.job[name] for name in ("attempt", "gpus", "before")}
        self.attempt: Any = None  # dropped before the next is built: two may not fit into memory
        self.attempt = Attempt(trial, Conditions(**(self.settings["conditions"] | own)))
        self.resumed_at = self.attempt.step
        self.is_introduced = False

    def _find_milestone(self) -> int | None:
        """The next step at which a scheduler judges the trial."""
        return min(
            (step for step in self.job.get("milestones", ()) if step > self.attempt.step), default=None
        )

    def _store_model(self) -> str:
        """Store the trained networks, if the trial leaves any; at the end of a trial that leaves none, remove
        those of a milestone or of an earlier attempt. Returns why that failed, or an empty text: a row must
        not be lost because its model cannot be kept."""
        try:
            content, models = self.attempt.encode_model(), self._open_store().models
            if content is not None:
                models.write(self.job["id"], content)
            elif self.attempt.ending is not None:
                models.remove([self.job["id"]])
        except Exception as error:  # a user's network can raise anything when it is copied
            cause = error.__cause__  # the advice of a StoreError is about rows
            reason = cause.strerror if isinstance(cause, OSError) else str(error)
            return (reason or type(error).__name__).splitlines()[0]
        return ""

    def _find_row(self) -> Row | None:
        return self._open_store().wait_for_row(self.job["id"], self.job["attempt"])

    def _open_store(self) -> Store:
        """The driver's store. It is never created here: a node that cannot see it must fail instead of
        writing into a store of its own."""
        return Store(self.settings["store"], create=False)

    def _build_report(self, done: bool) -> dict[str, Any]:
        """A report of finite numbers and texts: no NaN reaches a scheduler."""
        step = self.attempt.step
        about = {"trial": self.attempt.trial.id, "trained_steps": step, "timesteps_total": step, "done": done}
        about |= {"afresh": self.attempt.afresh} if self.attempt.afresh and not self.is_introduced else {}
        about |= {"resumed_at": self.resumed_at} if self.resumed_at else {}
        # Provenance for the row that the driver writes if the trial fails or is stopped at a milestone.
        is_needed = not self.is_introduced or step in self.job.get("milestones", ())
        worker = {"worker": self._describe_worker()} if is_needed else {}
        self.is_introduced = True
        return (
            about
            | {"metrics": self.attempt.collect_metrics(), "trained_seconds": self.attempt.seconds}
            | worker
        )

    def _describe_worker(self) -> dict[str, Any]:
        attempt = self.attempt
        return {
            "started_at": attempt.started_at,
            **collect_trial_provenance(attempt.trial.spec, attempt.conditions.device),
        }


@cache
def load_once(file: str) -> None:
    """Load a plug-in once per worker process; a worker serves one driver."""
    load_plugin(file)

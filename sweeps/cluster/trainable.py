"""An attempt at a trial as a Ray Tune trainable. Everything that matters is in sweeps/run/attempt.py and
needs no Ray.

Workers are reused, so nothing may stay behind from the last trial: a trainable holds one attempt and drops
it. The worker writes the row, the moment the trial ends: a driver that dies loses no finished trial. Tune's
own checkpoint holds nothing but a step; the state lies in the attempt's checkpoint file, which survives Tune,
its experiment folder and this cluster. A trial whose row was written meanwhile, by another driver or by a
worker that died before it could say so, is not run again.
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
from sweeps.run.provenance import trial_provenance
from sweeps.store.row import FAILURES, Row
from sweeps.store.store import Store
from sweeps.trial.identity import Trial
from vera.spec.registry import load_plugin

SLICE_SECONDS = 2.0
"""How long a trial trains between two reports."""


class TrialTrainable(tune.Trainable):
    """Config: {"job": {"id", "facts", "sweep", "label", "attempt", "gpus", "before", "milestones"}}, plain
    data for exports too.

    `site` is where all trials of a run find things: {"conditions", "store", "plugins"}.
    """

    def setup(self, config: dict[str, Any], site: dict[str, Any]) -> None:  # type: ignore[override]  # Tune passes it on
        self.site = site
        if site["conditions"]["data_dir"] is not None:  # a trial's identity depends on what lies there
            os.environ["VERA_DATA"] = str(site["conditions"]["data_dir"])
        for file in site["plugins"]:
            load_once(file)
        self._begin(config)

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        self._begin(new_config)
        return True

    def step(self) -> dict[str, Any]:
        if self.stored is not None:
            return self._report(done=True) | {"outcome": self.stored.outcome, "reason": self.stored.reason}
        self.attempt.advance(SLICE_SECONDS, self._milestone())
        if self.attempt.unsaved is not None:
            return self._report(done=True) | {"store_error": self.attempt.unsaved}
        if self.attempt.ending is None:
            return self._report(done=False)
        record = self.attempt.record()
        try:
            self._store().write(record)
        except StoreError as error:  # no use in training it again: the driver must hear of it
            self.attempt.save_result()
            return self._report(done=True) | {"store_error": str(error)}
        if record.row.outcome not in FAILURES:  # a retry goes on from it
            self.attempt.forget_checkpoint()
        return self._report(done=True) | {"outcome": record.row.outcome, "reason": record.row.reason}

    def save_checkpoint(self, checkpoint_dir: str) -> None:
        self.attempt.save()
        (Path(checkpoint_dir) / "step.json").write_text(json.dumps({"step": self.attempt.step}))

    def load_checkpoint(self, checkpoint: Any) -> None:
        """Nothing to do: the attempt found its own checkpoint when it was built."""

    def cleanup(self) -> None:
        """Tune may set up a trial in two workers and drop one of them later, when the other has long stored
        the row."""
        stored = None
        with suppress(StoreError):  # then it is the more important to save
            stored = self._stored_row()
        if self.attempt is not None and self.attempt.step > 0 and stored is None:
            self.attempt.save()

    def _begin(self, config: dict[str, Any]) -> None:
        self.job = config["job"]
        trial = Trial.as_told(self.job["facts"], self.job["sweep"], self.job["label"])
        self.stored = self._stored_row()
        own = {name: self.job[name] for name in ("attempt", "gpus", "before")}
        self.attempt: Any = None  # before the next is built: two may not fit into memory
        self.attempt = Attempt(trial, Conditions(**(self.site["conditions"] | own)))
        self.resumed_at = self.attempt.step
        self.introduced = False

    def _milestone(self) -> int | None:
        """The next step at which a scheduler looks at the trial."""
        return min(
            (step for step in self.job.get("milestones", ()) if step > self.attempt.step), default=None
        )

    def _stored_row(self) -> Row | None:
        return self._store().ended(self.job["id"], self.job["attempt"])

    def _store(self) -> Store:
        """Never made here: a node that does not see the driver's must say so, not write into one of its
        own."""
        return Store(self.site["store"], create=False)

    def _report(self, done: bool) -> dict[str, Any]:
        """Finite numbers and texts only: no NaN ever reaches a scheduler."""
        step = self.attempt.step
        about = {"trial": self.attempt.trial.id, "trained_steps": step, "timesteps_total": step, "done": done}
        about |= {"resumed_at": self.resumed_at} if self.resumed_at else {}
        # For the row, should the trial be lost, or be stopped when it is judged.
        worker = (
            {"worker": self._worker()}
            if not self.introduced or step in self.job.get("milestones", ())
            else {}
        )
        self.introduced = True
        return about | {"metrics": self.attempt.metrics(), "trained_seconds": self.attempt.seconds} | worker

    def _worker(self) -> dict[str, Any]:
        attempt = self.attempt
        return {
            "started_at": attempt.started_at,
            **trial_provenance(attempt.trial.spec, attempt.conditions.device),
        }


@cache
def load_once(file: str) -> None:
    """A plug-in is loaded once in the life of a worker, which serves one driver."""
    load_plugin(file)

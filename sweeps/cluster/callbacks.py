"""Tune callbacks: events for a `TrialListener`, an orderly stop after Ctrl-C, and exports that may fail."""

import math
import sys
from contextlib import suppress
from functools import partialmethod
from typing import Any

from ray import tune

from sweeps.errors import UnknownTrial
from sweeps.run.budget import TrialBudget
from sweeps.run.progress import TrialListener
from sweeps.store.store import Store
from vera.training.interrupts import Interrupt


class ListenerCallback(tune.Callback):
    """Notifies a listener when a trial starts, advances and ends."""

    def __init__(self, listener: TrialListener, store: Store, budget: TrialBudget | None = None) -> None:
        self.listener, self.store = listener, store
        self.budget = budget or TrialBudget(math.inf)
        self.has_started = False
        """Whether any trial has started."""
        self.store_error: str | None = None
        """Why a worker could not write a row or a checkpoint. Other workers will fail too."""
        self.model_errors: dict[str, str] = {}
        """Why the model of a trial could not be stored, by trial id. Its row is stored."""
        self.errors: dict[str, str] = {}
        """Tune's error messages of the trials that it gave up, by trial id."""
        self.last_reports: dict[str, dict[str, Any]] = {}
        """The last report of each trial, with the provenance of its last worker."""

    def merge(self, later: "ListenerCallback") -> None:
        """Take over the errors and reports of a second run of some trials."""
        self.errors |= later.errors
        self.model_errors |= later.model_errors
        self.last_reports |= later.last_reports

    def on_trial_start(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        self.has_started = True
        self.budget.start(trial.config["job"]["id"])
        self.listener.on_start(trial.config["job"]["id"])

    def on_trial_result(
        self, iteration: int, trials: list[Any], trial: Any, result: dict[str, Any], **info: Any
    ) -> None:
        self.store_error = result.get("store_error") or self.store_error
        if "model_error" in result:
            self.model_errors[result["trial"]] = result["model_error"]
        if reason := result.get("afresh"):
            job = trial.config["job"]
            about = f"{job['label'] or job['facts']['method']['name']} seed {job['facts']['seed']}"
            self.listener.on_note(f"{about} starts afresh: its checkpoint could not be used. {reason}")
        if result["trial"] not in self.last_reports and result.get("resumed_at"):
            self.listener.on_resume(result["trial"], result["resumed_at"])
        worker = self.last_reports.get(result["trial"], {}).get("worker", {})
        self.last_reports[result["trial"]] = {"worker": worker} | result
        self.listener.on_advance(result["trial"], result["trained_steps"])

    def on_trial_complete(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        self.budget.end(trial.config["job"]["id"])
        with suppress(UnknownTrial):  # an interrupted trial has no row yet
            self.listener.on_end(self.store.read_row(trial.config["job"]["id"]))

    def on_trial_error(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        self.budget.end(trial.config["job"]["id"])
        error = trial.get_pickled_error() or trial.get_error()
        self.errors[trial.config["job"]["id"]] = str(error)


class InterruptStopper(tune.Stopper):
    """Stops every trial after an interrupt, or when rows cannot be written. Each trial saves its checkpoint
    as it stops."""

    def __init__(self, interrupt: Interrupt, callback: ListenerCallback) -> None:
        self.interrupt, self.callback = interrupt, callback

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        return False

    def stop_all(self) -> bool:
        return self.interrupt.is_pending or self.callback.store_error is not None

    def __deepcopy__(self, memo: Any) -> "InterruptStopper":
        return self


HOOKS = (
    "setup",
    "on_trial_start",
    "on_trial_restore",
    "on_trial_save",
    "on_trial_result",
    "on_trial_complete",
    "on_trial_error",
    "on_experiment_end",
)


class TolerantCallback(tune.Callback):
    """Wraps another callback and switches it off, with one warning, when it fails: an unreachable tracking
    server must not end a run."""

    def __init__(self, inner: tune.Callback) -> None:
        self.inner, self.is_broken = inner, False

    def call(self, hook: str, *arguments: Any, **named: Any) -> None:
        if self.is_broken:
            return
        try:
            getattr(self.inner, hook)(*arguments, **named)
        except Exception as error:
            self.is_broken = True
            reason = f"{type(error).__name__}: {(str(error) or 'no message').splitlines()[0]}"
            print(
                f"vera: {type(self.inner).__name__} failed and was switched off ({reason}).", file=sys.stderr
            )


for hook in HOOKS:
    setattr(TolerantCallback, hook, partialmethod(TolerantCallback.call, hook))

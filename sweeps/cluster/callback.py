"""From Tune's events to a `Listener`'s, and from Ctrl-C to an orderly end."""

import sys
from contextlib import suppress
from functools import partialmethod
from typing import Any

from ray import tune

from sweeps.errors import UnknownTrial
from sweeps.run.listener import Listener
from sweeps.store.store import Store
from vera.training.interrupts import Interrupt


class ListenerCallback(tune.Callback):
    """Tells a listener which trial started, how far it is, and its row when it ended."""

    def __init__(self, listener: Listener, store: Store) -> None:
        self.listener, self.store = listener, store
        self.begun = False
        """Whether any trial has started."""
        self.store_error: str | None = None
        """Why a worker could not write a row or a checkpoint; then no other will."""
        self.errors: dict[str, str] = {}
        """What Tune says of trials that it gave up on, by trial id."""
        self.last: dict[str, dict[str, Any]] = {}
        """The last report of each trial, with what its last worker said of itself."""

    def follow(self, later: "ListenerCallback") -> None:
        """What was told of the same trials when they were run once more."""
        self.errors |= later.errors
        self.last |= later.last

    def on_trial_start(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        self.begun = True
        self.listener.started(trial.config["job"]["id"])

    def on_trial_result(
        self, iteration: int, trials: list[Any], trial: Any, result: dict[str, Any], **info: Any
    ) -> None:
        self.store_error = result.get("store_error") or self.store_error
        if result["trial"] not in self.last and result.get("resumed_at"):
            self.listener.resumed(result["trial"], result["resumed_at"])
        worker = self.last.get(result["trial"], {}).get("worker", {})
        self.last[result["trial"]] = {"worker": worker} | result
        self.listener.advanced(result["trial"], result["trained_steps"])

    def on_trial_complete(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        with suppress(UnknownTrial):  # interrupted, so it has no row yet
            self.listener.ended(self.store.row(trial.config["job"]["id"]))

    def on_trial_error(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        error = trial.get_pickled_error() or trial.get_error()
        self.errors[trial.config["job"]["id"]] = str(error)


class InterruptStopper(tune.Stopper):
    """Stops every trial once someone asked to, or once rows cannot be written; each saves its checkpoint as
    it goes."""

    def __init__(self, interrupt: Interrupt, callback: ListenerCallback) -> None:
        self.interrupt, self.callback = interrupt, callback

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        return False

    def stop_all(self) -> bool:
        return self.interrupt.is_pending or self.callback.store_error is not None

    def __deepcopy__(self, memo: Any) -> "InterruptStopper":
        return self


HOOKS = ("on_trial_start", "on_trial_restore", "on_trial_save", "on_trial_result", "on_trial_complete", "on_trial_error",
         "on_experiment_end", "setup")  # fmt: skip


class Tolerant(tune.Callback):
    """Another's callback, switched off with one warning when it fails: a tracking server that goes away must
    not end a run."""

    def __init__(self, inner: tune.Callback) -> None:
        self.inner, self.broken = inner, False

    def call(self, hook: str, *arguments: Any, **named: Any) -> None:
        if self.broken:
            return
        try:
            getattr(self.inner, hook)(*arguments, **named)
        except Exception as error:
            self.broken = True
            what = f"{type(error).__name__}: {(str(error) or 'no message').splitlines()[0]}"
            print(f"vera: {type(self.inner).__name__} failed and is switched off ({what}).", file=sys.stderr)


for hook in HOOKS:
    setattr(Tolerant, hook, partialmethod(Tolerant.call, hook))

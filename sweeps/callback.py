"""From Tune's events to a `Listener`'s, and from Ctrl-C to an orderly end."""

from contextlib import suppress
from typing import Any

from ray import tune

from sweeps.errors import UnknownTrial
from sweeps.execute import Listener
from sweeps.store import Store
from vera.interrupts import Interrupt


class ListenerCallback(tune.Callback):
    """Tells a listener which trial started, how far it is, and its row when it ended."""

    def __init__(self, listener: Listener, store: Store) -> None:
        self.listener, self.store = listener, store
        self.store_error: str | None = None
        """Why a worker could not write a row; then no other will."""

    def on_trial_start(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        self.listener.started(trial.config["job"]["id"])

    def on_trial_result(self, iteration: int, trials: list[Any], trial: Any, result: dict[str, Any], **info: Any) -> None:
        self.store_error = result.get("store_error") or self.store_error
        self.listener.advanced(result["trial"], result["trained_steps"])

    def on_trial_complete(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        with suppress(UnknownTrial):  # interrupted, so it has no row yet
            self.listener.ended(self.store.row(trial.config["job"]["id"]))


class InterruptStopper(tune.Stopper):
    """Stops every trial once someone asked to, or once rows cannot be written; each saves its checkpoint as it goes."""

    def __init__(self, interrupt: Interrupt, callback: ListenerCallback) -> None:
        self.interrupt, self.callback = interrupt, callback

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        return False

    def stop_all(self) -> bool:
        return self.interrupt.asked or self.callback.store_error is not None

    def __deepcopy__(self, memo: Any) -> "InterruptStopper":
        return self

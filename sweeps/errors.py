"""What can go wrong between a user and the engine; each message names the thing, the reason and the way
on."""

import signal

from vera.errors import VeraError


class StoreError(VeraError):
    """The results directory cannot be read or written."""


class UnknownTrial(VeraError, LookupError):
    """No trial in the store has that id."""


class AmbiguousTrial(UnknownTrial):
    """Several trials have an id that begins so."""


class EngineError(VeraError):
    """The cluster cannot run what was asked."""


class Interrupted(EngineError):
    """Someone stopped it; what to do to go on, and the signal that it came by."""

    def __init__(self, text: str, interrupt: KeyboardInterrupt) -> None:
        super().__init__(text)
        self.signal = int(next(iter(interrupt.args), signal.SIGINT))

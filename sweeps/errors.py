"""Errors of the sweep layer. Each message says what is wrong, where, and what to do."""

import signal

from vera.errors import VeraError


class StoreError(VeraError):
    """The results cannot be read or written."""


class UnknownTrial(VeraError, LookupError):
    """No trial in the store has that id."""


class AmbiguousTrial(UnknownTrial):
    """The ids of several trials begin with the given text."""


class EngineError(VeraError):
    """The cluster cannot run the trials."""


class Interrupted(EngineError):
    """The run was stopped by a signal. The message says how to resume."""

    def __init__(self, text: str, interrupt: KeyboardInterrupt) -> None:
        super().__init__(text)
        self.signal = int(next(iter(interrupt.args), signal.SIGINT))

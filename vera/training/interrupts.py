"""Ctrl-C between two steps, never inside one: a run that is interrupted can be saved and goes on bit for
bit."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Interrupt:
    """Whether someone asked to stop. `check` raises KeyboardInterrupt then, with the signal that asked."""

    def __init__(self) -> None:
        self.signal: int | None = None

    @property
    def is_pending(self) -> bool:
        return self.signal is not None

    def check(self) -> None:
        if self.signal is not None:
            by, self.signal = self.signal, None
            raise KeyboardInterrupt(by)


@contextmanager
def defer_interrupt(*likewise: signal.Signals) -> Iterator[Interrupt]:
    """Hold back the first Ctrl-C until `check` is called; a second one gets through at once.

    Outside the main thread nothing is held back, nor where the caller ignores Ctrl-C or has a handler of
    their own. The signals `likewise` count as Ctrl-C whoever handles them otherwise: Ray has a handler of its
    own for SIGTERM, which prints its stack.
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return

    def note(number: int, frame: FrameType | None) -> None:
        if interrupt.is_pending:
            raise KeyboardInterrupt(number)
        interrupt.signal = number

    theirs = signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    held = [*([] if theirs else [signal.SIGINT]), *likewise]
    previous: dict[signal.Signals, Any] = {each: signal.signal(each, note) for each in held}
    try:
        yield interrupt
    finally:
        for each, handler in previous.items():
            signal.signal(
                each, handler or signal.SIG_DFL
            )  # none: one that is not Python's, and cannot be put back

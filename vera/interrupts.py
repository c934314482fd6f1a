"""Ctrl-C between two steps, never inside one: a run that is interrupted can be saved and goes on bit for bit."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Interrupt:
    """Whether someone asked to stop. `check` raises KeyboardInterrupt then."""

    def __init__(self) -> None:
        self.asked = False

    def check(self) -> None:
        if self.asked:
            self.asked = False
            raise KeyboardInterrupt


@contextmanager
def deferred_interrupt() -> Iterator[Interrupt]:
    """Hold back the first Ctrl-C until `check` is called; a second one gets through at once.

    Outside the main thread nothing is held back, nor where the caller ignores Ctrl-C or has a handler of their own.
    """
    interrupt = Interrupt()
    theirs = signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    if theirs or threading.current_thread() is not threading.main_thread():
        yield interrupt
        return

    def note(number: int, frame: FrameType | None) -> None:
        if interrupt.asked:
            raise KeyboardInterrupt
        interrupt.asked = True

    previous: Any = signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, previous)

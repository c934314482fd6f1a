"""Ctrl-C takes effect between two steps, never inside one, so an interrupted run can be saved and resumed
bit-identically."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Interrupt:
    """A pending request to stop; `check` raises it as KeyboardInterrupt with the number of the signal."""

    def __init__(self) -> None:
        self.signal: int | None = None

    @property
    def is_pending(self) -> bool:
        return self.signal is not None

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal is pending."""
        if self.signal is not None:
            number, self.signal = self.signal, None
            raise KeyboardInterrupt(number)


@contextmanager
def defer_interrupt(*signals: signal.Signals) -> Iterator[Interrupt]:
    """Hold back the first Ctrl-C until `check` is called; a second one raises at once.

    Nothing is held back outside the main thread, and Ctrl-C is not held back if the caller ignores it or
    handles it. Additional `signals` are treated like Ctrl-C whatever their handler is: Ray's handler for
    SIGTERM prints the stack.
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return

    def hold_back(number: int, frame: FrameType | None) -> None:
        if interrupt.is_pending:
            raise KeyboardInterrupt(number)
        interrupt.signal = number

    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    deferred = [signal.SIGINT, *signals] if is_default else [*signals]
    previous: dict[signal.Signals, Any] = {each: signal.signal(each, hold_back) for each in deferred}
    try:
        yield interrupt
    finally:
        for each, handler in previous.items():
            # A handler that was not installed from Python is None and cannot be restored.
            signal.signal(each, handler or signal.SIG_DFL)

"""A word to the user when the head of a cluster that was joined goes away.

Ray waits for it, a minute unless told otherwise, and then ends the process without asking: nothing of ours
runs at that end. So the way on is said while Ray waits. Nothing is decided here; a head that comes back in
time is none the worse for it.
"""

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

EVERY = 5.0
"""Seconds between two looks."""
MISSES = 2
"""In a row, before anything is said."""
GONE = (
    "The head of the cluster, {}, does not answer any more, and Ray ends this command if it stays so. What is finished is stored: "
    "start the head again, then the same command."
)


@contextmanager
def watched_head(address: str, every: float = EVERY) -> Iterator[None]:
    """Look whether anything answers at HOST:PORT for as long as the block runs."""
    over = threading.Event()
    thread = threading.Thread(target=_watch, args=(address, every, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _watch(address: str, every: float, over: threading.Event) -> None:
    missed = 0
    while not over.wait(every):
        missed = 0 if _answers(address, every) else missed + 1
        if missed == MISSES:
            print(f"vera: {GONE.format(address)}", file=sys.stderr, flush=True)


def _answers(address: str, patience: float) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=patience).close()
    except OSError:
        return False
    return True

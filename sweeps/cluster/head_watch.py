"""Tell the user when the head of a joined cluster stops answering.

Ray waits for the head (one minute by default) and then ends the process without giving us control. So the
advice is printed while Ray waits. Nothing else happens here: if the head comes back in time, the run
continues.
"""

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

INTERVAL = 5.0
"""Seconds between two checks."""
MISSES = 2
"""Failed checks in a row before the message is printed."""
MESSAGE = (
    "The head of the cluster, {}, does not answer; Ray will end this command if it stays away. Finished "
    "trials are stored: start the head again, then run the same command."
)


@contextmanager
def watch_head(address: str, interval: float = INTERVAL) -> Iterator[None]:
    """Check regularly that something answers at HOST:PORT while the block runs."""
    is_over = threading.Event()
    thread = threading.Thread(target=_watch, args=(address, interval, is_over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _watch(address: str, interval: float, is_over: threading.Event) -> None:
    missed = 0
    while not is_over.wait(interval):
        missed = 0 if _is_answering(address, interval) else missed + 1
        if missed == MISSES:
            print(f"vera: {MESSAGE.format(address)}", file=sys.stderr, flush=True)


def _is_answering(address: str, patience: float) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=patience).close()
    except OSError:
        return False
    return True

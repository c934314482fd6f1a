"""Notices while Ray waits silently: the head of a joined cluster does not answer, or the cluster is busy.

Ray waits for the head (one minute by default) and then ends the process without giving us control. So the
advice is printed while Ray waits. Nothing else happens here: if the head comes back in time, the run
continues.

Ray waits for free resources too, possibly for hours. Trap: free resources alone do not answer the question,
because a reservation for a trial whose worker is still loading torch is not free either. So Ray is asked
whether any reservation was granted since we joined; if one was, nothing is printed.
"""

import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

HEAD_INTERVAL, WAIT_INTERVAL = 5.0, 10.0
"""Seconds between two checks of the head, and of the reservations."""
MISSES = 2
"""Failed checks in a row before the message on the head is printed."""
MESSAGE = (
    "The head of the cluster, {}, does not answer; Ray will end this command if it stays away. Finished "
    "trials are stored: start the head again, then run the same command."
)
THREAD_NAME = "vera-waiting"


@contextmanager
def watch_head(address: str, interval: float = HEAD_INTERVAL) -> Iterator[None]:
    """Check regularly that something answers at HOST:PORT while the block runs."""

    def watch(is_over: threading.Event) -> None:
        missed = 0
        while not is_over.wait(interval):
            missed = 0 if _is_answering(address, interval) else missed + 1
            if missed == MISSES:
                print(f"vera: {MESSAGE.format(address)}", file=sys.stderr, flush=True)

    with _run_in_background(watch):
        yield


@contextmanager
def notify_if_waiting(
    wanted: Mapping[str, float],
    has_started: Callable[[], bool],
    notify: Callable[[str], None],
    interval: float = WAIT_INTERVAL,
) -> Iterator[None]:
    """While the block runs, say once which resources the first trial waits for, if it waits."""
    earlier: set[str] = set()
    with suppress(Exception):  # an unreachable cluster is reported elsewhere
        earlier = set(_read_reservations())

    def watch(is_over: threading.Event) -> None:
        while not is_over.wait(interval) and not has_started():
            with suppress(Exception):
                states = {state for name, state in _read_reservations().items() if name not in earlier}
                if states == {"PENDING"}:
                    return notify(describe_wait(wanted, _read_free_resources()))

    with _run_in_background(watch):
        yield


@contextmanager
def _run_in_background(watch: Callable[[threading.Event], None]) -> Iterator[None]:
    """A thread runs `watch` while the block runs; the event tells it that the block is over."""
    is_over = threading.Event()
    thread = threading.Thread(name=THREAD_NAME, target=watch, args=(is_over,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join(timeout=1.0)  # it may hang on a cluster that does not answer; it is a daemon


def _is_answering(address: str, patience: float) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=patience).close()
    except OSError:
        return False
    return True


def describe_wait(wanted: Mapping[str, float], free: Mapping[str, float]) -> str:
    """What is missing, as text. The free total of all nodes need not be free on one node."""
    lacking = {kind: amount for kind, amount in wanted.items() if free.get(kind, 0.0) < amount}
    what = " and ".join(f"{amount:g} {kind}" for kind, amount in (lacking or wanted).items() if amount)
    if not lacking:
        return f"waiting for {what}: no single node has this much free"
    has = " and ".join(
        f"{free.get(kind, 0.0):g} {kind}" if free.get(kind) else f"no {kind}" for kind in lacking
    )
    return f"waiting for {what}: the cluster has {has} free"


def _read_reservations() -> dict[str, str]:
    """Every reservation of the cluster and its state: PENDING, CREATED or REMOVED."""
    from ray.util import placement_group_table

    return {name: about["state"] for name, about in placement_group_table().items()}


def _read_free_resources() -> dict[str, float]:
    import ray

    return dict(ray.available_resources())

"""Tell the user when a joined cluster is busy: Ray waits for free resources silently, possibly for hours.

Trap: free resources alone do not answer the question, because a reservation for a trial whose worker is still
loading torch is not free either. So Ray is asked whether any reservation was granted since we joined; if one
was, nothing is printed.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

THREAD_NAME = "vera-waiting"
INTERVAL = 10.0
"""Seconds before the first check, and between two checks."""


@contextmanager
def notify_if_waiting(
    wanted: Mapping[str, float],
    has_started: Callable[[], bool],
    notify: Callable[[str], None],
    interval: float = INTERVAL,
) -> Iterator[None]:
    """While the block runs, say once which resources the first trial waits for, if it waits."""
    is_over, known = threading.Event(), _list_earlier_reservations()
    thread = threading.Thread(
        name=THREAD_NAME,
        target=_watch,
        args=(wanted, known, has_started, notify, interval, is_over),
        daemon=True,
    )
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join(timeout=1.0)  # it may hang on a cluster that does not answer; it is a daemon


def _watch(
    wanted: Mapping[str, float],
    known: frozenset[str],
    has_started: Callable[[], bool],
    notify: Callable[[str], None],
    interval: float,
    is_over: threading.Event,
) -> None:
    while not is_over.wait(interval) and not has_started():
        with suppress(Exception):  # an unreachable cluster is reported elsewhere
            states = {state for name, state in _read_reservations().items() if name not in known}
            if states == {"PENDING"}:
                return notify(describe_wait(wanted, _read_free_resources()))


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


def _list_earlier_reservations() -> frozenset[str]:
    """The reservations made before ours; empty if the cluster does not answer."""
    with suppress(Exception):
        return frozenset(_read_reservations())
    return frozenset()


def _read_reservations() -> dict[str, str]:
    """Every reservation of the cluster and its state: PENDING, CREATED or REMOVED."""
    from ray.util import placement_group_table

    return {name: about["state"] for name, about in placement_group_table().items()}


def _read_free_resources() -> dict[str, float]:
    import ray

    return dict(ray.available_resources())

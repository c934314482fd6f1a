"""A word to the user where a cluster that was joined is busy: Ray waits for room without one, be it for
hours.

The trap: what is free is no answer alone. Room that is kept for a trial whose worker is still loading torch
is not free either, so Ray is asked whether any was given since we came; then nothing is said.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

NAME = "vera-waiting"
AFTER = 10.0
"""Seconds without a trial that started, and between two looks."""


@contextmanager
def told_if_waiting(
    wanted: Mapping[str, float], begun: Callable[[], bool], tell: Callable[[str], None], after: float = AFTER
) -> Iterator[None]:
    """Say once what the first trial waits for, if it does, while the block runs."""
    over, known = threading.Event(), _rooms_of_others()
    thread = threading.Thread(
        name=NAME, target=_watch, args=(wanted, known, begun, tell, after, over), daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(
            timeout=1.0
        )  # no longer: it may be waiting for a cluster that does not answer, and it is a daemon


def _watch(
    wanted: Mapping[str, float],
    known: frozenset[str],
    begun: Callable[[], bool],
    tell: Callable[[str], None],
    after: float,
    over: threading.Event,
) -> None:
    while not over.wait(after) and not begun():
        with suppress(Exception):  # a cluster that does not answer any more is told of elsewhere
            asked = {state for room, state in _rooms().items() if room not in known}
            if asked == {"PENDING"}:
                return tell(waits_for(wanted, _free()))


def waits_for(wanted: Mapping[str, float], free: Mapping[str, float]) -> str:
    """In words. What all nodes together have free need not be free on one."""
    lacking = {kind: amount for kind, amount in wanted.items() if free.get(kind, 0.0) < amount}
    what = " and ".join(f"{amount:g} {kind}" for kind, amount in (lacking or wanted).items() if amount)
    if not lacking:
        return f"waiting for {what}: no node of the cluster has as much free"
    has = " and ".join(
        f"{free.get(kind, 0.0):g} {kind}" if free.get(kind) else f"no {kind}" for kind in lacking
    )
    return f"waiting for {what}: the cluster has {has} free"


def _rooms_of_others() -> frozenset[str]:
    """Those that are there before ours. Where nobody answers they are none, and then, for one is given
    already, nothing is said."""
    with suppress(Exception):
        return frozenset(_rooms())
    return frozenset()


def _rooms() -> dict[str, str]:
    """Every reservation that the cluster knows of, and its state: PENDING, CREATED or REMOVED."""
    from ray.util import placement_group_table

    return {room: about["state"] for room, about in placement_group_table().items()}


def _free() -> dict[str, float]:
    import ray

    return dict(ray.available_resources())

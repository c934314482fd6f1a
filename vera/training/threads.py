"""The number of CPU threads of a run: one for small networks, unless the user has set it.

The matrix products of a small network are too short to be split. Threads that wait for each other then cost
more than they save.

The work of a step is estimated as weights × batch size × pixels (1 if points are not images). Below
SMALL_WORK a run uses one thread; larger runs use torch's number. Measured on two idle cores, two threads
break even at 4e6 (VERA with MLPs), 4e7 (DCGANs) and 5e7 (NICE by maximum likelihood); at 1e7 they save a
fifth of the time at most. If another process uses one of the cores, they take 1.6 to 7 times as long as one.

Torch does not say whether its number was set. It counts as set by the user if OMP_NUM_THREADS or
MKL_NUM_THREADS is in the environment, or if it differs from the number of cores of this machine. The argument
`threads` of the Trainer always wins. Trap: the number of threads can change the last bits of large sums and
products, so code that must replay exactly (sweeps) passes it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import torch

SMALL_WORK = 1e7
VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
TOPOLOGY = Path("/sys/devices/system/cpu")


def choose_threads(threads: int | None, work: float) -> int:
    """The number of threads for a run: `threads` if given, else one for little work, else torch's number."""
    current = torch.get_num_threads()
    if threads is not None:
        return threads
    return 1 if work < SMALL_WORK and not is_set_by_user(current) else current


def is_set_by_user(current: int) -> bool:
    """Whether torch's number of threads is somebody's choice and not torch's default."""
    return any(os.environ.get(name) for name in VARIABLES) or current not in count_cores()


@contextmanager
def use_threads(threads: int) -> Iterator[None]:
    """Run torch with this number of threads."""
    before = torch.get_num_threads()
    if threads == before:
        yield
        return
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@cache
def count_cores() -> frozenset[int]:
    """The numbers that torch can take as its default: logical cores, all or usable ones, and physical
    cores."""
    usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    counts = {os.cpu_count() or 1, len(usable)}
    with suppress(OSError):  # not Linux
        siblings = [(TOPOLOGY / f"cpu{i}/topology/thread_siblings_list").read_text() for i in usable]
        counts.add(len(set(siblings)))
    return frozenset(counts - {0})

"""Random numbers: one seed per purpose, and a separate global random state for each run.

Methods draw from torch's global generator, as layers such as dropout do. While a run trains, it installs its
own random state; when it pauses, it restores the caller's. So two runs can alternate in one process, and a
run that is resumed from its saved state is bit-identical to an uninterrupted one.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


def derive_seed(seed: int, purpose: str) -> int:
    """An independent seed for one purpose of a run: evaluating more often or reordering the data changes no
    other random numbers."""
    digest = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def get_random_state() -> dict[str, Any]:
    """The state of torch's global generators on the CPU and on all GPUs."""
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    return {"cpu": torch.get_rng_state(), "cuda": cuda}


def set_random_state(state: dict[str, Any]) -> None:
    """Restore a state; the GPUs' part only if their number is the same."""
    torch.set_rng_state(state["cpu"])
    if torch.cuda.is_available() and len(state["cuda"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(state["cuda"])


@contextmanager
def use_seed(seed: int) -> Iterator[None]:
    """Seed the global random state for the block and restore the caller's state afterwards."""
    outer = get_random_state()
    torch.manual_seed(seed)
    try:
        yield
    finally:
        set_random_state(outer)

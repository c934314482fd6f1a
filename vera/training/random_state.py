"""Randomness: seeds by purpose, and a global random state that a run owns while it runs.

Methods draw from torch's global generator, as layers such as dropout do. A run therefore brings its own state
and puts the caller's back when it pauses: two runs can take turns in one process, and a run resumed from its
saved state goes on bit for bit.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


def derive_seed(seed: int, purpose: str) -> int:
    """An independent seed for one purpose of a run, so that more evaluations or another data order disturb
    nothing else."""
    digest = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def get_random_state() -> dict[str, Any]:
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    return {"cpu": torch.get_rng_state(), "cuda": cuda}


def set_random_state(state: dict[str, Any]) -> None:
    torch.set_rng_state(state["cpu"])
    if torch.cuda.is_available() and len(state["cuda"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(state["cuda"])


@contextmanager
def use_seed(seed: int) -> Iterator[None]:
    """A fresh random state from a seed; the caller's is back afterwards."""
    outer = get_random_state()
    torch.manual_seed(seed)
    try:
        yield
    finally:
        set_random_state(outer)

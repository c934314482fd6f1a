"""The data contract: a data set gives endless streams of training batches and a test sample.

All randomness of a stream (order, noise, fresh toy points) comes from a generator of its own, so that every
method sees the same batches for the same seed, whatever random numbers it draws itself, and so that a
stream's position is a few kilobytes.
"""

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor

TEST_POINTS = "test points"
"""The purpose from which the seed of a test sample is derived; with the bare seed it would begin like the
training stream."""


class Stream(ABC):
    """An endless supply of batches whose position can be saved and restored."""

    def __init__(self, seed: int) -> None:
        self.rng = torch.Generator().manual_seed(seed)

    @abstractmethod
    def next_batch(self) -> Any:
        """A tensor of points, or a `LabelledBatch`."""

    def state_dict(self) -> dict[str, Any]:
        return {"rng": self.rng.get_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.rng.set_state(state["rng"])


class DataSet(ABC):
    """One data set in one form: `data_dim` floats a point, and a fingerprint of exactly what it holds."""

    name: str
    data_dim: int

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A short hash of the content and its preprocessing; never of paths."""

    @abstractmethod
    def stream(self, batch_size: int, seed: int) -> Stream: ...

    @abstractmethod
    def test_points(self, seed: int, n: int | None = None) -> Tensor:
        """n points that no stream trains on: fresh ones where there is a sampler, else of the test set (all
        of it for None)."""

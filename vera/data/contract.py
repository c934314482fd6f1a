"""The data contract: a data set provides endless streams of training batches and a test sample.

All randomness of a stream (order, noise, new toy points) comes from its own generator. Every method therefore
sees the same batches for the same seed, whatever random numbers it draws itself, and the position of a stream
takes only a few kilobytes.
"""

import hashlib
import json
import math
from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor

from vera.errors import DataCorrupt
from vera.wording import plural

TEST_POINTS = "test points"
"""The purpose from which the seed of a test sample is derived. With the bare seed, the sample would begin
like the training stream."""

Fact = str | int | float | dict[str, str]


class Stream(ABC):
    """An endless supply of batches whose position can be saved and restored."""

    def __init__(self, seed: int) -> None:
        self.rng = torch.Generator().manual_seed(seed)

    @abstractmethod
    def next_batch(self) -> Any:
        """Return a tensor of points, or a `LabelledBatch`."""

    def state_dict(self) -> dict[str, Any]:
        return {"rng": self.rng.get_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.rng.set_state(state["rng"])


class DataSet(ABC):
    """One data set in one form: points of `data_dim` floats, and a fingerprint of the content."""

    name: str
    data_dim: int
    scale: tuple[Tensor, Tensor] | None = None
    """Centre and width of each coordinate if points are scaled: a point is (x − centre) / width, where x is
    in the units of the user."""
    given_shape: tuple[int, ...] | None = None
    """Shape of a point as the user gave it, if the data set flattens images."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A short hash of the content and its preprocessing; never of paths."""

    @abstractmethod
    def stream(self, batch_size: int, seed: int) -> Stream: ...

    @abstractmethod
    def test_points(self, seed: int, n: int | None = None) -> Tensor:
        """Return n points that no stream trains on.

        Where there is a sampler the points are new, otherwise they come from the test set (None: all of it).
        """


def compute_fingerprint(**facts: Fact) -> str:
    """Return 16 hex digits that depend on these facts and not on their order."""
    canonical = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def check_finite(x: Tensor, name: str, subset: str) -> None:
    """Raise `DataCorrupt` if a point is not finite, with the number of such points and the first of them.

    Without this check, training would end as *diverged* and the method would seem to have failed. Finite data
    take one pass and no copy.
    """
    if not x.is_floating_point() or not x.numel():
        return
    if all(math.isfinite(end) for end in x.aminmax()):  # NaN propagates to both ends
        return
    wrong = x.flatten(1).isfinite().logical_not()
    rows = wrong.any(1).nonzero().flatten()
    first = int(rows[0])
    value = float(x.flatten(1)[first][wrong[first]][0])
    raise DataCorrupt(
        f"The data set '{name}' has {plural(len(rows), f'{subset} point')} not finite in single precision, "
        f"the first in row {first} ({value:g}). Fill in such values or drop their rows."
    )

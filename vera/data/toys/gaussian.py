"""A standard normal in any number of dimensions, drawn afresh for every batch: the target of Figure 6."""

import torch
from torch import Tensor

from vera.data.contract import TEST_POINTS, DataSet, Stream
from vera.data.fingerprint import fingerprint_of
from vera.spec.registry import datasets
from vera.spec.settings import Count, validated
from vera.training.random_state import derive_seed


@datasets.register("gaussian")
class Gaussian(DataSet):
    """Independent standard normals, 128 dimensions by default."""

    version = 1

    @validated
    def __init__(self, dim: Count = 128) -> None:
        self.data_dim = dim
        self.name = f"gaussian-{dim}"

    @property
    def fingerprint(self) -> str:
        return fingerprint_of(name="gaussian", version=self.version, dim=self.data_dim)

    @validated
    def stream(self, batch_size: Count, seed: int) -> Stream:
        return GaussianStream(batch_size, self.data_dim, seed)

    @validated
    def test_points(self, seed: int, n: Count | None = None) -> Tensor:
        """Fresh points: 100,000 unless told."""
        return self.stream(n or 100_000, derive_seed(seed, TEST_POINTS)).next_batch()


class GaussianStream(Stream):
    """Fresh batches."""

    def __init__(self, batch_size: int, dim: int, seed: int) -> None:
        super().__init__(seed)
        self.shape = (batch_size, dim)

    def next_batch(self) -> Tensor:
        return torch.randn(self.shape, generator=self.rng)

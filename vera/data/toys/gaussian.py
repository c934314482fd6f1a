"""A standard normal in any number of dimensions, with new points in every batch: the target of Figure 6."""

import torch
from torch import Tensor

from vera.data.contract import TEST_POINTS, DataSet, Stream, compute_fingerprint
from vera.spec.registry import datasets
from vera.spec.settings import Count, validate_arguments
from vera.training.random_state import derive_seed


@datasets.register("gaussian")
class Gaussian(DataSet):
    """Independent standard normals, 128 dimensions by default."""

    version = 1

    @validate_arguments
    def __init__(self, dim: Count = 128) -> None:
        self.data_dim = dim
        self.name = f"gaussian-{dim}"

    @property
    def fingerprint(self) -> str:
        return compute_fingerprint(name="gaussian", version=self.version, dim=self.data_dim)

    @validate_arguments
    def stream(self, batch_size: Count, seed: int) -> Stream:
        return GaussianStream(batch_size, self.data_dim, seed)

    @validate_arguments
    def test_points(self, seed: int, n: Count | None = None) -> Tensor:
        """Return n new points (default: 100,000)."""
        return self.stream(n or 100_000, derive_seed(seed, TEST_POINTS)).next_batch()


class GaussianStream(Stream):
    """New points in every batch."""

    def __init__(self, batch_size: int, dim: int, seed: int) -> None:
        super().__init__(seed)
        self.shape = (batch_size, dim)

    def next_batch(self) -> Tensor:
        return torch.randn(self.shape, generator=self.rng)

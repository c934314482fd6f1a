"""Fréchet distance (FID, for Inception features) and kernel distance (KID) between two sets of features.

FID is the distance between Gaussians with the moments of the two sets,
‖μa − μb‖² + tr(A + B − 2 (A^½ B A^½)^½). The last trace is computed as the sum of the singular values of
A^½ B^½. This avoids squaring: the distance of a set from itself is zero to within 1e-8 of tr A, even if there
are fewer points than dimensions and the covariance is singular. Eigenvalues that are negative by rounding
count as zero.

Traps: FID is biased upwards, more for fewer points, so only values with the same n can be compared. KID is
unbiased and has a standard error. A set sorted by class must be shuffled before it is split into blocks; this
module does that.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from vera.errors import SettingError
from vera.evaluation.likelihood import Estimate

KERNEL_BLOCK = 1_000


@dataclass(frozen=True)
class Moments:
    """Number, mean and scatter Σ (x − mean)(x − mean)ᵀ of points, in double precision on the CPU.

    Moments of subsets can be added, so a large set need not fit into memory:
    `Moments.from_features(one) + Moments.from_features(other)`.
    """

    n: int
    mean: Tensor
    scatter: Tensor

    @classmethod
    def from_features(cls, features: Tensor) -> "Moments":
        x = features.double().cpu()
        mean = x.mean(0)
        return cls(len(x), mean, (x - mean).T @ (x - mean))

    def __add__(self, other: "Moments") -> "Moments":
        n = self.n + other.n
        shift = other.mean - self.mean
        scatter = self.scatter + other.scatter + torch.outer(shift, shift) * (self.n * other.n / n)
        return Moments(n, self.mean + shift * (other.n / n), scatter)

    @property
    def covariance(self) -> Tensor:
        """The covariance with ddof 1, as in the published scripts."""
        if self.n < 2:
            raise SettingError(f"A covariance needs at least 2 points, got {self.n}.")
        return self.scatter / (self.n - 1)


def frechet_distance(a: Moments, b: Moments) -> float:
    """Return the Fréchet distance (FID for Inception features), or NaN if a moment is not finite."""
    if a.mean.shape != b.mean.shape:
        raise SettingError(f"frechet_distance: cannot compare {len(a.mean)} and {len(b.mean)} features.")
    first, second = a.covariance, b.covariance
    if not all(bool(moment.isfinite().all()) for moment in (a.mean, b.mean, first, second)):
        return math.nan
    overlap = torch.linalg.svdvals(_matrix_root(first) @ _matrix_root(second)).sum()
    distance = (a.mean - b.mean).square().sum() + first.trace() + second.trace() - 2 * overlap
    return max(0.0, float(distance))


def _matrix_root(covariance: Tensor) -> Tensor:
    values, vectors = torch.linalg.eigh(covariance)
    return (vectors * values.clamp(min=0).sqrt()) @ vectors.T


def kernel_distance(x: Tensor, y: Tensor, block: int = KERNEL_BLOCK) -> Estimate:
    """Return KID, the squared distance of mean embeddings under the kernel (x·y / dim + 1)³.

    It is unbiased, so it can be negative. Both sets are shuffled and split into the same number of blocks of
    about `block` points. The estimate is the mean over pairs of blocks. The pairs share no points, so the
    standard error is valid; it is NaN for a single pair.
    """
    if min(len(x), len(y)) < 2:
        raise SettingError(
            f"kernel_distance: needs at least 2 points in each set, got {len(x)} and {len(y)}."
        )
    blocks = max(1, min(len(x), len(y)) // block)
    pairs = zip(shuffle_rows(x).tensor_split(blocks), shuffle_rows(y).tensor_split(blocks), strict=True)
    return Estimate.from_values(
        torch.stack([_unbiased_distance(one.double(), other.double()) for one, other in pairs])
    )


def shuffle_rows(rows: Tensor) -> Tensor:
    """Return the rows in a fixed random order, so that measurements are reproducible."""
    return rows.cpu()[torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))]


def _unbiased_distance(x: Tensor, y: Tensor) -> Tensor:
    return _mean_kernel(x) + _mean_kernel(y) - 2 * _kernel(x, y).mean()


def _mean_kernel(x: Tensor) -> Tensor:
    """Return the mean of the kernel over pairs of different points."""
    kernel = _kernel(x, x)
    return (kernel.sum() - kernel.trace()) / (len(x) * (len(x) - 1))


def _kernel(x: Tensor, y: Tensor) -> Tensor:
    return (x @ y.T / x.shape[1] + 1) ** 3

"""Distances between two sets of features: the Fréchet distance (FID, for Inception's features) and the kernel
distance (KID).

FID is the distance between the Gaussians with the two sets' moments, ‖μa − μb‖² + tr(A + B − 2 (A^½ B
A^½)^½). The last trace is the sum of the singular values of A^½ B^½; taken so, nothing is squared on the way,
and the distance of a set from itself comes out as zero to within 1e-8 of tr A even where fewer points than
dimensions leave a covariance without full rank. Eigenvalues that rounding has made negative count as zero.

Traps: FID is biased upwards, the more the fewer the points, so two values compare only at the same n; KID is
not biased, and has a standard error. And a set sorted by class must be shuffled before it is cut into blocks,
which is done here.
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
    """Of n points: their mean, and the scatter Σ (x − mean)(x − mean)ᵀ, in double precision on the CPU.

    Scatters of parts add up, so that a large set never needs to be held: `Moments.from_features(one) +
    Moments.from_features(other)`.
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
        """With ddof 1, as in the published scripts."""
        if self.n < 2:
            raise SettingError(f"A covariance needs at least 2 points, got {self.n}.")
        return self.scatter / (self.n - 1)


def frechet_distance(a: Moments, b: Moments) -> float:
    """FID where the features are Inception's; NaN if a moment is not finite."""
    if a.mean.shape != b.mean.shape:
        raise SettingError(f"frechet_distance: {len(a.mean)} and {len(b.mean)} features do not compare.")
    first, second = a.covariance, b.covariance
    if not all(bool(part.isfinite().all()) for part in (a.mean, b.mean, first, second)):
        return math.nan
    overlap = torch.linalg.svdvals(_root(first) @ _root(second)).sum()
    distance = (a.mean - b.mean).square().sum() + first.trace() + second.trace() - 2 * overlap
    return max(0.0, float(distance))


def _root(covariance: Tensor) -> Tensor:
    values, vectors = torch.linalg.eigh(covariance)
    return (vectors * values.clamp(min=0).sqrt()) @ vectors.T


def kernel_distance(x: Tensor, y: Tensor, block: int = KERNEL_BLOCK) -> Estimate:
    """KID: the squared distance of mean embeddings under the kernel (x·y / dim + 1)³, unbiased, so it may
    fall below zero.

    Both sets are shuffled and cut into equally many blocks of about `block` points; the estimate is the mean
    over the pairs of blocks, which share no point, and its standard error therefore honest. It is NaN for a
    single pair.
    """
    if min(len(x), len(y)) < 2:
        raise SettingError(
            f"kernel_distance: needs at least 2 points of each kind, got {len(x)} and {len(y)}."
        )
    blocks = max(1, min(len(x), len(y)) // block)
    pairs = zip(shuffle_rows(x).tensor_split(blocks), shuffle_rows(y).tensor_split(blocks), strict=True)
    return Estimate.from_values(
        torch.stack([_unbiased(one.double(), other.double()) for one, other in pairs])
    )


def shuffle_rows(rows: Tensor) -> Tensor:
    """Always the same random order, so that a measurement repeats."""
    return rows.cpu()[torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))]


def _unbiased(x: Tensor, y: Tensor) -> Tensor:
    return _between_different(x) + _between_different(y) - 2 * _kernel(x, y).mean()


def _between_different(x: Tensor) -> Tensor:
    kernel = _kernel(x, x)
    return (kernel.sum() - kernel.trace()) / (len(x) * (len(x) - 1))


def _kernel(x: Tensor, y: Tensor) -> Tensor:
    return (x @ y.T / x.shape[1] + 1) ** 3

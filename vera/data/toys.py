"""Data with new points in every batch: moons, circles and rings in the plane, and a standard normal.

Each density in the plane is a curve with Gaussian noise around it, so its true density is known. For a circle
of radius R and noise s, at r = |x|,

    p(x) = exp(-(r - R)² / 2s²) · i0e(r R / s²) / 2πs²,        i0e(a) = exp(-a) I0(a),

and moons integrate the noise along two half circles. E[log p] is then the ceiling of any model's test
log-likelihood: moons -2.394, circles -3.268, rings -2.623.

Trap: points are placed on the curve at equally spaced angles, as in scikit-learn's make_moons and
make_circles (half circles include both ends, circles exclude the last angle). A batch of moons or circles is
therefore not an independent sample: only its order and its noise are random. A batch of rings is independent:
it is drawn with replacement from 20 times as many points.
"""

import math
from abc import abstractmethod

import numpy as np
import torch
from torch import Tensor

from vera.data.contract import TEST_POINTS, DataSet, Stream, compute_fingerprint
from vera.spec.registry import datasets
from vera.spec.settings import Count, validate_arguments
from vera.training.state.random_state import derive_seed


class Toy(DataSet):
    """A density in the plane that is known and can be sampled."""

    data_dim = 2
    version = 1

    @abstractmethod
    def log_density(self, x: Tensor) -> Tensor:
        """Return log p of each row of x under the true density."""

    @property
    def fingerprint(self) -> str:
        return compute_fingerprint(name=self.name, version=self.version)

    @validate_arguments
    def test_points(self, seed: int, n: Count | None = None) -> Tensor:
        """Return n new points (default: 100,000)."""
        batch: Tensor = self.stream(n or 100_000, derive_seed(seed, TEST_POINTS)).next_batch()
        return batch


class Curve(Toy):
    """A curve in the plane, and the standard deviation of the noise around it."""

    noise: float

    @abstractmethod
    def build_skeleton(self, n: int) -> Tensor:
        """Return the points without noise from which a batch of n is drawn."""

    def choose_points(self, n: int, rng: torch.Generator) -> Tensor:
        """Return the indices of the skeleton points in a batch of n."""
        return torch.randperm(n, generator=rng)

    @validate_arguments
    def stream(self, batch_size: Count, seed: int) -> Stream:
        return CurveStream(self, batch_size, seed)


class CurveStream(Stream):
    """New points in every batch; the skeleton is computed once."""

    def __init__(self, toy: Curve, batch_size: int, seed: int) -> None:
        super().__init__(seed)
        self.toy = toy
        self.batch_size = batch_size
        self.skeleton = toy.build_skeleton(batch_size)

    def next_batch(self) -> Tensor:
        chosen = self.skeleton[self.toy.choose_points(self.batch_size, self.rng)]
        return torch.randn(self.batch_size, 2, generator=self.rng).mul_(self.toy.noise).add_(chosen)


@datasets.register("moons")
class Moons(Curve):
    """Two interleaved half circles of radius 2, noise .2."""

    name = "moons"
    noise = 0.2
    radius = 2.0
    arcs = ((-1.0, -0.2, 1.0), (1.0, 0.8, -1.0))  # centre, and the sign of the radius

    def build_skeleton(self, n: int) -> Tensor:
        arcs = []
        for (cx, cy, sign), count in zip(self.arcs, (n // 2, n - n // 2), strict=True):
            angles = torch.linspace(0, math.pi, count, dtype=torch.float64)
            arcs.append(angles.new_tensor((cx, cy)) + sign * self.radius * _place_on_circle(angles))
        return torch.cat(arcs).float()

    def log_density(self, x: Tensor) -> Tensor:
        blocks = torch.split(x.double(), 4096)  # 8 MB at a time
        return torch.cat([self._log_density(block) for block in blocks]).to(x.dtype)

    def _log_density(self, x: Tensor) -> Tensor:
        # The integrand is a bump of width noise / radius = .1 in angle; 128 nodes reach machine precision.
        nodes, weights = (torch.from_numpy(a).to(x.device) for a in np.polynomial.legendre.leggauss(128))
        directions = _place_on_circle((nodes + 1) * (math.pi / 2))
        exponents = []
        for cx, cy, sign in self.arcs:
            y = x - x.new_tensor((cx, cy))
            distance2 = (
                y.square().sum(1, keepdim=True) + self.radius**2 - 2 * sign * self.radius * y @ directions.T
            )
            exponents.append((weights / 4).log() - distance2 / (2 * self.noise**2))
        return torch.cat(exponents, 1).logsumexp(1) - math.log(2 * math.pi * self.noise**2)


@datasets.register("circles")
class Circles(Curve):
    """Two concentric circles of radius 3 and 1.5, noise .24."""

    name = "circles"
    noise = 0.24
    radii = (3.0, 1.5)

    def build_skeleton(self, n: int) -> Tensor:
        return _build_circles(n, self.radii)

    def log_density(self, x: Tensor) -> Tensor:
        return _compute_circles_log_density(x, self.radii, self.noise)


@datasets.register("rings")
class Rings(Curve):
    """Four concentric circles of radius 3, 2.25, 1.5 and .75, noise .08."""

    name = "rings"
    noise = 0.08
    radii = (3.0, 2.25, 1.5, 0.75)

    def build_skeleton(self, n: int) -> Tensor:
        return _build_circles(20 * n, self.radii)

    def choose_points(self, n: int, rng: torch.Generator) -> Tensor:
        return torch.randint(20 * n, (n,), generator=rng)

    def log_density(self, x: Tensor) -> Tensor:
        return _compute_circles_log_density(x, self.radii, self.noise)


def _place_on_circle(angles: Tensor) -> Tensor:
    return torch.stack([angles.cos(), angles.sin()], 1)


def _build_circles(n: int, radii: tuple[float, ...]) -> Tensor:
    """Return n points, equally many on each circle; the innermost circle takes the remainder."""
    counts = [n // len(radii)] * (len(radii) - 1)
    counts.append(n - sum(counts))
    turns = [torch.arange(count, dtype=torch.float64) * (2 * math.pi / max(count, 1)) for count in counts]
    return torch.cat([radius * _place_on_circle(t) for radius, t in zip(radii, turns, strict=True)]).float()


def _compute_circles_log_density(x: Tensor, radii: tuple[float, ...], noise: float) -> Tensor:
    r = torch.linalg.vector_norm(x.double(), dim=1, keepdim=True)
    radius = torch.tensor(radii, dtype=torch.float64, device=x.device)
    exponents: Tensor = torch.special.i0e(r * radius / noise**2).log() - (r - radius).square() / (
        2 * noise**2
    )
    return (exponents.logsumexp(1) - math.log(len(radii) * 2 * math.pi * noise**2)).to(x.dtype)


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

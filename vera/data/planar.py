"""Four more densities in the plane: eight Gaussians, checkerboard, pinwheel and spirals.

They are drawn point by point, so a batch is an independent sample, and their true densities are known:

- Eight Gaussians: a mixture.
- Checkerboard: uniform on eight squares, with a little Gaussian noise so that the density is nowhere zero. It
  is a sum of products of differences of the normal distribution function.
- Pinwheel: five Gaussians, each point turned by an angle that depends on its radius only. Such a turn keeps
  areas, so the density of a point is the mixture's at the point turned back.
- Spirals: noise around two curves; the density is integrated along them by Gauss-Legendre quadrature.

E[log p], the ceiling of any model's test log-likelihood: eight Gaussians -2.509, checkerboard -3.008,
pinwheel -2.321, spirals -2.946.
"""

import math
from abc import abstractmethod

import numpy as np
import torch
from torch import Tensor

from vera.data.contract import Stream
from vera.data.toys import Toy
from vera.spec.registry import datasets
from vera.spec.settings import Count, validate_arguments


class PlanarDensity(Toy):
    """A density in the plane whose points are drawn independently."""

    @abstractmethod
    def draw(self, n: int, rng: torch.Generator) -> Tensor:
        """Return n independent points."""

    @validate_arguments
    def stream(self, batch_size: Count, seed: int) -> Stream:
        return PlanarStream(self, batch_size, seed)


class PlanarStream(Stream):
    """Independent points in every batch."""

    def __init__(self, toy: PlanarDensity, batch_size: int, seed: int) -> None:
        super().__init__(seed)
        self.toy, self.batch_size = toy, batch_size

    def next_batch(self) -> Tensor:
        return self.toy.draw(self.batch_size, self.rng)


@datasets.register("8gaussians")
class EightGaussians(PlanarDensity):
    """Eight Gaussians of deviation .3, evenly spaced on a circle of radius 3."""

    name = "8gaussians"
    count, radius, noise = 8, 3.0, 0.3

    def draw(self, n: int, rng: torch.Generator) -> Tensor:
        chosen = torch.randint(self.count, (n,), generator=rng)
        return self._centres()[chosen] + self.noise * torch.randn(n, 2, generator=rng)

    def log_density(self, x: Tensor) -> Tensor:
        centres = self._centres().to(x.device, torch.float64)
        squares = (x.double().unsqueeze(1) - centres).square().sum(2)
        exponents = (-squares / (2 * self.noise**2)).logsumexp(1)
        return (exponents - math.log(self.count * 2 * math.pi * self.noise**2)).to(x.dtype)

    def _centres(self) -> Tensor:
        angles = torch.arange(self.count) * (2 * math.pi / self.count)
        return self.radius * torch.stack([angles.cos(), angles.sin()], 1)


@datasets.register("checkerboard")
class Checkerboard(PlanarDensity):
    """Every second of 4 x 4 squares on [-3, 3]², with noise .05."""

    name = "checkerboard"
    cells, limit, noise = 4, 3.0, 0.05

    def draw(self, n: int, rng: torch.Generator) -> Tensor:
        corners = self._corners()
        corner = corners[torch.randint(len(corners), (n,), generator=rng)]
        inside = self._side * torch.rand(n, 2, generator=rng)
        return corner + inside + self.noise * torch.randn(n, 2, generator=rng)

    def log_density(self, x: Tensor) -> Tensor:
        corners = self._corners().to(x.device, torch.float64)
        low = (x.double().unsqueeze(1) - corners) / self.noise
        shares = _log_normal_mass(low - self._side / self.noise, low).sum(2).logsumexp(1)
        return (shares - math.log(len(corners) * self._side**2)).to(x.dtype)

    @property
    def _side(self) -> float:
        return 2 * self.limit / self.cells

    def _corners(self) -> Tensor:
        """The lower left corners of the squares that have mass."""
        places = [(i, j) for i in range(self.cells) for j in range(self.cells) if (i + j) % 2 == 0]
        return torch.tensor(places) * self._side - self.limit


@datasets.register("pinwheel")
class Pinwheel(PlanarDensity):
    """Five arms: Gaussians at radius 2 with deviations .6 along and .2 across, bent by .25 e^(radius/2)."""

    name = "pinwheel"
    arms, radius, along, across, bend = 5, 2.0, 0.6, 0.2, 0.25

    def draw(self, n: int, rng: torch.Generator) -> Tensor:
        arm = torch.randint(self.arms, (n,), generator=rng)
        straight = torch.randn(n, 2, generator=rng) * torch.tensor([self.along, self.across])
        straight[:, 0] += self.radius
        return _rotate(straight, self._angle(straight) + arm * (2 * math.pi / self.arms))

    def log_density(self, x: Tensor) -> Tensor:
        points, arms = x.double(), torch.arange(self.arms, device=x.device)
        angles = self._angle(points).unsqueeze(1) + arms * (2 * math.pi / self.arms)
        straight = _rotate(points.unsqueeze(1).expand(-1, self.arms, -1), -angles)
        along, across = (straight[..., 0] - self.radius) / self.along, straight[..., 1] / self.across
        exponents = (-0.5 * (along.square() + across.square())).logsumexp(1)
        return (exponents - math.log(self.arms * 2 * math.pi * self.along * self.across)).to(x.dtype)

    def _angle(self, x: Tensor) -> Tensor:
        """The angle by which a point is turned; turning does not change it."""
        return self.bend * (torch.linalg.vector_norm(x, dim=1) / 2).exp()


@datasets.register("two-spirals")
class Spirals(PlanarDensity):
    """Two spirals of one and a half turns, out to radius π, with noise .15.

    The angle is 3π times the root of a uniform number.
    """

    name = "two-spirals"
    last_angle, pitch, noise = 3 * math.pi, 1 / 3, 0.15

    def draw(self, n: int, rng: torch.Generator) -> Tensor:
        angles = self.last_angle * torch.rand(n, generator=rng).sqrt()
        signs = 2.0 * torch.randint(2, (n, 1), generator=rng) - 1
        return signs * self._place(angles) + self.noise * torch.randn(n, 2, generator=rng)

    def log_density(self, x: Tensor) -> Tensor:
        blocks = torch.split(x.double(), 2048)  # 10 MB at a time
        return torch.cat([self._log_density(block) for block in blocks]).to(x.dtype)

    def _log_density(self, x: Tensor) -> Tensor:
        # The integrand is a bump of width noise / 3.2 = .047 or more in angle; nodes are at most .046 apart.
        nodes, weights = (torch.from_numpy(a).to(x.device) for a in np.polynomial.legendre.leggauss(320))
        angles = (nodes + 1) * (self.last_angle / 2)
        log_weights = (weights * angles / self.last_angle).log() - math.log(2)  # du = 2 angle / last² d angle
        curve = self._place(angles)
        squares = torch.cat([_squared_distances(x, arm) for arm in (curve, -curve)], 1)
        exponents = log_weights.repeat(2) - squares / (2 * self.noise**2)
        return exponents.logsumexp(1) - math.log(2 * math.pi * self.noise**2)

    def _place(self, angles: Tensor) -> Tensor:
        return self.pitch * angles.unsqueeze(1) * torch.stack([angles.cos(), angles.sin()], 1)


def _rotate(x: Tensor, angles: Tensor) -> Tensor:
    """Return each point turned counter-clockwise by its angle."""
    cos, sin = angles.cos(), angles.sin()
    return torch.stack([cos * x[..., 0] - sin * x[..., 1], sin * x[..., 0] + cos * x[..., 1]], -1)


def _squared_distances(x: Tensor, y: Tensor) -> Tensor:
    return x.square().sum(1, keepdim=True) + y.square().sum(1) - 2 * x @ y.T


def _log_normal_mass(low: Tensor, high: Tensor) -> Tensor:
    """Return log(Φ(high) − Φ(low)) for low < high, exact in both tails."""
    flip = low + high > 0
    low, high = torch.where(flip, -high, low), torch.where(flip, -low, high)
    top = torch.special.log_ndtr(high)
    return top + torch.log(-torch.expm1(torch.special.log_ndtr(low) - top))

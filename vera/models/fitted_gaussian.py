"""A Gaussian fitted to data: the noise density of contrastive methods and a proposal for importance sampling.

It has a full covariance, shrunk towards the multiple of the identity with the same trace: (1 − ρ) S + ρ
tr(S)/D I. The share ρ is the oracle approximating shrinkage of Chen et al. (2010), which follows from S and
the number of points; it falls as 1/n. So the covariance has full rank even for fewer points than dimensions.
Batches can be added one by one.
"""

import math

import torch
from torch import Tensor, nn


class FittedGaussian(nn.Module):
    """N(mean, Σ) on points of one shape, fitted to all points that were added. It has no weights to train."""

    count: Tensor
    mean: Tensor
    scatter: Tensor
    scale_tril: Tensor

    def __init__(self, shape: torch.Size) -> None:
        super().__init__()
        self.shape = shape
        dim = shape.numel()
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", torch.zeros(dim))
        self.register_buffer("scatter", torch.zeros(dim, dim))
        self.register_buffer("scale_tril", torch.eye(dim))

    @torch.no_grad()
    def add(self, x: Tensor) -> None:
        """Fit the Gaussian to these points and to all that were added before."""
        points = x.flatten(1).to(self.mean)
        total = self.count + len(points)
        batch_mean = points.mean(0)
        moved, centred = batch_mean - self.mean, points - batch_mean
        share = len(points) / total
        self.scatter += centred.T @ centred + self.count * share * torch.outer(moved, moved)
        self.mean += share * moved
        self.count.copy_(total)
        covariance = shrink_covariance(self.scatter / total, total)
        # Unlike cholesky, cholesky_ex does not raise on NaN: the next loss is then NaN, and the run diverged.
        self.scale_tril.copy_(torch.linalg.cholesky_ex(covariance.double()).L)

    def log_prob(self, x: Tensor) -> Tensor:
        """Return log q(x) of each point, with a gradient in x."""
        offset = (x.flatten(1) - self.mean).T
        whitened = torch.linalg.solve_triangular(self.scale_tril, offset, upper=False)
        log_volume = self.scale_tril.diagonal().log().sum() + 0.5 * len(self.mean) * math.log(2 * math.pi)
        return -0.5 * whitened.square().sum(0) - log_volume

    @torch.no_grad()
    def sample(self, n: int) -> Tensor:
        """Return n samples in the shape of the data."""
        noise = torch.randn(n, len(self.mean), device=self.mean.device).to(self.mean.dtype)
        return (self.mean + noise @ self.scale_tril.T).view(n, *self.shape)


def shrink_covariance(covariance: Tensor, n: Tensor) -> Tensor:
    """Return (1 − ρ) S + ρ tr(S)/D I, with the oracle approximating share ρ for n points."""
    dim = len(covariance)
    trace, squares = covariance.trace(), covariance.square().sum()
    excess = (n + 1 - 2 / dim) * (squares - trace.square() / dim)
    share = (((1 - 2 / dim) * squares + trace.square()) / excess).nan_to_num(1.0).clamp(0, 1)
    target = torch.eye(dim, device=covariance.device, dtype=covariance.dtype) * trace / dim
    return torch.lerp(covariance, target, share)

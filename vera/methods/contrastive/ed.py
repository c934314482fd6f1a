"""Energy discrepancy (Schröder et al., 2023): no MCMC and no derivative in x.

Each point x is diffused to y = x + √t ξ, and M points x'_j = y + √t ξ_j are drawn around y. The loss is
mean log( w/M + (1/M) Σ_j e^{f(x'_j) − f(x)} ). For M → ∞ its minimum is the density of the data at every t.
Small t gives t times the score matching loss, large t maximum likelihood (plus a constant).

Trap: M is finite. With w = 0 the loss has no lower bound: an f with a spike on every training point makes it
as small as one likes. With w > 0 it is at least log(w/M).
"""

import math
from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from vera.methods.direct import DirectMethod
from vera.spec.registry import methods
from vera.spec.settings import Count, NonNegative, Positive


@methods.register("ed")
@dataclass(eq=False, kw_only=True)
class EnergyDiscrepancy(DirectMethod):
    """Energy discrepancy with Gaussian noise."""

    t: Annotated[Positive, "variance of the noise: small t is score matching, large t maximum likelihood"] = (
        0.25
    )
    samples: Annotated[Count, "M, contrasting points for each data point"] = 16
    w: Annotated[NonNegative, "stabiliser; with w = 0 the loss has no lower bound"] = 1.0

    def loss(self, x: Tensor) -> Tensor:
        f_x = self.energy(x)
        f_contrast = self.energy(self.contrast(x).flatten(0, 1)).view(self.samples, len(x))
        differences = f_contrast - f_x
        if self.w > 0:
            stabiliser = torch.full_like(f_x, math.log(self.w)).unsqueeze(0)
            differences = torch.cat([differences, stabiliser])
        return differences.logsumexp(0).mean() - math.log(self.samples)

    def contrast(self, x: Tensor) -> Tensor:
        """Return M points x' around one diffused copy of each x, shape (M, B, ...)."""
        scale = math.sqrt(self.t)
        y = torch.add(x, torch.randn_like(x), alpha=scale)
        noise = torch.randn(self.samples, *x.shape, device=x.device, dtype=x.dtype)
        return torch.add(y, noise, alpha=scale)

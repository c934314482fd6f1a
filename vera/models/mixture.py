"""A mixture of diagonal Gaussians: normalised, so every training method can be judged by exact likelihood
(Table 10).

log p(x) = logsumexp_c [ log π_c + Σ_j log N(x_j; μ_cj, s_cj²) ]. Means start standard normal, scales at 1,
weights uniform. ∇log p(x) = Σ_c r_c(x) (μ_c − x) / s_c², with r the shares of the components in p(x): a
sampler needs no graph.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from vera.spec.registry import models
from vera.spec.settings import Count, validated

NEGLIGIBLE = 80.0
"""Nats below the largest component: a share of 2e-35, whose products are still far from underflow in single
precision."""


@models.register("mixture")
class GaussianMixture(nn.Module):
    """100 components in two dimensions by default: 500 parameters."""

    @validated
    def __init__(self, data_dim: Count = 2, components: Count = 100) -> None:
        super().__init__()
        self.data_dim = data_dim
        self.means = nn.Parameter(torch.randn(components, data_dim))
        self.log_scales = nn.Parameter(torch.zeros(components, data_dim))
        self.logits = nn.Parameter(torch.zeros(components))

    def forward(self, x: Tensor) -> Tensor:
        """f(x) = log p(x)."""
        # Components on the innermost axis: the sum over a handful of dimensions then runs along whole rows.
        points, means, scales = (t.T.contiguous() for t in (x, self.means, (-self.log_scales).exp()))
        whitened = (points.unsqueeze(2) - means.unsqueeze(1)) * scales.unsqueeze(1)
        offset = (
            self.logits.log_softmax(0) - self.log_scales.sum(1) - 0.5 * self.data_dim * math.log(2 * math.pi)
        )
        exponents = torch.add(offset, whitened.square().sum(0), alpha=-0.5)
        # What lies this far below the largest adds nothing to the sum, but exponentials that underflow are slow.
        floor = exponents.detach().amax(1, keepdim=True) - NEGLIGIBLE
        return torch.logsumexp(exponents.clamp(min=floor), dim=1)

    @torch.no_grad()
    def scorer(self) -> Callable[[Tensor], Tensor]:
        """x to ∇log p(x). Axis by axis, so that what is at hand, (B, C), stays in the cache: a quarter of
        autograd's time."""
        axes = list(zip(self.means.T.contiguous(), (-self.log_scales).exp().T.contiguous(), strict=True))
        offset = self.logits - self.log_scales.sum(1)

        @torch.no_grad()
        def score(x: Tensor) -> Tensor:
            whitened = [(x[:, j : j + 1] - mean).mul_(scale) for j, (mean, scale) in enumerate(axes)]
            exponents = offset
            for along in whitened:
                exponents = torch.addcmul(exponents, along, along, value=-0.5)
            shares = exponents.softmax(1)
            return torch.stack(
                [along.mul_(shares) @ scale for along, (_, scale) in zip(whitened, axes, strict=True)], 1
            ).neg_()

        return score

    def log_prob(self, x: Tensor) -> Tensor:
        return self(x)

    @torch.no_grad()
    def sample(self, n: int) -> Tensor:
        # Inverse of the cumulative weights: torch.multinomial would raise on weights that are not finite.
        levels = torch.rand(n, device=self.logits.device, dtype=self.logits.dtype)
        component = torch.searchsorted(self.logits.softmax(0).cumsum(0), levels).clamp(
            max=len(self.logits) - 1
        )
        means = (
            self.means[component] + 0 * self.logits.sum()
        )  # weights that are not numbers make samples that are none
        return torch.addcmul(means, self.log_scales[component].exp(), torch.randn_like(means))

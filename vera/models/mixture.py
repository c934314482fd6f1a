"""A mixture of diagonal Gaussians: it is normalised, so exact likelihood evaluates every method (Table 10).

log p(x) = logsumexp_c [ log π_c + Σ_j log N(x_j; μ_cj, s_cj²) ]. Means start standard normal, scales at 1,
weights uniform. ∇log p(x) = Σ_c r_c(x) (μ_c − x) / s_c², where r_c is the share of component c in p(x), so a
sampler needs no autograd graph.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from vera.spec.registry import models
from vera.spec.settings import Count, validate_arguments

NEGLIGIBLE = 80.0
"""Components this many nats below the largest are clamped: a share of 2e-35, whose products are still far
from underflow in single precision."""


@models.register("mixture")
class GaussianMixture(nn.Module):
    """100 components in two dimensions by default: 500 parameters."""

    @validate_arguments
    def __init__(self, data_dim: Count = 2, components: Count = 100) -> None:
        super().__init__()
        self.data_dim = data_dim
        self.means = nn.Parameter(torch.randn(components, data_dim))
        self.log_scales = nn.Parameter(torch.zeros(components, data_dim))
        self.logits = nn.Parameter(torch.zeros(components))

    def forward(self, x: Tensor) -> Tensor:
        """f(x) = log p(x)."""
        # With components on the innermost axis, the sum over the few dimensions runs along whole rows.
        points, means, scales = (t.T.contiguous() for t in (x, self.means, (-self.log_scales).exp()))
        whitened = (points.unsqueeze(2) - means.unsqueeze(1)) * scales.unsqueeze(1)
        offset = (
            self.logits.log_softmax(0) - self.log_scales.sum(1) - 0.5 * self.data_dim * math.log(2 * math.pi)
        )
        exponents = torch.add(offset, whitened.square().sum(0), alpha=-0.5)
        # Terms far below the largest do not change the sum, but exponentials that underflow are slow.
        floor = exponents.detach().amax(1, keepdim=True) - NEGLIGIBLE
        return torch.logsumexp(exponents.clamp(min=floor), dim=1)

    @torch.no_grad()
    def scorer(self) -> Callable[[Tensor], Tensor]:
        """Return the function x -> ∇log p(x).

        It processes one axis at a time, so that its (B, C) tensors stay in cache, and takes a quarter of the
        time of autograd.
        """
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
        # Inverts the cumulative weights, because torch.multinomial raises on non-finite weights.
        levels = torch.rand(n, device=self.logits.device, dtype=self.logits.dtype)
        component = torch.searchsorted(self.logits.softmax(0).cumsum(0), levels).clamp(
            max=len(self.logits) - 1
        )
        # Adding 0 · logits makes all samples NaN if a weight is not finite.
        means = self.means[component] + 0 * self.logits.sum()
        return torch.addcmul(means, self.log_scales[component].exp(), torch.randn_like(means))

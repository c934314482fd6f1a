"""A mixture of diagonal Gaussians: normalised, so every training method can be judged by exact likelihood (Table 10).

log p(x) = logsumexp_c [ log π_c + Σ_j log N(x_j; μ_cj, s_cj²) ]. Means start standard normal, scales at 1, weights uniform.
∇log p(x) = Σ_c r_c(x) (μ_c − x) / s_c², with r the shares of the components in p(x): a sampler needs no graph.
"""

import math

import torch
from torch import Tensor, nn

from vera.registry import models
from vera.settings import Count, validated


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
        offset = self.logits.log_softmax(0) - self.log_scales.sum(1) - 0.5 * self.data_dim * math.log(2 * math.pi)
        return torch.logsumexp(offset - 0.5 * whitened.square().sum(0), dim=1)

    @torch.no_grad()
    def score(self, x: Tensor) -> Tensor:
        """∇log p(x). Axis by axis, so that what is at hand, (B, C), stays in the cache: a third of autograd's time on the toys."""
        scales = (-self.log_scales).exp().T.contiguous()
        exponents = self.logits - self.log_scales.sum(1)
        whitened = [
            (points.unsqueeze(1) - means).mul_(scale) for points, means, scale in zip(x.T, self.means.T, scales, strict=True)
        ]
        for along in whitened:
            exponents = torch.addcmul(exponents, along, along, value=-0.5)
        shares = exponents.softmax(1)
        return -torch.stack([along.mul_(shares) @ scale for along, scale in zip(whitened, scales, strict=True)], dim=1)

    def log_prob(self, x: Tensor) -> Tensor:
        return self(x)

    @torch.no_grad()
    def sample(self, n: int) -> Tensor:
        # Inverse of the cumulative weights: torch.multinomial would raise on weights that are not finite.
        levels = torch.rand(n, device=self.logits.device, dtype=self.logits.dtype)
        component = torch.searchsorted(self.logits.softmax(0).cumsum(0), levels).clamp(max=len(self.logits) - 1)
        means = self.means[component] + 0 * self.logits.sum()  # weights that are not numbers make samples that are none
        return torch.addcmul(means, self.log_scales[component].exp(), torch.randn_like(means))

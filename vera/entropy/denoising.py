"""AR-DAE: a network learns the score of the generator by denoising its samples (Lim et al., 2020).

The loss is E‖u + s r(x + s u, s)‖² with u standard normal and s ~ N(0, δ²). Its minimum is the score of the
samples noised by s; at s = 0 that is the score of the generator itself, so c = −r(x, 0). For samples from
N(μ, Σ) the minimum is r(x, s) = −(Σ + s²I)⁻¹ (x − μ), with loss E_s[D − s² tr (Σ + s²I)⁻¹].

Every point is used with u and with −u. The part of the loss that is linear in s then cancels, which has mean
zero and by far the largest variance for small s.

Traps: the network hardly learns how the score changes with s, so a variance v looks like v + 3δ², and c is
too small where the generator is as narrow as δ. The network also lags behind a generator that moves, so
several updates are made for each of the generator's.
"""

from math import prod

import torch
from torch import Tensor, nn

from vera.entropy.contract import EntropyGradient
from vera.gradients import squared_norm
from vera.models.generator import Generator
from vera.models.mlp import build_dense
from vera.models.network_modes import evaluation_mode
from vera.spec.settings import Count, Positive, Sizes, validate_arguments
from vera.training.adam_betas import ADAM_BETAS
from vera.training.optimisers import adam, descend


class ResidualScore(nn.Module):
    """r(x, s): a linear map of x plus a dense network of x and s / δ, for points of any shape.

    The sum is divided by δ, so that s r is of order one as u is, and scores of order 1/δ are soon reached.
    """

    def __init__(self, data_dim: int, hidden: Sizes, scale: float) -> None:
        super().__init__()
        self.scale = scale
        self.linear = nn.Linear(data_dim, data_dim)
        self.net = build_dense((data_dim + 1, *hidden, data_dim), "softplus")

    def forward(self, x: Tensor, s: Tensor) -> Tensor:
        rows = x.flatten(1)
        score = self.linear(rows) + self.net(torch.cat([rows, s / self.scale], 1))
        return (score / self.scale).view_as(x)


class DenoisingEntropy(EntropyGradient):
    """Entropy gradient by a residual denoising autoencoder of the generator's samples."""

    @validate_arguments
    def __init__(
        self,
        data_dim: Count,
        *,
        lr: Positive = 1e-3,
        scale: Positive = 0.05,
        updates: Count = 5,
        hidden: Sizes = (128, 128),
        like: Tensor | None = None,
    ) -> None:
        self.scale, self.updates = scale, updates
        like = torch.empty(()) if like is None else like
        self.network = ResidualScore(data_dim, hidden, scale).to(like.device, like.dtype)
        self.weights = list(self.network.parameters())
        self.optimiser = adam(self.weights, lr, betas=ADAM_BETAS)
        self.last_loss = torch.zeros((), device=like.device, dtype=like.dtype)

    def tune(self, generator: Generator, z0: Tensor, x: Tensor) -> None:
        """Train the network on x, then on new samples of the generator."""
        for update in range(self.updates):
            loss = self.loss(x if update == 0 else generator.sample_pair(len(x))[1])
            descend(loss, self.weights, self.optimiser)
            self.last_loss = loss.detach()

    def loss(self, x: Tensor) -> Tensor:
        """Return the denoising loss at these points, one noise level for each and both signs of u."""
        s = self.scale * torch.randn(len(x), 1, device=x.device, dtype=x.dtype).repeat(2, 1)
        u = torch.randn_like(x)
        u, spread = torch.cat([u, -u]), s.view(-1, *[1] * (x.dim() - 1))
        noised = torch.cat([x, x]) + spread * u
        return squared_norm(u + spread * self.network(noised, s)).mean()

    @torch.no_grad()
    def direction(self, generator: Generator, z0: Tensor, x: Tensor) -> Tensor:
        return -self.network(x, x.new_zeros(len(x), 1))

    def metrics(self) -> dict[str, Tensor]:
        return {"dae_loss": self.last_loss}


@torch.no_grad()
def count_outputs(generator: Generator) -> int:
    """Return the number of coordinates of a generated point."""
    with evaluation_mode(generator.net):
        mean = generator(torch.zeros_like(generator.log_sigma).expand(2, generator.latent_dim))
    return prod(mean.shape[1:])

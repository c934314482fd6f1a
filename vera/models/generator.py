"""The generator q(x): x = g(z) + σ ε with z, ε standard normal and one learnable scalar σ (Eq. 5).

σ is stored as log σ, starts at its lower bound and is clamped to [σ_min, σ_max] after every update. Trap:
batch norm in g must use the statistics of the current batch in every pass. A mean computed in evaluation mode
differs from the one that produced x, and with σ near .01 the posterior weights explode. Only sampling for the
energy (`sample_with_latent`) updates the running averages.
"""

import math

import torch
from torch import Tensor, nn

from vera.errors import SettingError
from vera.models.network_modes import evaluation_mode, use_batch_statistics
from vera.spec.settings import Count, Positive, validate_arguments


class Generator(nn.Module):
    """A mean network with Gaussian output noise. `net` maps (B, latent_dim) to (B, ...)."""

    @validate_arguments
    def __init__(
        self,
        net: nn.Module,
        latent_dim: Count | None = None,
        *,
        sigma: Positive | None = None,
        sigma_min: Positive = 0.01,
        sigma_max: Positive = 0.3,
    ) -> None:
        super().__init__()
        sigma = sigma_min if sigma is None else sigma
        if not sigma_min <= sigma <= sigma_max:
            raise SettingError(
                "Generator: needs sigma_min <= sigma <= sigma_max, "
                f"got {sigma_min:g}, {sigma:g}, {sigma_max:g}."
            )
        latent_dim = latent_dim or getattr(net, "latent_dim", None)
        if latent_dim is None:
            raise SettingError(
                f"Generator: {type(net).__name__} has no latent_dim; "
                "pass it as Generator(net, latent_dim=...)."
            )
        self.net = net
        self.latent_dim: int = latent_dim
        self.log_sigma_range = (math.log(sigma_min), math.log(sigma_max))
        self.log_sigma = nn.Parameter(torch.tensor(math.log(sigma)))

    @property
    def sigma(self) -> Tensor:
        return self.log_sigma.exp()

    def forward(self, z: Tensor) -> Tensor:
        """Return the mean g(z), without noise."""
        return self.net(z)

    def mean(self, z: Tensor) -> Tensor:
        """Return g(z) with the statistics of this batch; the running averages do not change."""
        with use_batch_statistics(self.net):
            return self.net(z)

    def sample_latent(self, n: int) -> Tensor:
        """Return n standard normal latents."""
        return torch.randn(n, self.latent_dim, device=self.log_sigma.device, dtype=self.log_sigma.dtype)

    def sample_with_latent(self, n: int) -> tuple[Tensor, Tensor]:
        """Return (z0, x), with a graph from x to the weights and to σ. Updates the running averages."""
        z0 = self.sample_latent(n)
        mean = self.net(z0)
        return z0, torch.addcmul(mean, self.sigma, torch.randn_like(mean))

    @torch.no_grad()
    def sample_pair(self, n: int) -> tuple[Tensor, Tensor]:
        """Return (z0, x) for evaluation: without a graph, and the running averages do not change."""
        z0 = self.sample_latent(n)
        mean = self.mean(z0)
        return z0, torch.addcmul(mean, self.sigma, torch.randn_like(mean))

    @torch.no_grad()
    @validate_arguments
    def sample(self, n: Count, *, running_averages: bool = False) -> Tensor:
        """Return n samples; batch norm uses this batch's statistics unless `running_averages` is set."""
        if not running_averages:
            return self.sample_pair(n)[1]
        with evaluation_mode(self.net):
            mean = self.net(self.sample_latent(n))
        return torch.addcmul(mean, self.sigma, torch.randn_like(mean))

    @torch.no_grad()
    def clamp_sigma(self) -> None:
        """Clamp σ to [σ_min, σ_max]."""
        self.log_sigma.clamp_(*self.log_sigma_range)

"""The generator q(x): x = g(z) + σ ε with z, ε standard normal and one learnable scalar σ (Eq. 5).

σ lives as log σ, starts at its lower bound and is clamped to [σ_min, σ_max] after every update. Trap: batch
norm in g must use the statistics of the batch at hand in every pass; a mean taken in evaluation mode differs
from the one that produced x, and with σ near .01 the posterior weights explode. Only sampling for the energy
(`sample_with_latent`) moves the running averages.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from vera.errors import SettingError
from vera.spec.settings import Count, Positive, validated


class Generator(nn.Module):
    """A mean network with Gaussian output noise. `net` maps (B, latent_dim) to (B, ...)."""

    @validated
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
                f"Generator: needs sigma_min <= sigma <= sigma_max, got {sigma_min:g}, {sigma:g}, {sigma_max:g}."
            )
        latent_dim = latent_dim or getattr(net, "latent_dim", None)
        if latent_dim is None:
            raise SettingError(
                f"Generator: {type(net).__name__} has no latent_dim; give one, Generator(net, latent_dim=...)."
            )
        self.net = net
        self.latent_dim: int = latent_dim
        self.log_sigma_range = (math.log(sigma_min), math.log(sigma_max))
        self.log_sigma = nn.Parameter(torch.tensor(math.log(sigma)))

    @property
    def sigma(self) -> Tensor:
        return self.log_sigma.exp()

    def forward(self, z: Tensor) -> Tensor:
        """The mean g(z), without noise."""
        return self.net(z)

    def mean(self, z: Tensor) -> Tensor:
        """g(z) with the statistics of this batch, leaving the running averages alone."""
        with batch_statistics(self.net):
            return self.net(z)

    def latent(self, n: int) -> Tensor:
        return torch.randn(n, self.latent_dim, device=self.log_sigma.device, dtype=self.log_sigma.dtype)

    def sample_with_latent(self, n: int) -> tuple[Tensor, Tensor]:
        """(z0, x) with a graph from x to the weights and to σ."""
        z0 = self.latent(n)
        mean = self.net(z0)
        return z0, torch.addcmul(mean, self.sigma, torch.randn_like(mean))

    @torch.no_grad()
    def sample_pair(self, n: int) -> tuple[Tensor, Tensor]:
        """(z0, x) to look at: no graph, and the running averages stay as they are."""
        z0 = self.latent(n)
        mean = self.mean(z0)
        return z0, torch.addcmul(mean, self.sigma, torch.randn_like(mean))

    @torch.no_grad()
    @validated
    def sample(self, n: Count, *, running_averages: bool = False) -> Tensor:
        """n samples. Batch norm takes this batch's own statistics, as in training, unless
        `running_averages`."""
        if not running_averages:
            return self.sample_pair(n)[1]
        with evaluating(self.net):
            mean = self.net(self.latent(n))
        return torch.addcmul(mean, self.sigma, torch.randn_like(mean))

    @torch.no_grad()
    def clamp_sigma(self) -> None:
        self.log_sigma.clamp_(*self.log_sigma_range)


@contextmanager
def batch_statistics(net: nn.Module) -> Iterator[None]:
    """Batch norm in training mode that leaves its running averages alone."""
    norms = [(m, m.training) for m in net.modules() if isinstance(m, _BatchNorm) and m.track_running_stats]
    for norm, _ in norms:
        norm.track_running_stats, norm.training = False, True
    try:
        yield
    finally:
        for norm, training in norms:
            norm.track_running_stats, norm.training = True, training


@contextmanager
def statistics_of(net: nn.Module, z: Tensor) -> Iterator[None]:
    """Batch norm frozen at the statistics of this one batch, so that g treats every row alone.

    With z = z0 this is the very g that produced x: a posterior of z given x under it is exact, and chains do
    not interact.
    """
    norms = [
        (m, m.running_mean, m.running_var, m.training) for m in net.modules() if isinstance(m, _BatchNorm)
    ]

    def note(norm: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        rows = inputs[0].detach().transpose(0, 1).flatten(1)
        norm.running_mean, norm.running_var = rows.mean(1), rows.var(1, correction=0)

    hooks = [norm.register_forward_pre_hook(note) for norm, *_ in norms]
    try:
        try:
            with batch_statistics(net), torch.no_grad():
                net(z)
        finally:
            for hook in hooks:
                hook.remove()
        for norm, *_ in norms:
            norm.training = False
        yield
    finally:
        for norm, mean, variance, training in norms:
            norm.running_mean, norm.running_var, norm.training = mean, variance, training


@contextmanager
def evaluating(net: nn.Module) -> Iterator[None]:
    """The network in evaluation mode, and back to the mode it was in."""
    modes = [(module, module.training) for module in net.modules()]
    net.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training

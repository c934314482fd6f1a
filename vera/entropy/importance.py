"""Importance sampling around the known latent, self-normalised over k draws (Eqs. 8-10).

The proposal is ξ(z|z0) = N(z0, diag η²), the log weights are
ℓ_i = log N(x; g(z_i), σ²I) + log N(z_i; 0, I) − log N(z_i; z0, diag η²), and
c = Σ_i softmax(ℓ)_i (x − g(z_i)) / σ². η maximises the ELBO at one reparameterised draw; nothing else
receives a gradient from it. The pass over k · B points builds no graph. It runs in a few chunks, which bounds
memory and uses the cache. Trap: split over k, never over the batch; otherwise batch norm sees a different
population.
"""

import math

import torch
from torch import Tensor, nn

from vera.entropy.contract import EntropyGradient
from vera.models.generator import Generator
from vera.spec.settings import Count, Positive, validate_arguments
from vera.training.adam_betas import ADAM_BETAS
from vera.training.optimisers import adam


class ImportanceEntropy(EntropyGradient):
    """Entropy gradient from k draws of a Gaussian around z0, whose scale η the ELBO tunes.

    `shared_eta` uses one η for all latent dimensions (the paper's notation). The default is a vector (the
    published code).
    """

    @validate_arguments
    def __init__(
        self,
        latent_dim: Count,
        k: Count = 20,
        *,
        lr: Positive = 2e-4,
        eta: Positive = 0.1,
        shared_eta: bool = False,
        chunks: Count = 4,
        like: Tensor | None = None,
    ) -> None:
        self.k, self.chunks = k, min(chunks, k)
        like = torch.empty(()) if like is None else like
        size = 1 if shared_eta else latent_dim
        self.log_eta = nn.Parameter(torch.full((size,), math.log(eta), device=like.device, dtype=like.dtype))
        self.optimiser = adam([self.log_eta], lr, betas=ADAM_BETAS)

    @property
    def eta(self) -> Tensor:
        return self.log_eta.detach().exp()

    def tune(self, generator: Generator, z0: Tensor, x: Tensor) -> None:
        """Take one ELBO step on log η (Eq. 10)."""
        loss = -self.elbo(generator, z0.detach(), x.detach()).mean()
        # autograd.grad computes only this gradient, none for the weights of the generator.
        (self.log_eta.grad,) = torch.autograd.grad(loss, [self.log_eta])
        self.optimiser.step()

    def elbo(self, generator: Generator, z0: Tensor, x: Tensor) -> Tensor:
        """Return the ELBO of each example at one draw z = z0 + η ⊙ noise, up to a constant.

        It is log N(x; g(z), σ²I) + log N(z; 0, I) + entropy of ξ.
        """
        z = torch.addcmul(z0, self.log_eta.exp(), torch.randn_like(z0))
        misfit = (x - generator.mean(z)).flatten(1).square().sum(1) / generator.sigma.detach().square()
        return self.log_eta.expand(z0.shape[1]).sum() - 0.5 * (misfit + z.square().sum(1))

    @torch.no_grad()
    def direction(self, generator: Generator, z0: Tensor, x: Tensor) -> Tensor:
        chunks = [self._weigh(generator, z0, x, size) for size in self._chunk_sizes()]
        peaks, masses, offsets = (torch.stack(values) for values in zip(*chunks, strict=True))
        scale = (peaks - peaks.amax(0)).exp_()
        offset = (scale.unsqueeze(-1) * offsets).sum(0) / (scale * masses).sum(0).unsqueeze(-1)
        return (offset / -generator.sigma.square()).view_as(x)

    @torch.no_grad()
    def log_weights(self, generator: Generator, z0: Tensor, x: Tensor) -> Tensor:
        """Return the unnormalised log importance weights, shape (k, B)."""
        return torch.cat([self._draw(generator, z0, x, size)[0] for size in self._chunk_sizes()])

    def metrics(self) -> dict[str, Tensor]:
        return {"eta": self.eta.mean()}

    def _weigh(self, generator: Generator, z0: Tensor, x: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return, for one chunk of draws, what is needed to combine all chunks into one softmax.

        These are the largest log weight (B,) and, relative to it, the sum of the weights (B,) and the
        weighted sum of g(z_i) − x (B, D).
        """
        log_w, offsets = self._draw(generator, z0, x, size)
        peak = log_w.amax(0)
        weights = log_w.sub_(peak).exp_()
        return peak, weights.sum(0), offsets.mul_(weights.unsqueeze(-1)).sum(0)

    def _draw(self, generator: Generator, z0: Tensor, x: Tensor, size: int) -> tuple[Tensor, Tensor]:
        """Return log weights (size, B) and offsets g(z_i) − x (size, B, D).

        The log weights omit terms that are equal for all i.
        """
        noise = torch.randn(size, *z0.shape, device=z0.device, dtype=z0.dtype)
        z = torch.addcmul(z0, self.eta, noise)
        log_w = _squared_length(noise) - _squared_length(z)
        del noise
        # In place, because this is the largest tensor of the training step.
        offsets = generator.mean(z.flatten(0, 1)).reshape(size, len(z0), -1).sub_(x.flatten(1))
        log_w -= _squared_length(offsets) / generator.sigma.square()
        return log_w.mul_(0.5), offsets

    def _chunk_sizes(self) -> list[int]:
        """The sizes of the chunks, as equal as possible; computed on the host."""
        size, larger = divmod(self.k, self.chunks)
        return [size + 1] * larger + [size] * (self.chunks - larger)


def _squared_length(x: Tensor) -> Tensor:
    """Return ‖x‖² along the last axis, without a temporary of the size of x."""
    return torch.linalg.vector_norm(x, dim=-1).square_()

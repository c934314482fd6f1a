"""Effective sample size (ESS) of self-normalised importance weights: ESS = 1 / Σ w̃² (Eq. 17).

It ranges from 1 (one draw has all the weight) to k. If posterior and proposal are Gaussians with the same
covariance at distance δ (in posterior deviations), the log weights are N(0, δ²) for every model, so ESS
depends on δ and k only. Around z0, which is itself a posterior draw, δ² is χ² with d degrees of freedom. This
alone gives the paper's 1.29 to 1.32, so that value says little about the model.
"""

import torch
from torch import Tensor

from vera.entropy import ImportanceEntropy
from vera.models.generator import Generator


def effective_sample_size(log_weights: Tensor) -> Tensor:
    """Return the ESS of each example for log weights of shape (k, B)."""
    return log_weights.softmax(0).square().sum(0).reciprocal()


def gaussian_ess(distance: Tensor, k: int = 20) -> Tensor:
    """Return the ESS of one simulated set of k draws for each distance δ between the centres.

    Proposal and target have the same covariance.
    """
    return effective_sample_size(torch.randn(k, *distance.shape, dtype=distance.dtype) * distance)


def shifted_gaussian_ess(offset: float, dim: int = 128, k: int = 20, repeats: int = 10_000) -> Tensor:
    """Return simulated ESS for target N(0, I) and proposal N(offset · 1, I) (Figure 6)."""
    return gaussian_ess(torch.full((repeats,), offset * dim**0.5), k)


def matched_gaussian_ess(dim: int, k: int = 20, repeats: int = 10_000) -> Tensor:
    """Return simulated ESS for a proposal around z0 with exactly the covariance of the posterior.

    This is the best that η can achieve for a Gaussian posterior.
    """
    return gaussian_ess(torch.linalg.vector_norm(torch.randn(repeats, dim), dim=1), k)


@torch.no_grad()
def posterior_ess(entropy: ImportanceEntropy, generator: Generator, n: int) -> Tensor:
    """Return the ESS of the estimator's proposal N(z0, diag η²) at n generated points."""
    z0, x = generator.sample_pair(n)
    return effective_sample_size(entropy.log_weights(generator, z0, x))


@torch.no_grad()
def prior_ess(generator: Generator, n: int, k: int = 20) -> Tensor:
    """Return the ESS with the latent prior N(0, I) as proposal; the weights are the likelihoods of x."""
    _, x = generator.sample_pair(n)
    means = torch.stack([generator.mean(generator.sample_latent(n)) for _ in range(k)])
    misfit = (means - x).flatten(2).square().sum(-1)
    return effective_sample_size(-0.5 * misfit / generator.sigma.square())

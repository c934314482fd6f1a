"""Effective sample size of self-normalised importance weights: ESS = 1 / Σ w̃² (Eq. 17), from 1 (one draw
rules) to k.

Where a Gaussian posterior is met with a Gaussian proposal of its own covariance at distance δ (in posterior
deviations), the log weights are N(0, δ²) whatever the model, so ESS depends on δ and k alone. Round z0,
itself a posterior draw, δ² is χ² with d degrees: this alone gives the paper's 1.29 to 1.32, which therefore
says little about the model.
"""

import torch
from torch import Tensor

from vera.entropy import ImportanceEntropy
from vera.models.generator import Generator


def effective_sample_size(log_weights: Tensor) -> Tensor:
    """Per example, for log weights of shape (k, B)."""
    return log_weights.softmax(0).square().sum(0).reciprocal()


def gaussian_ess(distance: Tensor, k: int = 20) -> Tensor:
    """ESS of one simulated set of k draws for each distance δ between proposal and target centre, equal
    covariances."""
    return effective_sample_size(torch.randn(k, *distance.shape, dtype=distance.dtype) * distance)


def shifted_gaussian_ess(offset: float, dim: int = 128, k: int = 20, repeats: int = 10_000) -> Tensor:
    """Figure 6: target N(0, I), proposal N(offset · 1, I), the offset in every coordinate."""
    return gaussian_ess(torch.full((repeats,), offset * dim**0.5), k)


def matched_gaussian_ess(dim: int, k: int = 20, repeats: int = 10_000) -> Tensor:
    """Proposal round z0 with exactly the posterior's covariance: the best that η can do for a Gaussian
    posterior."""
    return gaussian_ess(torch.linalg.vector_norm(torch.randn(repeats, dim), dim=1), k)


@torch.no_grad()
def posterior_ess(entropy: ImportanceEntropy, generator: Generator, n: int) -> Tensor:
    """ESS of the estimator's own proposal N(z0, diag η²) at n generated points."""
    z0, x = generator.sample_pair(n)
    return effective_sample_size(entropy.log_weights(generator, z0, x))


@torch.no_grad()
def prior_ess(generator: Generator, n: int, k: int = 20) -> Tensor:
    """ESS when the latent prior N(0, I) is the proposal: the weights are the likelihoods of x."""
    _, x = generator.sample_pair(n)
    means = torch.stack([generator.mean(generator.sample_latent(n)) for _ in range(k)])
    misfit = (means - x).flatten(2).square().sum(-1)
    return effective_sample_size(-0.5 * misfit / generator.sigma.square())

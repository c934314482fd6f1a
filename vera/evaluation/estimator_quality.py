"""Quality of estimators: effective sample size (ESS), and error of the estimated score (Figure 3, B.4).

ESS = 1 / Σ w̃² of self-normalised importance weights (Eq. 17) ranges from 1 (one draw has all weight) to k.
If posterior and proposal are Gaussians with the same covariance at distance δ (in posterior deviations), the
log weights are N(0, δ²) for every model, so ESS depends on δ and k only. Around z0, which is itself a
posterior draw, δ² is χ² with d degrees of freedom. This alone gives the paper's 1.29 to 1.32, so that value
says little about the model.

Bias and deviation of a score are measured on a linear-Gaussian generator, whose score is known. The score at
each fixed pair (z0, x) is estimated many times. Conditioning on z0 is correct, because the estimate is
multiplied by ∂x/∂φ, which depends on z0. Trap: the paper's bias is the *signed* mean over all entries, in
which errors cancel. The mean absolute and the root-mean-square bias are reported as well, with the part of
the latter that is Monte Carlo noise.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from vera.entropy import EntropyGradient, ImportanceEntropy
from vera.errors import SettingError
from vera.models.generator import Generator
from vera.models.linear import LinearGenerator


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


@dataclass(frozen=True)
class ScoreErrorSummary:
    """Error per dimension over all pairs: three biases, standard deviation, and the noise in `rms_bias`."""

    signed_bias: float
    absolute_bias: float
    rms_bias: float
    deviation: float
    rms_noise: float
    pairs: int
    repeats: int


@torch.no_grad()
def score_error(
    entropy: EntropyGradient,
    generator: LinearGenerator,
    pairs: tuple[Tensor, Tensor],
    repeats: int = 5_000,
    chunk: int = 5_000,
) -> ScoreErrorSummary:
    """Return the error over repeated estimates at each pair (z0, x). Give all estimators the same pairs."""
    if repeats < 2:
        raise SettingError(f"score_error: repeats must be at least 2 for a deviation, got {repeats}.")
    z0, x = pairs
    exact = generator.exact_score(x).double()
    total, squares = torch.zeros_like(exact), torch.zeros_like(exact)
    at_once = max(1, chunk // len(x))
    for start in range(0, repeats, at_once):
        size = min(at_once, repeats - start)
        scores = -entropy.direction(generator, z0.repeat(size, 1), x.repeat(size, 1)).double()
        errors = scores.view(size, *x.shape) - exact
        total += errors.sum(0)
        squares += errors.square().sum(0)
    bias = total / repeats
    variance = (squares - repeats * bias.square()) / (repeats - 1)
    return ScoreErrorSummary(
        signed_bias=float(-bias.mean()),
        absolute_bias=float(bias.abs().mean()),
        rms_bias=float(bias.square().mean().sqrt()),
        deviation=float(variance.mean().sqrt()),
        rms_noise=float((variance.mean() / repeats).sqrt()),
        pairs=len(x),
        repeats=repeats,
    )

"""Bias and standard deviation of a score estimator, relative to the exact score (Figure 3, B.4).

The generator is linear-Gaussian, so its score is known. The score at each fixed pair (z0, x) is estimated
many times. Conditioning on z0 is correct, because the estimate is multiplied by ∂x/∂φ, which depends on z0.
Trap: the paper's bias is the *signed* mean over all entries, in which errors cancel. The mean absolute and
the root-mean-square bias are reported as well, with the part of the latter that is Monte Carlo noise.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from vera.entropy import EntropyGradient
from vera.errors import SettingError
from vera.models.linear import LinearGenerator


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
    for size in _chunk_sizes(repeats, max(1, chunk // len(x))):
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


def _chunk_sizes(total: int, size: int) -> list[int]:
    return [min(size, total - start) for start in range(0, total, size)]

"""Exact test log-likelihood of normalised models, with its standard error.

Toys are judged on at least 10⁵ fresh points. The paper's own figure for them, the best of several batches of 200, is offered
beside it under a name that says so: a maximum over noisy evaluations lies above what the model, or any model, can reach.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from vera.data.contract import DataSet
from vera.errors import IncompatibleModel
from vera.generator import evaluating
from vera.gradients import LogDensity
from vera.models.contract import Density
from vera.randomness import seed_for

FRESH_POINTS = 100_000


@dataclass(frozen=True)
class Estimate:
    """A mean over n points and its standard error (sample deviation with ddof 1)."""

    mean: float
    standard_error: float
    n: int

    @classmethod
    def of(cls, values: Tensor) -> "Estimate":
        values = values.double()
        spread = float(values.std()) / math.sqrt(len(values)) if len(values) > 1 else math.nan
        return cls(float(values.mean()), spread, len(values))


@torch.no_grad()
def in_chunks(f: LogDensity, x: Tensor, chunk: int = 10_000) -> Tensor:
    """f over many points without holding all intermediate values at once."""
    return torch.cat([f(part) for part in x.split(chunk)])


def log_likelihood(model: nn.Module, x: Tensor) -> Estimate:
    """Mean log p(x) of a normalised model."""
    if not isinstance(model, Density):
        raise IncompatibleModel(
            f"{type(model).__name__} is not normalised, so it has no exact likelihood. In two dimensions, "
            "vera.evaluation.grid_log_likelihood integrates it on a grid."
        )
    device = next(model.parameters()).device
    with evaluating(model):
        return Estimate.of(in_chunks(model.log_prob, x.to(device)))


def best_of_batches(model: nn.Module, dataset: DataSet, seed: int, batches: int = 10, size: int = 200) -> float:
    """The paper's toy protocol: the highest of several means over a batch of 200 points. Biased upwards; never a result."""
    draws = (dataset.test_points(seed_for(seed, f"batch {i}"), size) for i in range(batches))
    return max(log_likelihood(model, x).mean for x in draws)


class LikelihoodEvaluation:
    """For the Trainer's `evaluate`: test log-likelihood of the energy model on the same test points each time."""

    def __init__(self, dataset: DataSet, seed: int = 0, n: int | None = None) -> None:
        self.points = dataset.test_points(seed, n)

    def __call__(self, method: Any) -> dict[str, float]:
        estimate = log_likelihood(method.energy, self.points)
        return {"test_log_likelihood": estimate.mean, "test_log_likelihood_se": estimate.standard_error}

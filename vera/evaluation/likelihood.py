"""Exact test log-likelihood of normalised models, with its standard error.

Toys are evaluated on at least 10⁵ fresh points. The paper reports the best of several batches of 200 points;
`best_of_batches` computes that value separately. A maximum over noisy evaluations is larger than what the
model, or any model, can reach.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from vera.data.contract import DataSet
from vera.data.user_dataset import as_dataset
from vera.errors import IncompatibleModel, SettingError
from vera.gradients import LogDensity
from vera.models.contract import Density
from vera.models.network_modes import evaluation_mode
from vera.training.state.random_state import derive_seed


@dataclass(frozen=True)
class Estimate:
    """A mean over n points and its standard error (from the sample deviation with ddof 1)."""

    mean: float
    standard_error: float
    n: int

    @classmethod
    def from_values(cls, values: Tensor) -> "Estimate":
        values = values.double()
        spread = float(values.std()) / math.sqrt(len(values)) if len(values) > 1 else math.nan
        return cls(float(values.mean()), spread, len(values))


@torch.no_grad()
def evaluate_in_chunks(f: LogDensity, x: Tensor, chunk: int = 10_000) -> Tensor:
    """Return f(x), computed in chunks to bound memory."""
    return torch.cat([f(points) for points in x.split(chunk)])


def log_likelihood(model: nn.Module, x: Tensor) -> Estimate:
    """Return the mean log p(x) of a normalised model."""
    if not isinstance(model, Density):
        raise IncompatibleModel(
            f"{type(model).__name__} is not normalised, so it has no exact likelihood. In two dimensions, "
            "vera.evaluation.grid_log_likelihood integrates it on a grid."
        )
    device = next(model.parameters()).device
    with evaluation_mode(model):
        return Estimate.from_values(evaluate_in_chunks(model.log_prob, x.to(device)))


def estimated_log_likelihood(energy: nn.Module, x: Tensor, log_normaliser: Tensor) -> Estimate:
    """Return the mean of f(x) − c, where c is an estimate of log Z that training learned.

    Trap: it lies above the true log-likelihood if c is too small, and no test of the model itself shows that.
    """
    with evaluation_mode(energy):
        return Estimate.from_values(evaluate_in_chunks(energy, x.to(log_normaliser)) - log_normaliser)


def best_of_batches(
    model: nn.Module, dataset: DataSet, seed: int, batches: int = 10, size: int = 200
) -> float:
    """Return the highest of several means over 200 points, the paper's protocol for toys.

    It is biased upwards and not a reported result.
    """
    draws = (dataset.test_points(derive_seed(seed, f"batch {i}"), size) for i in range(batches))
    means = [log_likelihood(model, x).mean for x in draws]
    return float(torch.tensor(means, dtype=torch.float64).amax())  # unlike max, amax propagates NaN


class LikelihoodEvaluation:
    """Measures the test log-likelihood of the energy model; pass it to the Trainer as `evaluate`.

    Every evaluation draws fresh points: 100,000 of a toy by default, or all test points of a data set with
    fresh noise. Moons and circles are evenly spaced in angle, so their standard error, computed as for
    independent points, is too large.
    """

    def __init__(self, dataset: DataSet | Any, n: int | None = None) -> None:
        if n is not None and n < 2:
            raise SettingError(f"LikelihoodEvaluation: n must be at least 2 for a standard error, got {n}.")
        self.dataset, self.n = as_dataset(dataset), n
        self.dataset.test_points(0, n)  # raises now if the data set has no test points

    def __call__(self, method: Any) -> dict[str, float]:
        points = self.dataset.test_points(int(torch.randint(2**31, ())), self.n)
        estimate = log_likelihood(method.energy, points)
        return {"test_log_likelihood": estimate.mean, "test_log_likelihood_se": estimate.standard_error}

"""Exact test log-likelihood of normalised models, with its standard error.

Toys are judged on at least 10⁵ fresh points. The paper's own figure for them, the best of several batches of
200, is offered beside it under a name that says so: a maximum over noisy evaluations lies above what the
model, or any model, can reach.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from vera.data.contract import DataSet
from vera.data.tensor import as_dataset
from vera.errors import IncompatibleModel, SettingError
from vera.gradients import LogDensity
from vera.models.contract import Density
from vera.models.network_modes import evaluation_mode
from vera.training.random_state import derive_seed


@dataclass(frozen=True)
class Estimate:
    """A mean over n points and its standard error (sample deviation with ddof 1)."""

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
    with evaluation_mode(model):
        return Estimate.from_values(evaluate_in_chunks(model.log_prob, x.to(device)))


def best_of_batches(
    model: nn.Module, dataset: DataSet, seed: int, batches: int = 10, size: int = 200
) -> float:
    """The paper's toy protocol: the highest of several means over a batch of 200 points. Biased upwards;
    never a result."""
    draws = (dataset.test_points(derive_seed(seed, f"batch {i}"), size) for i in range(batches))
    means = [log_likelihood(model, x).mean for x in draws]
    return float(torch.tensor(means, dtype=torch.float64).amax())  # unlike max, it does not step over a NaN


class LikelihoodEvaluation:
    """For the Trainer's `evaluate`: test log-likelihood of the energy model, on points drawn afresh at each
    look.

    A toy gives 100,000 points unless told, a data set all its test points with fresh noise. Moons and circles
    are spaced evenly in angle, so their standard error, computed as for independent points, is larger than
    the truth.
    """

    def __init__(self, dataset: DataSet | Any, n: int | None = None) -> None:
        if n is not None and n < 2:
            raise SettingError(f"LikelihoodEvaluation: n must be at least 2 for a standard error, got {n}.")
        self.dataset, self.n = as_dataset(dataset), n
        self.dataset.test_points(0, n)  # so that a data set without test points is refused now

    def __call__(self, method: Any) -> dict[str, float]:
        points = self.dataset.test_points(int(torch.randint(2**31, ())), self.n)
        estimate = log_likelihood(method.energy, points)
        return {"test_log_likelihood": estimate.mean, "test_log_likelihood_se": estimate.standard_error}

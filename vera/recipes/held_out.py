"""Measures of a run on held-out points, as far as they are cheap.

A normalised model is measured by its exact likelihood, any other model in the plane by quadrature on a grid
and, if its method learns an estimate of log Z, by that estimate; a classifier by its accuracy and
calibration, a generator by the energy distance of its samples from the held-out points. Likelihoods are in
the units of the data; the energy distance is in those of the networks. Trap: good samples do not imply a good
f.
"""

from torch import Tensor

from vera.data.contract import DataSet
from vera.data.labelled import Split
from vera.errors import VeraError
from vera.evaluation.classification import ClassificationEvaluation
from vera.evaluation.grid import PlaneGrid, grid_log_likelihood
from vera.evaluation.likelihood import estimated_log_likelihood, log_likelihood
from vera.evaluation.samples import energy_distance
from vera.methods.contract import Method
from vera.models.classifier import Classifier
from vera.models.contract import Density
from vera.models.generator import Generator

MOST_POINTS, DISTANCE_POINTS = 10_000, 1_000
GRID = PlaneGrid(side=401, limit=8.0)
"""Covers data with mean 0 and deviation 1."""


class HeldOutEvaluation:
    """Evaluates a method on held-out points; pass it to the Trainer as `evaluate`."""

    def __init__(self, data: DataSet, points: Tensor) -> None:
        self.data, self.points = data, points
        self.log_volume = 0.0 if data.scale is None else float(data.scale[1].log().sum())

    def __call__(self, method: Method) -> dict[str, float]:
        energy = method.energy
        metrics: dict[str, float] = {}
        if isinstance(self.data, Split) and isinstance(energy, Classifier):
            metrics |= ClassificationEvaluation(self.data)(method)
        if isinstance(energy, Density):
            estimate = log_likelihood(energy, self.points)
            metrics |= {"test_log_likelihood": estimate.mean - self.log_volume}
        elif self.points.shape[1:] == (2,):
            estimate, normaliser = grid_log_likelihood(energy, self.points, GRID)
            metrics |= {
                "grid_log_likelihood": estimate.mean - self.log_volume,
                "grid_rim_share": normaliser.rim_share,
            }
        log_normaliser = method.estimate_log_normaliser()
        if log_normaliser is not None:
            estimate = estimated_log_likelihood(energy, self.points, log_normaliser)
            metrics |= {"estimated_log_likelihood": estimate.mean - self.log_volume}
        return metrics | self._measure_samples(method)

    def _measure_samples(self, method: Method) -> dict[str, float]:
        generator, n = getattr(method, "generator", None), min(len(self.points), DISTANCE_POINTS)
        if not isinstance(generator, Generator) or n < 2:
            return {}
        samples = generator.sample(n, running_averages=True)
        return {"sample_energy_distance": energy_distance(samples, self.points[:n])}


def make_evaluation(data: DataSet, seed: int) -> HeldOutEvaluation | None:
    """The evaluation on the held-out points of a data set; None if it has none."""
    try:
        return HeldOutEvaluation(data, data.test_points(seed)[:MOST_POINTS])
    except VeraError:
        return None

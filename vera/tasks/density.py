"""The task "density": an energy model of a density, measured by its likelihood and its samples."""

from collections.abc import Callable
from math import hypot
from pathlib import Path
from typing import Annotated, Any

import torch
from torch import Tensor

from vera.data.contract import DataSet
from vera.data.digits.points import LogitDigits
from vera.data.toys import Toy
from vera.errors import SettingError
from vera.evaluation import (
    LikelihoodEvaluation,
    annealed_log_likelihood,
    best_of_batches,
    density_image,
    draw_exact_samples,
    energy_distance,
    estimated_log_likelihood,
    grid_log_likelihood,
)
from vera.models.contract import Density
from vera.models.generator import Generator
from vera.models.network_modes import evaluation_mode
from vera.spec.registry import tasks
from vera.spec.settings import Count, NonNegativeCount, OmitDefault, validate_arguments
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_plain_trainer
from vera.tasks.contract import Measurement, Task
from vera.tasks.proposal_ess import measure_matched_ess, measure_proposal_ess
from vera.training.state.random_state import derive_seed, use_seed
from vera.training.trainer import Trainer

PLANE_SAMPLES, IMAGE_SAMPLES = 1_000, 100
"""Number of samples that a trial stores: points of the plane, or images."""
VARIANCE_POINTS = 500
DISTANCE_SAMPLES = 1_000


@tasks.register("density")
class DensityTask(Task):
    """Measures the likelihood of a normalised model exactly and that of other models in the plane on a grid.

    For toy data the true density is known. `ceiling` is its mean log-likelihood, which no model can exceed.
    The samples that a method trains with are measured by their log-likelihood under the true density and by
    their energy distance from data. Trap: good samples do not imply a good f.

    With `annealed_temperatures`, such as 1,000, the likelihood is also estimated by annealed importance
    sampling, in any dimension.
    """

    @validate_arguments
    def __init__(
        self,
        annealed_temperatures: Annotated[NonNegativeCount, OmitDefault()] = 0,
        annealed_points: Annotated[Count, OmitDefault()] = 200,
    ) -> None:
        self.annealed_temperatures, self.annealed_points = annealed_temperatures, annealed_points

    def build(
        self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
    ) -> Trainer:
        trainer = build_plain_trainer(
            spec, data_dir=data_dir, device=device, evaluate_every=spec.evaluate_every, **options
        )
        if isinstance(trainer.method.energy, Density):
            trainer.evaluate = LikelihoodEvaluation(trainer.data)
        if self.annealed_temperatures:
            trainer.data.test_points(0)  # raises now if the data set has no test points
        return trainer

    def measure(self, trainer: Trainer) -> Measurement:
        with use_seed(derive_seed(trainer.seed, "measurement")), torch.no_grad():
            arrays = self._collect_arrays(trainer)
            metrics = self._measure_likelihood(trainer) | measure_proposal_ess(trainer.method)
            if isinstance(trainer.data, Toy):
                samples = arrays.get("training_samples")
                metrics |= self._compare_with_truth(trainer.data, trainer.seed, samples)
            metrics |= self._measure_variance(trainer) | self._anneal(trainer)
            metrics |= measure_matched_ess(trainer.method, trainer.seed)
        with use_seed(derive_seed(trainer.seed, "sample distance")), torch.no_grad():
            return Measurement(metrics | self._measure_sample_distance(trainer), arrays)

    def _measure_likelihood(self, trainer: Trainer) -> dict[str, float]:
        energy, data = trainer.method.energy, trainer.data
        if not isinstance(energy, Density):
            on_grid = self._integrate_on_grid(energy, data, trainer.seed) if data.data_dim == 2 else {}
            return on_grid | self._use_estimated_normaliser(trainer)
        metrics = {}
        if len(trainer.evaluations) > 1:
            best = max(row["test_log_likelihood"] for row in trainer.evaluations)
            metrics["best_test_log_likelihood"] = best
        if isinstance(data, Toy):
            metrics["best_of_ten_batches"] = best_of_batches(energy, data, trainer.seed)
        return metrics

    def _integrate_on_grid(
        self, energy: Callable[[Tensor], Tensor], data: DataSet, seed: int
    ) -> dict[str, float]:
        """The likelihood of an unnormalised model in the plane by quadrature, and the share of its mass on
        the rim of the grid, which bounds what the grid misses."""
        estimate, normaliser = grid_log_likelihood(energy, data.test_points(seed))
        return {
            "grid_log_likelihood": estimate.mean,
            "grid_log_likelihood_se": estimate.standard_error,
            "grid_log_normaliser": normaliser.log_z,
            "grid_rim_share": normaliser.rim_share,
        }

    def _anneal(self, trainer: Trainer) -> dict[str, float]:
        """The likelihood by annealed importance sampling, if the task asks for it. Its error is that of the
        mean over test points and of log Z together."""
        if not self.annealed_temperatures:
            return {}
        estimate, normaliser = annealed_log_likelihood(
            trainer.method.energy,
            trainer.data,
            trainer.seed,
            self.annealed_points,
            self.annealed_temperatures,
        )
        return {
            "annealed_log_likelihood": estimate.mean,
            "annealed_log_likelihood_se": hypot(estimate.standard_error, normaliser.standard_error),
            "annealed_log_normaliser": normaliser.log_z,
            "annealed_log_normaliser_se": normaliser.standard_error,
            "annealed_effective_points": normaliser.effective_points,
            "annealed_acceptance": normaliser.acceptance,
        }

    def _use_estimated_normaliser(self, trainer: Trainer) -> dict[str, float]:
        """The mean of f − c over test points, if the method learns c, its estimate of log Z."""
        log_normaliser = trainer.method.estimate_log_normaliser()
        if log_normaliser is None:
            return {}
        try:
            points = trainer.data.test_points(trainer.seed)
        except SettingError:  # the data set has no test points
            return {}
        estimate = estimated_log_likelihood(trainer.method.energy, points, log_normaliser)
        return {
            "estimated_log_likelihood": estimate.mean,
            "estimated_log_likelihood_se": estimate.standard_error,
            "estimated_log_normaliser": float(log_normaliser),
        }

    def _measure_variance(self, trainer: Trainer) -> dict[str, float]:
        """The variance of the generator's means g(z) as a share of the data's; near zero after a collapse.

        The noise σε is left out because it would hide a collapse.
        """
        generator = getattr(trainer.method, "generator", None)
        if not isinstance(generator, Generator):
            return {}
        points = _draw_test_points(trainer.data, trainer.seed, VARIANCE_POINTS)
        means = generator.mean(generator.sample_latent(VARIANCE_POINTS))
        share = means.double().var(0).sum().cpu() / points.double().var(0).sum()
        return {"generator_variance_share": float(share)}

    def _measure_sample_distance(self, trainer: Trainer) -> dict[str, float]:
        """The energy distance, in pixels, between exact samples of a flow of digits and the samples that
        trained it. Zero on average if both have the same distribution."""
        energy, method = trainer.method.energy, trainer.method
        if not isinstance(trainer.data, LogitDigits) or not isinstance(energy, Density):
            return {}
        exact = draw_exact_samples(energy, DISTANCE_SAMPLES)
        with evaluation_mode(energy):
            drawn = method.training_samples(DISTANCE_SAMPLES)
        if drawn is None:
            return {}
        return {"training_sample_distance": energy_distance(exact.sigmoid(), drawn.detach().sigmoid())}

    def _compare_with_truth(self, data: Toy, seed: int, samples: Tensor | None) -> dict[str, float]:
        metrics = {"ceiling": float(data.log_density(data.test_points(seed)).double().mean())}
        if samples is not None:
            metrics["sample_log_density"] = float(data.log_density(samples).double().mean())
            metrics["sample_energy_distance"] = energy_distance(samples, data.test_points(seed, len(samples)))
        return metrics

    def _collect_arrays(self, trainer: Trainer) -> dict[str, Tensor]:
        method, n = trainer.method, PLANE_SAMPLES if trainer.data.data_dim == 2 else IMAGE_SAMPLES
        arrays: dict[str, Tensor] = {}
        if trainer.data.data_dim == 2:
            arrays["data_samples"] = _draw_test_points(trainer.data, trainer.seed, n)
            arrays["density_image"] = density_image(method.energy).float()
        if isinstance(method.energy, Density):
            arrays["exact_samples"] = draw_exact_samples(method.energy, n)
        with evaluation_mode(method.energy):
            drawn = method.training_samples(n)
        if drawn is not None:
            arrays["training_samples"] = drawn
        return {name: array.detach().cpu() for name, array in arrays.items()}


def _draw_test_points(data: DataSet, seed: int, n: int) -> Tensor:
    """n test points, or all of a test set that has fewer."""
    try:
        return data.test_points(seed, n)
    except SettingError:
        return data.test_points(seed)

"""The task "density": an energy model of a density, judged by its likelihood and by its samples."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from vera.data.contract import DataSet
from vera.data.toys.densities import Toy
from vera.entropy import ImportanceEntropy
from vera.errors import SettingError
from vera.evaluation import (
    LikelihoodEvaluation,
    best_of_batches,
    density_image,
    draw_exact_samples,
    energy_distance,
    grid_log_likelihood,
    posterior_ess,
    prior_ess,
)
from vera.methods.contract import Method
from vera.models.contract import Density
from vera.models.generator import Generator
from vera.models.network_modes import evaluation_mode
from vera.spec.registry import tasks
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_plain_trainer
from vera.tasks.contract import Measurement, Task
from vera.training.random_state import derive_seed, use_seed
from vera.training.trainer import Trainer

PLANE_SAMPLES, IMAGE_SAMPLES = 1_000, 100
"""Points and images that a trial keeps to look at."""
ESS_POINTS = 256
VARIETY_POINTS = 500


@tasks.register("density")
class DensityTask(Task):
    """An energy model of a density: judged by its likelihood where it has one, on a grid where it has two
    dimensions.

    In the plane the truth is known: `ceiling` is what no model can exceed, and the samples that a method
    trains with are judged by their likelihood under the true density and by their energy distance from data.
    That samples look right says nothing of f.
    """

    def build(
        self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
    ) -> Trainer:
        trainer = build_plain_trainer(
            spec, data_dir=data_dir, device=device, evaluate_every=spec.evaluate_every, **options
        )
        if isinstance(trainer.method.energy, Density):
            trainer.evaluate = LikelihoodEvaluation(trainer.data)
        return trainer

    def measure(self, trainer: Trainer) -> Measurement:
        with use_seed(derive_seed(trainer.seed, "measurement")), torch.no_grad():
            arrays = self._arrays(trainer)
            metrics = self._likelihood(trainer) | self._entropy(trainer.method)
            if isinstance(trainer.data, Toy):
                metrics |= self._against_truth(trainer.data, trainer.seed, arrays.get("training_samples"))
            metrics |= self._variety(trainer)
            return Measurement(metrics, arrays)

    def _likelihood(self, trainer: Trainer) -> dict[str, float]:
        energy, data = trainer.method.energy, trainer.data
        if not isinstance(energy, Density):
            return self._on_grid(energy, data, trainer.seed) if data.data_dim == 2 else {}
        evaluations = torch.tensor(
            [row["test_log_likelihood"] for row in trainer.evaluations], dtype=torch.float64
        )
        best = {"best_test_log_likelihood": float(evaluations.amax())} if len(evaluations) > 1 else {}
        return best | (
            {"best_of_ten_batches": best_of_batches(energy, data, trainer.seed)}
            if isinstance(data, Toy)
            else {}
        )

    def _on_grid(self, energy: Callable[[Tensor], Tensor], data: DataSet, seed: int) -> dict[str, float]:
        """The likelihood of an unnormalised model in the plane by quadrature, and how much of its mass the
        grid may miss."""
        estimate, normaliser = grid_log_likelihood(energy, data.test_points(seed))
        return {
            "grid_log_likelihood": estimate.mean,
            "grid_log_likelihood_se": estimate.standard_error,
            "grid_log_normaliser": normaliser.log_z,
            "grid_rim_share": normaliser.rim_share,
        }

    def _entropy(self, method: Method) -> dict[str, float]:
        """Effective sample sizes of the trained proposal N(z0, diag η²), and of N(0, I) in its place (Sec.
        5.2)."""
        entropy, generator = getattr(method, "entropy", None), getattr(method, "generator", None)
        if not isinstance(entropy, ImportanceEntropy) or not isinstance(generator, Generator):
            return {}
        if not getattr(method, "entropy_weight", 0.0):  # then η was never trained
            return {}
        own, prior = (
            posterior_ess(entropy, generator, ESS_POINTS),
            prior_ess(generator, ESS_POINTS, entropy.k),
        )
        return {"posterior_ess": float(own.mean()), "prior_ess": float(prior.mean())}

    def _variety(self, trainer: Trainer) -> dict[str, float]:
        """How much of the data's variance a generator's means g(z) have: a generator that has collapsed has
        next to none.

        Without the noise σε, which would pass for variety.
        """
        generator = getattr(trainer.method, "generator", None)
        if not isinstance(generator, Generator):
            return {}
        points = _test_points(trainer.data, trainer.seed, VARIETY_POINTS)
        means = generator.mean(generator.sample_latent(VARIETY_POINTS))
        return {
            "generator_variance_share": float(
                means.double().var(0).sum().cpu() / points.double().var(0).sum()
            )
        }

    def _against_truth(self, data: Toy, seed: int, samples: Tensor | None) -> dict[str, float]:
        metrics = {"ceiling": float(data.log_density(data.test_points(seed)).double().mean())}
        if samples is not None:
            metrics["sample_log_density"] = float(data.log_density(samples).double().mean())
            metrics["sample_energy_distance"] = energy_distance(samples, data.test_points(seed, len(samples)))
        return metrics

    def _arrays(self, trainer: Trainer) -> dict[str, Tensor]:
        method, n = trainer.method, PLANE_SAMPLES if trainer.data.data_dim == 2 else IMAGE_SAMPLES
        arrays: dict[str, Tensor] = {}
        if trainer.data.data_dim == 2:
            arrays["data_samples"] = _test_points(trainer.data, trainer.seed, n)
            arrays["density_image"] = density_image(method.energy).float()
        if isinstance(method.energy, Density):
            arrays["exact_samples"] = draw_exact_samples(method.energy, n)
        with evaluation_mode(method.energy):
            drawn = method.training_samples(n)
        if drawn is not None:
            arrays["training_samples"] = drawn
        return {name: array.detach().cpu() for name, array in arrays.items()}


def _test_points(data: DataSet, seed: int, n: int) -> Tensor:
    """n of them, or all of a test set that has fewer."""
    try:
        return data.test_points(seed, n)
    except SettingError:
        return data.test_points(seed)

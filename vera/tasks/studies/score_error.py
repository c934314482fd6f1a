"""The task "score-error": bias and deviation of score estimators on a PCA model of MNIST (Figure 3, B.4), and
their ESS (B.6).

Probabilistic PCA of the whole training set gives a generator whose exact score is known. The estimator is
tuned on its samples and then estimates the score repeatedly at fixed pairs (z0, x). The pairs depend only on
the seed and the generator, so all estimators are measured at the same pairs. Trap: the published script uses
the noise *variance* as σ, which is a different model with errors about six times larger; `noise` selects one
of the two.
"""

from collections.abc import Callable
from math import isqrt
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from vera.data.digits.points import PixelDigits
from vera.data.toys import Gaussian
from vera.errors import IncompatibleModel, VeraError
from vera.evaluation import Estimate, matched_gaussian_ess, posterior_ess, prior_ess, score_error
from vera.evaluation.features import as_bytes
from vera.models.linear import LinearGenerator
from vera.spec.registry import estimators, models, tasks
from vera.spec.settings import Count, validate_arguments
from vera.spec.trial_spec import TrialSpec, split_component
from vera.tasks.build import assemble_trainer, build_dataset
from vera.tasks.contract import Measurement, Task
from vera.tasks.studies.estimators import EstimatorStudy, ImportanceStudy
from vera.training.state.random_state import derive_seed, use_seed
from vera.training.trainer import Trainer

MEASURED = ("signed_bias", "absolute_bias", "rms_bias", "deviation", "rms_noise")
ESS_POINTS, ESS_CHUNK = 20_000, 2_500
"""Number of generated points over which an effective sample size is averaged, in total and at a time."""


@models.register("pca-generator")
@validate_arguments
def pca_generator(
    x: Tensor, latent_dim: Count = 100, noise: Literal["deviation", "variance"] = "deviation"
) -> LinearGenerator:
    """Probabilistic PCA of the points x. σ is the noise deviation, or its variance as in the published
    script."""
    return LinearGenerator.from_pca(x, latent_dim, noise=noise)


@tasks.register("score-error")
class ScoreErrorTask(Task):
    """Compares an estimator of the score of a linear generator with the exact score."""

    methods = estimators
    trains_model = False

    def build(
        self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
    ) -> Trainer:
        study = self._build_study(spec, build_dataset(spec.dataset, data_dir))
        normals = Gaussian(2 * study.energy.latent_dim)
        return assemble_trainer(spec, study, normals, device=device, **options)

    def measure(self, trainer: Trainer) -> Measurement:
        study = trainer.method
        assert isinstance(study, EstimatorStudy)
        with use_seed(derive_seed(trainer.seed, "pairs")):
            pairs = study.energy.sample_pair(study.pairs)
            images = _to_images(study.energy.sample(study.images)) if study.images else None
        with use_seed(derive_seed(trainer.seed, "measurement")):
            error = score_error(study.make_measured_entropy(), study.energy, pairs, study.repeats)
            metrics = {name: getattr(error, name) for name in MEASURED} | {
                "sigma": float(study.energy.sigma.detach())
            }
            return Measurement(metrics | _measure_ess(study), {} if images is None else {"images": images})

    def _build_study(self, spec: TrialSpec, data: Any) -> EstimatorStudy[Any]:
        if not isinstance(data, PixelDigits):
            raise VeraError(
                f"The task 'score-error' needs a data set of digits as pixels, got '{data.name}'."
            )
        if list(spec.networks) != ["generator"]:
            found = ", ".join(spec.networks) or "none"
            raise VeraError(f"The task 'score-error' needs one network, the generator, got {found}.")
        name, settings = split_component(spec.networks["generator"])
        with use_seed(derive_seed(spec.seed, "networks")):
            generator = models.create(name, x=data.read_training_points(), **settings)
        if not isinstance(generator, LinearGenerator):
            kind = type(generator).__name__
            raise IncompatibleModel(f"The task 'score-error' needs a linear generator, got {kind}.")
        name, settings = split_component(spec.method)
        study: EstimatorStudy[Any] = estimators.create(name, energy=generator, **settings)
        return study


def _measure_ess(study: EstimatorStudy[Any]) -> dict[str, float]:
    """ESS of the tuned proposal, of the prior N(0, I), and of a Gaussian with the covariance of the
    posterior."""
    if not isinstance(study, ImportanceStudy):
        return {}
    generator, k = study.axes.generator, study.k
    proposals: dict[str, Callable[[int], Tensor]] = {
        "posterior_ess": lambda n: posterior_ess(study.entropy, generator, n),
        "prior_ess": lambda n: prior_ess(generator, n, k),
        "matched_ess": lambda n: matched_gaussian_ess(generator.latent_dim, k, n),
    }
    measured = {
        name: torch.cat([measure(ESS_CHUNK) for _ in range(ESS_POINTS // ESS_CHUNK)])
        for name, measure in proposals.items()
    }
    estimates = {name: Estimate.from_values(values) for name, values in measured.items()}
    means = {name: estimate.mean for name, estimate in estimates.items()}
    return means | {f"{name}_se": estimate.standard_error for name, estimate in estimates.items()}


def _to_images(x: Tensor) -> Tensor:
    """Points of [-1, 1] as images of bytes. Values outside the range are clipped."""
    side = isqrt(x.shape[1])
    return as_bytes(x).view(-1, side, side).cpu()

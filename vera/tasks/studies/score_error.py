"""The task "score-error": bias and deviation of score estimators on the PCA of MNIST (Figure 3, B.4), and
their ESS (B.6).

Probabilistic PCA of the whole training set is a generator whose exact score is known. The estimator is tuned
on its samples, then estimates the score at fixed pairs (z0, x) again and again. The pairs depend on the seed
and the generator alone, so that every estimator is judged at the same ones. Trap: the published script takes
the noise *variance* for σ, which makes another model, with errors some six times larger; `noise` says which
of the two is studied.
"""

from collections.abc import Callable, Mapping
from math import isqrt
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from vera.data.digits.pixels import PixelDigits
from vera.data.toys.gaussian import Gaussian
from vera.errors import IncompatibleModel, VeraError
from vera.evaluation import Estimate, matched_gaussian_ess, posterior_ess, prior_ess, score_error
from vera.evaluation.features import as_bytes
from vera.models.linear import LinearGenerator
from vera.spec.registry import estimators, models, tasks
from vera.spec.settings import Count, validated
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_dataset
from vera.tasks.contract import Measurement, Task
from vera.tasks.studies.axes import AxisEntropy
from vera.tasks.studies.estimators import EstimatorStudy, ImportanceStudy
from vera.training.random_state import derive_seed, use_seed
from vera.training.trainer import Trainer

MEASURED = ("signed_bias", "absolute_bias", "rms_bias", "deviation", "rms_noise")
ESS_POINTS, ESS_CHUNK = 20_000, 2_500
"""Generated points over which an effective sample size is averaged, and how many of them at a time."""


@models.register("pca-generator")
@validated
def pca_generator(
    x: Tensor, latent_dim: Count = 100, noise: Literal["deviation", "variance"] = "deviation"
) -> LinearGenerator:
    """Probabilistic PCA of the points x; σ is the noise deviation, or its square as in the published
    script."""
    return LinearGenerator.from_pca(x, latent_dim, noise=noise)


@tasks.register("score-error")
class ScoreErrorTask(Task):
    """An estimator of the score of a linear generator against the exact score."""

    methods = estimators

    def build(
        self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
    ) -> Trainer:
        study = self._study(spec, build_dataset(spec.dataset, data_dir))
        normals = Gaussian(2 * study.energy.latent_dim)
        trainer = Trainer(
            study,
            normals,
            steps=spec.steps,
            batch_size=spec.batch_size,
            seed=spec.seed,
            device=device,
            **options,
        )
        trainer.spec = spec.to_dict()
        return trainer

    def measure(self, trainer: Trainer) -> Measurement:
        study = trainer.method
        assert isinstance(study, EstimatorStudy)
        with use_seed(derive_seed(trainer.seed, "pairs")):
            pairs = study.energy.sample_pair(study.pairs)
            images = _images(study.energy.sample(study.images)) if study.images else None
        with use_seed(derive_seed(trainer.seed, "measurement")):
            error = score_error(
                AxisEntropy(study.make_tuned_entropy(), study.axes), study.energy, pairs, study.repeats
            )
            metrics = {name: getattr(error, name) for name in MEASURED} | {
                "sigma": float(study.energy.sigma.detach())
            }
            return Measurement(metrics | _ess(study), {} if images is None else {"images": images})

    def _study(self, spec: TrialSpec, data: Any) -> EstimatorStudy[Any]:
        if not isinstance(data, PixelDigits):
            raise VeraError(
                f"The task 'score-error' fits PCA to all digits of a set as pixels, got '{data.name}'."
            )
        if list(spec.networks) != ["generator"]:
            raise VeraError(
                f"The task 'score-error' needs one network, the generator, got {', '.join(spec.networks) or 'none'}."
            )
        with use_seed(derive_seed(spec.seed, "networks")):
            generator = _create(models, spec.networks["generator"], x=data.training_points())
        if not isinstance(generator, LinearGenerator):
            raise IncompatibleModel(
                f"The task 'score-error' knows the score of a linear generator, not of {type(generator).__name__}."
            )
        study: EstimatorStudy[Any] = _create(estimators, spec.method, energy=generator)
        return study


def _create(registry: Any, part: Mapping[str, Any], **known: Any) -> Any:
    return registry.create(
        part["name"], **known, **{key: value for key, value in part.items() if key != "name"}
    )


def _ess(study: EstimatorStudy[Any]) -> dict[str, float]:
    """Of the tuned proposal, of N(0, I) in its place, and what a Gaussian of the posterior's own covariance
    would have."""
    if not isinstance(study, ImportanceStudy):
        return {}
    generator, k = study.axes.generator, study.k
    ways: dict[str, Callable[[int], Tensor]] = {
        "posterior_ess": lambda n: posterior_ess(study.entropy, generator, n),
        "prior_ess": lambda n: prior_ess(generator, n, k),
        "matched_ess": lambda n: matched_gaussian_ess(generator.latent_dim, k, n),
    }
    measured = {
        name: torch.cat([way(ESS_CHUNK) for _ in range(ESS_POINTS // ESS_CHUNK)])
        for name, way in ways.items()
    }
    estimates = {name: Estimate.from_values(values) for name, values in measured.items()}
    means = {name: estimate.mean for name, estimate in estimates.items()}
    return means | {f"{name}_se": estimate.standard_error for name, estimate in estimates.items()}


def _images(x: Tensor) -> Tensor:
    """Points of [-1, 1] as images of bytes; what noise puts beyond is cut off."""
    side = isqrt(x.shape[1])
    return as_bytes(x).view(-1, side, side).cpu()

"""The estimators under study as methods for the Trainer: each step tunes the estimator once.

A batch contains standard normals from which the pairs (z0, x) are made, so all estimators with the same seed
are tuned on the same pairs. The number of score estimates (`pairs` and `repeats`) is a setting because it
affects the measured numbers. Trap: HMC is tuned with the burn-in of training, but measured with the burn-in
under study and a fixed step size; if the step size adapted, the repeats would not be repeats of one
estimator.
"""

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import torch
from torch import Tensor

from vera.entropy import DenoisingEntropy, EntropyGradient, HMCEntropy, ImportanceEntropy
from vera.entropy.denoising import count_outputs
from vera.entropy.hmc import Force
from vera.methods.contract import Method, Metrics
from vera.models.generator import Generator
from vera.models.linear import LinearGenerator
from vera.spec.registry import Registry, estimators
from vera.spec.settings import Count, NonNegativeCount, Positive, Sizes
from vera.tasks.studies.axes import AxisEntropy, PrincipalAxes

E = TypeVar("E", bound=EntropyGradient)


@dataclass(eq=False)
class EstimatorStudy(Method, Generic[E]):
    """An estimator of the score of a linear generator. The generator takes the place of the energy and is not
    trained."""

    energy: LinearGenerator
    registry: ClassVar[Registry[Any]] = estimators
    _: KW_ONLY
    pairs: Annotated[Count, "pairs (z0, x) at which the score is estimated"] = 100
    repeats: Annotated[Count, "estimates for each pair"] = 5_000
    images: Annotated[NonNegativeCount, "samples of the generator that are stored"] = 0

    def setup(self) -> None:
        self.axes = PrincipalAxes(self.energy)
        self.entropy = self.make_entropy()

    def begin(self, x: Tensor) -> None:
        """Nothing to check: the batch contains random numbers, not data."""

    @torch.no_grad()
    def make_pairs(self, normals: Tensor) -> tuple[Tensor, Tensor]:
        """Pairs (z0, x), with x in the coordinates of the axes, from a batch of standard normals."""
        z0, noise = normals.chunk(2, dim=1)
        return z0, torch.addcmul(self.axes.generator.mean(z0), self.axes.generator.sigma, noise)

    @abstractmethod
    def make_entropy(self) -> E:
        """The estimator to be tuned."""

    def make_tuned_entropy(self) -> EntropyGradient:
        """The estimator as it is measured, after tuning."""
        return self.entropy

    def make_measured_entropy(self) -> EntropyGradient:
        """The tuned estimator as one of scores at points x. It runs in the coordinates of the axes."""
        return AxisEntropy(self.make_tuned_entropy(), self.axes)


@estimators.register("importance")
@dataclass(eq=False, kw_only=True)
class ImportanceStudy(EstimatorStudy[ImportanceEntropy]):
    """Importance sampling around z0. The loss is the negative ELBO at a separate draw, up to a constant."""

    k: Annotated[Count, "importance samples for each estimate"] = 20
    lr: Annotated[Positive, "learning rate of the posterior scale η"] = 0.01
    eta: Annotated[Positive, "initial posterior scale"] = 0.1
    shared_eta: Annotated[bool, "one η for all latent dimensions (paper) in place of one each (code)"] = False

    def make_entropy(self) -> ImportanceEntropy:
        d, like = self.energy.latent_dim, self.energy.log_sigma
        return ImportanceEntropy(d, self.k, lr=self.lr, eta=self.eta, shared_eta=self.shared_eta, like=like)

    def step(self, x: Tensor) -> Metrics:
        z0, a = self.make_pairs(x)
        with torch.no_grad():
            loss = -self.entropy.elbo(self.axes.generator, z0, a).mean()
        self.entropy.warm_up(self.axes.generator, z0, a)
        return {"loss": loss} | self.entropy.metrics()


@estimators.register("hmc")
@dataclass(eq=False, kw_only=True)
class HMCStudy(EstimatorStudy[HMCEntropy]):
    """HMC started at z0. Only its step size is tuned; the loss is the squared distance of the acceptance rate
    from its target."""

    force: Annotated[Force, "full: the gradient of the posterior; prior_only: as in the published code"] = (
        "full"
    )
    burn_in: Annotated[NonNegativeCount, "transitions before the first kept one, when measured"] = 2
    kept: Annotated[Count, "transitions whose positions are averaged"] = 2
    leapfrog_steps: Annotated[Count, "leapfrog steps in a transition"] = 5
    adaptation: Annotated[Positive, "rate at which the step size follows the acceptance"] = 0.01
    tuning_burn_in: Annotated[
        Count, "transitions before the first kept one, when tuned; the step size adapts here"
    ] = 2

    def make_entropy(self) -> HMCEntropy:
        return self._sampler(self.tuning_burn_in)

    def step(self, x: Tensor) -> Metrics:
        step, before = self.entropy.step, self.entropy.step.value
        self.entropy.warm_up(self.axes.generator, *self.make_pairs(x))
        # A transition multiplies the step size by 1 + rate · (acceptance − target); solve for the acceptance.
        miss = ((step.value / before) ** (1 / self.tuning_burn_in) - 1) / step.rate
        return {"loss": miss.square(), "acceptance": miss + step.target} | self.entropy.metrics()

    def make_tuned_entropy(self) -> HMCEntropy:
        sampler = self._sampler(self.burn_in)
        sampler.step.value, sampler.step.rate = self.entropy.step.value, 0.0
        return sampler

    def _sampler(self, burn_in: int) -> HMCEntropy:
        return HMCEntropy(
            self.energy.latent_dim,
            force=self.force,
            burn_in=burn_in,
            kept=self.kept,
            leapfrog_steps=self.leapfrog_steps,
            adaptation=self.adaptation,
            like=self.energy.log_sigma,
        )


class LatentEntropy(EntropyGradient):
    """Uses z0 in place of posterior draws: c = (x − g(z0))/σ². The baseline bias that estimators reduce."""

    @torch.no_grad()
    def direction(self, generator: Generator, z0: Tensor, x: Tensor) -> Tensor:
        return (x - generator.mean(z0)) / generator.sigma.square()


@estimators.register("latent")
@dataclass(eq=False, kw_only=True)
class LatentStudy(EstimatorStudy[LatentEntropy]):
    """No posterior draws. Nothing is tuned; the loss is the mean square of c along the axes, about 1/σ²."""

    repeats: Annotated[Count, "estimates for each pair; all are equal"] = 2

    def make_entropy(self) -> LatentEntropy:
        return LatentEntropy()

    def step(self, x: Tensor) -> Metrics:
        return {"loss": self.entropy.direction(self.axes.generator, *self.make_pairs(x)).square().mean()}


@estimators.register("denoising")
@dataclass(eq=False, kw_only=True)
class DenoisingStudy(EstimatorStudy[DenoisingEntropy]):
    """AR-DAE, trained on points x themselves: along the axes it would not learn what lies across them.

    After training it is a function of x, so all estimates at one point are equal.
    """

    repeats: Annotated[Count, "estimates for each pair; all are equal"] = 2
    lr: Annotated[Positive, "learning rate of the denoising network"] = 1e-3
    scale: Annotated[Positive, "δ, the deviation of the noise levels"] = 0.05
    updates: Annotated[Count, "updates of the denoising network in a step"] = 5
    hidden: Annotated[Sizes, "hidden layers of the denoising network"] = (128, 128)

    def make_entropy(self) -> DenoisingEntropy:
        settings: dict[str, Any] = {"lr": self.lr, "scale": self.scale, "updates": self.updates}
        return DenoisingEntropy(
            count_outputs(self.energy), hidden=self.hidden, like=self.energy.log_sigma, **settings
        )

    def step(self, x: Tensor) -> Metrics:
        self.entropy.tune(self.energy, *self.energy.sample_pair(len(x)))
        return {"loss": self.entropy.last_loss}

    def make_measured_entropy(self) -> DenoisingEntropy:
        return self.entropy

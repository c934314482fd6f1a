"""The training step of VERA for any estimator of the entropy gradient (Sec. 4, Alg. 1, signs corrected).

The energy maximises f(data) − f(generated). The generator maximises f(generated) + λ H(generator), where the
entropy gradient is a direction c at each generated point. With λ = 1 and a perfect generator this is maximum
likelihood; λ = 0 skips the entropy term.

Traps: both updates use the same generated points; the generator ascends the *updated* f; the gradient of the
generator never reaches the weights of the energy.
"""

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

import torch
from torch import Tensor

from vera.entropy import EntropyGradient
from vera.gradients import gradient
from vera.methods.contract import Batch, Method, Metrics
from vera.methods.contrastive_loss import Penalty, contrastive_loss
from vera.models.generator import Generator
from vera.spec.settings import NonNegative, Positive
from vera.training.optimisers import adam, descend, trainable_parameters


@dataclass(eq=False)
class AmortisedMethod(Method):
    """Trains an energy and a generator against each other, with an entropy term for the generator."""

    generator: Generator
    _: KW_ONLY
    lr: Annotated[Positive, "learning rate of the energy"] = 1e-4
    generator_lr: Annotated[Positive, "learning rate of the generator and its σ"] = 2e-4
    entropy_weight: Annotated[NonNegative, "λ, the weight of the generator's entropy"] = 1.0
    gamma: Annotated[NonNegative, "γ, the weight of the gradient penalty on data"] = 0.1
    penalty: Annotated[Penalty, "half: (γ/2)‖∇f‖² as in the published code; full: γ‖∇f‖² as in the paper"] = (
        "half"
    )

    @abstractmethod
    def make_entropy(self) -> EntropyGradient:
        """Return the estimator of the entropy gradient. Called once, by `setup`."""

    def is_tuned_first(self) -> bool:
        """Whether the estimator is tuned before the updates (Algorithm 1) or after its use."""
        return True

    def setup(self) -> None:
        self.generator_weights = trainable_parameters(self.generator)
        self.energy_optimiser = adam(self.energy_weights, self.lr)
        self.generator_optimiser = adam(self.generator_weights, self.generator_lr)
        self.entropy = self.make_entropy()

    def step(self, batch: Batch) -> Metrics:
        z0, x_g = self.generator.sample_with_latent(len(batch))
        fixed = x_g.detach()
        if self.entropy_weight > 0 and self.is_tuned_first():
            self.entropy.tune(self.generator, z0, fixed)
        loss, metrics = self.energy_loss(batch, fixed)
        descend(loss, self.energy_weights, self.energy_optimiser)
        self.update_generator(x_g, self.ascent_direction(z0, fixed))
        return metrics | self.entropy.metrics() | {"sigma": self.generator.sigma.detach()}

    def energy_loss(self, batch: Batch, samples: Tensor) -> tuple[Tensor, Metrics]:
        """Return the loss of the energy and its metrics."""
        return contrastive_loss(self.energy, batch, samples, self.gamma, self.penalty)

    def training_samples(self, n: int) -> Tensor:
        return self.generator.sample(n)

    def ascent_direction(self, z0: Tensor, x_g: Tensor) -> Tensor:
        """Return ∇f(x) + λ c at each generated point, with the updated f."""
        direction = gradient(self.energy, x_g)
        if self.entropy_weight > 0:
            direction = direction.add(
                self.entropy.direction(self.generator, z0, x_g), alpha=self.entropy_weight
            )
            if not self.is_tuned_first():
                self.entropy.tune(self.generator, z0, x_g)
        return direction

    def update_generator(self, x_g: Tensor, direction: Tensor) -> None:
        """Update the weights and σ so that each x_g moves along its direction."""
        self.generator_optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(x_g, direction / -len(x_g), inputs=self.generator_weights)
        self.generator_optimiser.step()
        self.generator.clamp_sigma()

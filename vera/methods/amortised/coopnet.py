"""CoopNet: Langevin steps on f correct the generator's proposals, and the generator learns the correction.

z is standard normal and x̂ = g(z), without noise. x̃ is x̂ after L Langevin steps. The energy minimises
mean f(x̃) − mean f(data). The generator regresses x̃ on the *same* z, with loss ‖x̃ − g(z)‖² / (2 · .3²).
"""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from torch import Tensor

from vera.gradients import squared_norm
from vera.methods.contract import Method, Metrics
from vera.methods.contrastive_loss import contrastive_loss
from vera.models.generator import Generator
from vera.models.network_modes import evaluation_mode
from vera.samplers import sgld
from vera.spec.registry import methods
from vera.spec.settings import Count, Positive
from vera.training.optimisers import adam, descend, trainable_parameters


@methods.register("coopnet")
@dataclass(eq=False)
class CoopNet(Method):
    """Cooperative training, without Langevin steps on z (the default of its code)."""

    generator: Generator
    _: KW_ONLY
    lr: Annotated[Positive, "learning rate of the energy"] = 3e-6
    generator_lr: Annotated[Positive, "learning rate of the generator"] = 3e-4
    sampler_steps: Annotated[Count, "L, Langevin steps from a proposal"] = 10
    noise: Annotated[Positive, "δ, the Langevin noise; the step on ∇f is δ²/2"] = 0.1
    regression_scale: Annotated[Positive, "standard deviation in the generator's regression loss"] = 0.3

    def setup(self) -> None:
        self.generator_weights = trainable_parameters(self.generator.net)
        self.energy_optimiser = adam(self.energy_weights, self.lr)
        self.generator_optimiser = adam(self.generator_weights, self.generator_lr)

    def step(self, x: Tensor) -> Metrics:
        proposal = self.generator(self.generator.sample_latent(len(x)))
        revised = self.revise(proposal.detach())
        loss, metrics = contrastive_loss(self.energy, x, revised)
        descend(loss, self.energy_weights, self.energy_optimiser)
        regression = squared_norm(revised - proposal).mean() / (2 * self.regression_scale**2)
        descend(regression, self.generator_weights, self.generator_optimiser)
        return metrics | {"regression": regression.detach()}

    def revise(self, proposal: Tensor) -> Tensor:
        """Return the proposal after L Langevin steps on f."""
        with evaluation_mode(self.energy):
            return sgld(self.energy, proposal, steps=self.sampler_steps, noise=self.noise)

    def training_samples(self, n: int) -> Tensor:
        return self.revise(self.generator.mean(self.generator.sample_latent(n)))

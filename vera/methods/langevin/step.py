"""What PCD, CD and short-run training share: data are contrasted with Langevin chains on f.

Each step runs K Langevin steps with f in evaluation mode, and minimises −mean f(data) + mean f(chains). The
methods differ only in where their chains start: in a buffer of earlier chains (PCD), at the data (CD), or in
noise, each time afresh (short-run).
"""

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from torch import Tensor

from vera.methods.contract import Batch, Method, Metrics
from vera.methods.contrastive_loss import Penalty, contrastive_loss
from vera.models.network_modes import evaluation_mode
from vera.samplers import sgld
from vera.spec.settings import Count, NonNegative, Positive
from vera.training.optimisers import adam, descend


@dataclass(eq=False)
class LangevinMethod(Method):
    """Trains an energy by contrast with Langevin chains. A subclass defines `draw_chains`."""

    _: KW_ONLY
    lr: Annotated[Positive, "learning rate"] = 1e-3
    sampler_steps: Annotated[Count, "Langevin steps for each update"] = 20
    noise: Annotated[Positive, "σ, the Langevin noise"] = 0.1
    step_size: Annotated[Positive | None, "Langevin step on ∇f; noise²/2 by default"] = None
    gamma: Annotated[NonNegative, "weight of a gradient penalty on data (worse results in the paper)"] = 0.0
    penalty: Annotated[Penalty, "half: (γ/2)‖∇f‖²; full: γ‖∇f‖²"] = "half"

    @abstractmethod
    def draw_chains(self, batch: Batch) -> Tensor:
        """Return as many chains as there are data, at their ends."""

    def setup(self) -> None:
        self.optimiser = adam(self.energy_weights, self.lr)

    def step(self, batch: Batch) -> Metrics:
        loss, metrics = self.energy_loss(batch, self.draw_chains(batch))
        descend(loss, self.energy_weights, self.optimiser)
        return metrics

    def run_chains(self, start: Tensor) -> Tensor:
        """Return the points after K Langevin steps on f."""
        with evaluation_mode(self.energy):
            return sgld(
                self.energy, start, steps=self.sampler_steps, noise=self.noise, step_size=self.step_size
            )

    def energy_loss(self, batch: Batch, samples: Tensor) -> tuple[Tensor, Metrics]:
        """Return the loss of the energy and its metrics."""
        return contrastive_loss(self.energy, batch, samples, self.gamma, self.penalty)

"""JEM: a classifier trained as an energy model by persistent contrastive divergence (Grathwohl et al., 2020).

Short Langevin runs use a step of 1 on ∇f and noise of .01. The temperature is therefore 20,000 times too low
for that step: the samples follow e^{20,000 f}. JEM is known to diverge; a diverged run is a valid result.
"""

from dataclasses import dataclass
from typing import Annotated

from vera.data.labelled import LabelledBatch
from vera.joint.contract import JointMethod, add_noise
from vera.methods.contract import Metrics
from vera.methods.langevin.pcd import PCD
from vera.spec.registry import joint_methods
from vera.spec.settings import Decay, NonNegative, Positive
from vera.training.adam_betas import PAPER_BETAS
from vera.training.optimisers import adam


@joint_methods.register("jem")
@dataclass(eq=False, kw_only=True)
class JEM(JointMethod, PCD):
    """PCD with a classifier as energy and JEM's sampler."""

    noise: Annotated[Positive, "the Langevin noise"] = 0.01
    step_size: Annotated[Positive | None, "Langevin step on ∇f; noise²/2 for None"] = 1.0
    gamma: Annotated[NonNegative, "weight of a gradient penalty on data; none in JEM"] = 0.0
    betas: Annotated[tuple[Decay, Decay], "Adam's betas"] = PAPER_BETAS
    data_noise: Annotated[NonNegative, "deviation of Gaussian noise on the data (.03 for images)"] = 0.0

    def setup(self) -> None:
        self.optimiser = adam(self.energy_weights, self.lr, self.betas)

    def update(self, batch: LabelledBatch) -> Metrics:
        return PCD.step(self, add_noise(batch, self.data_noise) if self.data_noise else batch)

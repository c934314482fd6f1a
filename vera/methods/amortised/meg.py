"""MEG: maximises the generator's entropy through the mutual information of x and z (Kumar et al., 2019).

For a deterministic generator H(g(z)) = I(g(z); z) up to a constant. A statistics network T bounds it from
below by a binary cross-entropy (BCE): T classifies (x, z) as a pair and (x, permuted z) as no pair. Generator
and T together minimise −mean f(g(z)) + λ BCE.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from vera.methods.contract import Batch, Method, Metrics
from vera.methods.contrastive_loss import Penalty, contrastive_loss
from vera.methods.network_checks import check_statistics
from vera.models.generator import Generator
from vera.spec.registry import methods
from vera.spec.settings import NonNegative, Positive
from vera.training.optimisers import adam, descend, trainable_parameters


@methods.register("meg")
@dataclass(eq=False)
class MEG(Method):
    """Trains a generator without output noise and a statistics network T(x, z)."""

    generator: Generator
    statistics: nn.Module
    _: KW_ONLY
    lr: Annotated[Positive, "learning rate of the energy"] = 1e-4
    generator_lr: Annotated[Positive, "learning rate of the generator and the statistics network"] = 2e-4
    entropy_weight: Annotated[NonNegative, "λ, the weight of the mutual information"] = 1.0
    gamma: Annotated[NonNegative, "γ, the weight of the gradient penalty on data"] = 0.1
    penalty: Annotated[Penalty, "half: (γ/2)‖∇f‖²; full: γ‖∇f‖², as in MEG's own code"] = "half"

    def setup(self) -> None:
        self.other_weights = [
            *trainable_parameters(self.generator.net),
            *trainable_parameters(self.statistics),
        ]
        self.energy_optimiser = adam(self.energy_weights, self.lr)
        self.other_optimiser = adam(self.other_weights, self.generator_lr)

    def setup_for(self, x: Tensor) -> None:
        check_statistics(self.label(), self.statistics, x, self.generator.sample_latent(len(x)))

    def step(self, batch: Batch) -> Metrics:
        z = self.generator.sample_latent(len(batch))
        x_g = self.generator(z)
        loss, metrics = self.energy_loss(batch, x_g)
        descend(loss, self.energy_weights, self.energy_optimiser)
        mismatch = self.mismatch(x_g, z)
        descend(
            self.entropy_weight * mismatch - self.energy(x_g).mean(), self.other_weights, self.other_optimiser
        )
        return metrics | {"mismatch": mismatch.detach()}

    def energy_loss(self, batch: Batch, samples: Tensor) -> tuple[Tensor, Metrics]:
        """Return the loss of the energy and its metrics."""
        return contrastive_loss(self.energy, batch, samples, self.gamma, self.penalty)

    def training_samples(self, n: int) -> Tensor:
        return self.generator.mean(self.generator.sample_latent(n))

    def mismatch(self, x: Tensor, z: Tensor) -> Tensor:
        """Return the binary cross-entropy of T on true and shuffled pairs.

        log 2 − mismatch is a lower bound of a mutual information.
        """
        other = z[torch.randperm(len(z), device=z.device)]
        logits = self.statistics(torch.cat([x, x]), torch.cat([z, other]))
        paired, shuffled = logits.chunk(2)
        return 0.5 * (softplus(-paired).mean() + softplus(shuffled).mean())

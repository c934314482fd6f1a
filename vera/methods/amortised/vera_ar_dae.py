"""VERA with the entropy gradient of AR-DAE: a network that denoises generated samples gives their score."""

from dataclasses import dataclass
from typing import Annotated

from vera.entropy.denoising import DenoisingEntropy, count_outputs
from vera.methods.amortised.step import AmortisedMethod
from vera.spec.registry import methods
from vera.spec.settings import Count, Positive, Sizes


@methods.register("vera-ar-dae")
@dataclass(eq=False, kw_only=True)
class VERAARDAE(AmortisedMethod):
    """Amortised training with a learned score of the generator; it needs no posterior of z."""

    dae_lr: Annotated[Positive, "learning rate of the denoising network"] = 1e-3
    dae_scale: Annotated[Positive, "δ, the deviation of the noise levels"] = 0.05
    dae_updates: Annotated[Count, "updates of the denoising network for each of the generator"] = 5
    dae_hidden: Annotated[Sizes, "hidden layers of the denoising network"] = (128, 128)

    def make_entropy(self) -> DenoisingEntropy:
        return DenoisingEntropy(
            count_outputs(self.generator),
            lr=self.dae_lr,
            scale=self.dae_scale,
            updates=self.dae_updates,
            hidden=self.dae_hidden,
            like=self.generator.log_sigma,
        )

"""Maximum likelihood: minimises −mean log p(x) of a normalised model.

It is the reference for all other methods.
"""

from dataclasses import dataclass
from typing import Annotated

from torch import Tensor

from vera.methods.direct import DirectMethod
from vera.spec.registry import methods
from vera.spec.settings import Decay
from vera.training.adam_betas import PAPER_BETAS


@methods.register("ml")
@dataclass(eq=False)
class MaximumLikelihood(DirectMethod):
    """Exact maximum likelihood with a constant learning rate."""

    needs = ("density",)
    betas: Annotated[tuple[Decay, Decay], "Adam's betas"] = PAPER_BETAS

    def loss(self, x: Tensor) -> Tensor:
        return -self.energy.log_prob(x).mean()  # type: ignore[operator]

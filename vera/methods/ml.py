"""Maximum likelihood: descend −mean log p(x), for models that are normalised. What every other method tries
to reach."""

from dataclasses import dataclass
from typing import Annotated

from torch import Tensor

from vera.methods.direct import DirectMethod
from vera.spec.registry import methods
from vera.spec.settings import Decay
from vera.training.optimisers import PAPER_BETAS


@methods.register("ml")
@dataclass(eq=False)
class MaximumLikelihood(DirectMethod):
    """Exact likelihood, constant learning rate."""

    needs = ("density",)
    betas: Annotated[tuple[Decay, Decay], "Adam's betas"] = PAPER_BETAS

    def loss(self, x: Tensor) -> Tensor:
        return -self.energy.log_prob(x).mean()  # type: ignore[operator]

"""Methods that train the energy alone by minimising one loss: maximum likelihood and score matching."""

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from torch import Tensor

from vera.methods.contract import Method, Metrics
from vera.spec.settings import Decay, Positive
from vera.training.adam_betas import ADAM_BETAS
from vera.training.optimisers import adam, descend


@dataclass(eq=False)
class DirectMethod(Method):
    """Minimises `loss` with Adam. A subclass defines the loss of a batch."""

    _: KW_ONLY
    lr: Annotated[Positive, "learning rate"] = 1e-3
    betas: Annotated[tuple[Decay, Decay], "Adam's betas"] = ADAM_BETAS

    @abstractmethod
    def loss(self, x: Tensor) -> Tensor:
        """Return the loss of a batch, a 0-d tensor."""

    def setup(self) -> None:
        self.optimiser = adam(self.energy_weights, self.lr, self.betas)

    def step(self, x: Tensor) -> Metrics:
        loss = self.loss(x)
        descend(loss, self.energy_weights, self.optimiser)
        return {"loss": loss.detach()}

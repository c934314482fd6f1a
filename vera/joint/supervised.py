"""Supervised training: cross-entropy on the labelled points and nothing else.

With ten labels a class it is the baseline that unlabelled data must beat; with every label shown it is the
ceiling.
"""

from dataclasses import dataclass
from typing import Annotated

from torch.nn.functional import cross_entropy

from vera.data.labelled import LabelledBatch
from vera.joint.contract import ClassifierMethod
from vera.methods.contract import Metrics
from vera.spec.registry import joint_methods
from vera.spec.settings import Decay, Positive
from vera.training.optimisers import PAPER_BETAS, adam, descend


@joint_methods.register("supervised")
@dataclass(eq=False, kw_only=True)
class Supervised(ClassifierMethod):
    """A plain classifier."""

    lr: Annotated[Positive, "learning rate"] = 1e-4
    betas: Annotated[tuple[Decay, Decay], "Adam's betas"] = PAPER_BETAS

    def setup(self) -> None:
        self.optimiser = adam(self.energy_weights, self.lr, self.betas)

    def update(self, batch: LabelledBatch) -> Metrics:
        loss = cross_entropy(self.energy.logits(batch.labelled), batch.labels)
        descend(loss, self.energy_weights, self.optimiser)
        return {"loss": loss.detach()}

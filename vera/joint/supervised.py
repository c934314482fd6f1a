"""Supervised training: cross-entropy on the labelled points.

With ten labels per class it is the supervised baseline that methods with unlabelled data must beat. With all
labels it is the upper bound.
"""

from dataclasses import dataclass
from typing import Annotated

from torch.nn.functional import cross_entropy

from vera.data.labelled import LabelledBatch
from vera.joint.contract import ClassifierMethod
from vera.methods.contract import Metrics
from vera.spec.registry import joint_methods
from vera.spec.settings import Decay, Positive
from vera.training.adam_betas import PAPER_BETAS
from vera.training.optimisers import adam, descend


@joint_methods.register("supervised")
@dataclass(eq=False, kw_only=True)
class Supervised(ClassifierMethod):
    """A classifier trained on labels only."""

    lr: Annotated[Positive, "learning rate"] = 1e-4
    betas: Annotated[tuple[Decay, Decay], "Adam's betas"] = PAPER_BETAS

    def setup(self) -> None:
        self.optimiser = adam(self.energy_weights, self.lr, self.betas)

    def update(self, batch: LabelledBatch) -> Metrics:
        loss = cross_entropy(self.energy.logits(batch.labelled), batch.labels)
        descend(loss, self.energy_weights, self.optimiser)
        return {"loss": loss.detach()}

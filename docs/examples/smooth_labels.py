from dataclasses import dataclass
from typing import Annotated

from torch.nn.functional import cross_entropy

from vera.joint import ClassifierMethod
from vera.spec.registry import joint_methods
from vera.spec.settings import NonNegative, Positive, UnitInterval
from vera.training.optimisers import adam, descend


@joint_methods.register("smooth-labels")
@dataclass(eq=False, kw_only=True)
class SmoothLabels(ClassifierMethod):
    """Cross-entropy with softened labels; a penalty keeps f near 0 on all points."""

    lr: Annotated[Positive, "learning rate"] = 1e-3
    smoothing: Annotated[UnitInterval, "share of a label that is spread over all classes"] = 0.1
    level: Annotated[NonNegative, "weight of f² on all points"] = 0.01

    def setup(self):
        self.optimiser = adam(self.energy_weights, self.lr)

    def update(self, batch):
        on_labelled = cross_entropy(
            self.energy.logits(batch.labelled), batch.labels, label_smoothing=self.smoothing
        )
        loss = on_labelled + self.level * self.energy(batch.x).square().mean()
        descend(loss, self.energy_weights, self.optimiser)
        return {"loss": loss.detach()}

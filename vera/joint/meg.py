"""MEG as a joint method: the energy is a classifier (3.4)."""

from dataclasses import dataclass

from vera.data.labelled import LabelledBatch
from vera.joint.contract import JointMethod
from vera.methods.amortised.meg import MEG
from vera.methods.contract import Metrics
from vera.spec.registry import joint_methods


@joint_methods.register("meg")
@dataclass(eq=False, kw_only=True)
class JointMEG(JointMethod, MEG):
    """MEG with a classifier as energy."""

    def update(self, batch: LabelledBatch) -> Metrics:
        return MEG.step(self, batch)

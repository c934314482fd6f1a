"""VERA-JEM: VERA trains a classifier as an energy model, with the labels that are available (Sec. 6)."""

from dataclasses import dataclass

from vera.data.labelled import LabelledBatch
from vera.joint.contract import JointMethod
from vera.methods.contract import Metrics
from vera.methods.vera import VERA
from vera.spec.registry import joint_methods


@joint_methods.register("vera")
@dataclass(eq=False, kw_only=True)
class JointVERA(JointMethod, VERA):
    """VERA with a classifier as energy; α weights the labels, β the confidence on unlabelled points."""

    def update(self, batch: LabelledBatch) -> Metrics:
        return VERA.step(self, batch)

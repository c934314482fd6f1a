"""VERA-JEM: VERA trains a classifier as an energy model, with the labels that are available (Sec. 6)."""

from dataclasses import dataclass
from typing import Annotated

from vera.data.labelled import LabelledBatch
from vera.joint.contract import JointMethod, add_noise
from vera.methods.amortised.vera import VERA
from vera.methods.contract import Metrics
from vera.spec.registry import joint_methods
from vera.spec.settings import NonNegative, OmitDefault


@joint_methods.register("vera")
@dataclass(eq=False, kw_only=True)
class JointVERA(JointMethod, VERA):
    """VERA with a classifier as energy; α weights the labels, β the confidence on unlabelled points."""

    data_noise: Annotated[
        NonNegative, "deviation of Gaussian noise on the data, which VERA does not need", OmitDefault()
    ] = 0.0

    def update(self, batch: LabelledBatch) -> Metrics:
        return VERA.step(self, add_noise(batch, self.data_noise) if self.data_noise else batch)

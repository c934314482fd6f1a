"""Score matching by curvature propagation (Martens et al., 2012).

The loss is mean[ ½‖∇f‖² + Σ_j ∂²f/∂x_j² ]. The model estimates the Hessian diagonal itself, without bias and
in one backward sweep (`score_and_curvature`, see vera/models/curvature.py).
"""

from dataclasses import dataclass

from torch import Tensor

from vera.gradients import squared_norm
from vera.methods.direct import DirectMethod
from vera.spec.registry import methods


@methods.register("cp-sm")
@dataclass(eq=False)
class CPSM(DirectMethod):
    """Score matching for models that propagate curvature, such as the NICE flow."""

    needs = ("curvature",)

    def loss(self, x: Tensor) -> Tensor:
        score, diagonal = self.energy.score_and_curvature(x)  # type: ignore[operator]
        return (0.5 * squared_norm(score) + diagonal.flatten(1).sum(1)).mean()

"""Score matching by curvature propagation (Martens et al., 2012).

Loss mean[ ½‖∇f‖² + Σ_j ∂²f/∂x_j² ], the Hessian diagonal estimated without bias in one backward sweep that
the model itself carries out (`score_and_curvature`, see vera/models/curvature.py).
"""

from dataclasses import dataclass

from torch import Tensor

from vera.gradients import squared_norm
from vera.methods.direct import DirectMethod
from vera.spec.registry import methods


@methods.register("cp-sm")
@dataclass(eq=False)
class CPSM(DirectMethod):
    """For models that propagate curvature: the NICE flow."""

    needs = ("curvature",)

    def loss(self, x: Tensor) -> Tensor:
        score, diagonal = self.energy.score_and_curvature(x)  # type: ignore[operator]
        return (0.5 * squared_norm(score) + diagonal.flatten(1).sum(1)).mean()

"""Sliced score matching: estimates the Hessian trace of f along one random direction v (Song et al., 2019).

The plain loss is mean[ vᵀ∇²f v + ½(vᵀ∇f)² ]; the variance-reduced loss has ½‖∇f‖² instead of ½(vᵀ∇f)².
Because E[v vᵀ] = I, both equal score matching in expectation. Trap: a piecewise linear f has no curvature, so
the loss would only flatten it.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from vera.gradients import Probe, differentiable_gradient, probe_like, squared_norm
from vera.methods.direct import DirectMethod
from vera.spec.registry import methods
from vera.spec.settings import Positive


@methods.register("ssm")
@dataclass(eq=False, kw_only=True)
class SSM(DirectMethod):
    """Sliced score matching with one projection per example."""

    needs = ("hessian",)
    lr: Annotated[Positive, "learning rate"] = 1e-4
    probe: Annotated[Probe, "distribution of the projections v"] = "rademacher"
    variance_reduced: Annotated[bool, "½‖∇f‖² instead of ½(vᵀ∇f)²"] = True

    def loss(self, x: Tensor) -> Tensor:
        x, _, score = differentiable_gradient(self.energy, x)
        v = probe_like(x, self.probe)
        projected = (score * v).flatten(1).sum(1)
        (curvature,) = torch.autograd.grad(projected.sum(), x, create_graph=True)
        norm = squared_norm(score) if self.variance_reduced else projected.square()
        return ((curvature * v).flatten(1).sum(1) + 0.5 * norm).mean()

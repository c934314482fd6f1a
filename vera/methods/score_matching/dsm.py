"""Denoising score matching: the score at a noised point must point back to the clean point.

x̃ = x + σ v, and the loss is ½ mean‖σ²∇f(x̃) + (x̃ − x)‖², which is σ⁴ times the usual form. It fits the
density of the noised data.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from vera.gradients import differentiable_gradient, squared_norm
from vera.methods.direct import DirectMethod
from vera.spec.registry import methods
from vera.spec.settings import Positive


@methods.register("dsm")
@dataclass(eq=False, kw_only=True)
class DSM(DirectMethod):
    """Denoising score matching with one Gaussian noise level."""

    noise: Annotated[Positive, "σ, the deviation of the added noise"] = 0.1

    def loss(self, x: Tensor) -> Tensor:
        noised = x + self.noise * torch.randn_like(x)
        _, _, score = differentiable_gradient(self.energy, noised)
        return 0.5 * squared_norm(self.noise**2 * score + (noised - x)).mean()

"""Stochastic gradient Langevin dynamics: x <- x + step ∇f(x) + noise ε (Eq. 16, where step = noise²/2).

There is no accept test, so the stationary distribution only approximates p, better for smaller steps.
"""

import torch
from torch import Tensor

from vera.gradients import LogDensity, make_gradient


def sgld(f: LogDensity, x: Tensor, *, steps: int, noise: float, step_size: float | None = None) -> Tensor:
    """Return x after `steps` Langevin steps. `step_size` defaults to noise²/2, the discretised diffusion."""
    step = noise**2 / 2 if step_size is None else step_size
    slope = make_gradient(f)
    for _ in range(steps):
        x = x.detach().add(slope(x), alpha=step).add_(torch.randn_like(x), alpha=noise)
    return x

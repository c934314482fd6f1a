"""Stochastic gradient Langevin dynamics: x <- x + step ∇f(x) + noise ε (Eq. 16, where step = noise²/2).

There is no accept test, so the stationary distribution only approximates p, better for smaller steps.
"""

from contextlib import nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from vera.errors import SettingError
from vera.gradients import LogDensity, make_gradient
from vera.models.network_modes import evaluation_mode
from vera.spec.settings import NonNegative, NonNegativeCount, Positive, validate_arguments
from vera.training.state.random_state import use_seed


def sgld(f: LogDensity, x: Tensor, *, steps: int, noise: float, step_size: float | None = None) -> Tensor:
    """Return x after `steps` Langevin steps. `step_size` defaults to noise²/2, the discretised diffusion."""
    step = noise**2 / 2 if step_size is None else step_size
    slope = make_gradient(f)
    for _ in range(steps):
        x = x.detach().add(slope(x), alpha=step).add_(torch.randn_like(x), alpha=noise)
    return x


@validate_arguments
def sample_langevin(
    energy: Any,
    x0: Any,
    steps: NonNegativeCount = 100,
    *,
    noise: NonNegative = 0.01,
    step_size: Positive | None = None,
    seed: NonNegativeCount | None = None,
) -> Any:
    """Return x0 after `steps` Langevin steps on an energy model or any function f(x).

    `x0` is a tensor or an array of points, and the result is one of the same kind. A network is used in
    evaluation mode, on its own device. `step_size` defaults to noise²/2, the discretised diffusion. With a
    `seed`, torch's random state does not change.
    """
    if not callable(energy) or isinstance(energy, type):
        raise SettingError(f"sample_langevin: energy must be a network or a function, got {energy!r}.")
    is_array = isinstance(x0, np.ndarray)
    x = torch.from_numpy(np.array(x0, x0.dtype.newbyteorder("="))) if is_array else x0
    if not isinstance(x, Tensor) or not x.is_floating_point() or x.ndim < 2:
        found = f"{tuple(x.shape)} of {x.dtype}" if isinstance(x, Tensor) else type(x0).__name__
        raise SettingError(f"sample_langevin: x0 must be a batch of points of floats, got {found}.")
    weights = next(energy.parameters(), x) if isinstance(energy, nn.Module) else x
    mode = evaluation_mode(energy) if isinstance(energy, nn.Module) else nullcontext()
    start = x.detach().to(weights.device, weights.dtype, copy=True)
    with mode, use_seed(seed) if seed is not None else nullcontext():
        end = sgld(energy, start, steps=steps, noise=noise, step_size=step_size).to(x.device, x.dtype)
    return end.numpy() if is_array else end

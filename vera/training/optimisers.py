"""Optimisers: Adam in its fused form, one kernel over all weights, on CPU and GPU alike.

The paper trains energy and generator with betas (0, .9): no momentum, a short memory of squared gradients.
The score-matching baselines come from work that used Adam's own defaults.
"""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

PAPER_BETAS = (0.0, 0.9)
ADAM_BETAS = (0.9, 0.999)


def trainable_parameters(network: nn.Module) -> list[nn.Parameter]:
    """The weights that are not frozen."""
    return [parameter for parameter in network.parameters() if parameter.requires_grad]


def adam(
    parameters: Iterable[nn.Parameter], lr: float, betas: tuple[float, float] = PAPER_BETAS
) -> torch.optim.Adam:
    return torch.optim.Adam(parameters, lr=lr, betas=betas, fused=True)


def descend(loss: Tensor, parameters: list[nn.Parameter], optimiser: torch.optim.Optimizer) -> None:
    """One step of `optimiser` down the loss; no gradient is computed for anything but `parameters`."""
    optimiser.zero_grad(set_to_none=True)
    loss.backward(inputs=parameters)
    optimiser.step()

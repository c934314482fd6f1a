"""Optimisers: fused Adam, one kernel for all weights, on CPU and GPU.

The paper trains energy and generator with betas (0, .9): no momentum, a short memory of squared gradients.
The score-matching baselines use Adam's default betas, as in the papers that introduced them.
"""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

PAPER_BETAS = (0.0, 0.9)
ADAM_BETAS = (0.9, 0.999)


def trainable_parameters(network: nn.Module) -> list[nn.Parameter]:
    """The parameters of the network that are not frozen."""
    return [parameter for parameter in network.parameters() if parameter.requires_grad]


def adam(
    parameters: Iterable[nn.Parameter], lr: float, betas: tuple[float, float] = PAPER_BETAS
) -> torch.optim.Adam:
    """A fused Adam optimiser with the paper's betas."""
    return torch.optim.Adam(parameters, lr=lr, betas=betas, fused=True)


def descend(loss: Tensor, parameters: list[nn.Parameter], optimiser: torch.optim.Optimizer) -> None:
    """Take one optimiser step down the loss. Gradients are computed for `parameters` only."""
    optimiser.zero_grad(set_to_none=True)
    loss.backward(inputs=parameters)
    optimiser.step()

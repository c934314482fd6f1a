"""Optimisers: fused Adam, one kernel for all weights, on CPU and GPU."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from vera.training.adam_betas import PAPER_BETAS


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

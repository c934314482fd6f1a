"""The accept test and the step-size rule of HMC and MALA.

A proposal with log ratio r is accepted with probability min(1, e^r). Trap: a NaN ratio must reject.
"""

import torch
from torch import Tensor

from vera.training.state.stateful import Stateful


def accept(log_ratio: Tensor) -> tuple[Tensor, Tensor]:
    """Return which proposals are accepted and the mean acceptance probability."""
    probability = log_ratio.clamp(max=0).exp().nan_to_num(nan=0.0)
    return torch.rand_like(probability) < probability, probability.mean()


def choose(taken: Tensor, new: Tensor, old: Tensor) -> Tensor:
    """Return the new state where `taken`, else the old one; `taken` has one entry per example."""
    return torch.where(taken.view(-1, *[1] * (new.dim() - 1)), new, old)


class StepSize(Stateful):
    """A step size that adapts to a target acceptance: step <- step (1 + rate (acceptance − target)).

    It is a 0-d tensor on the device, so adaptation does not wait for the host.
    """

    def __init__(self, initial: float, target: float, rate: float, like: Tensor | None = None) -> None:
        self.target = target
        self.rate = rate
        like = torch.empty(()) if like is None else like
        self.value = torch.tensor(initial, device=like.device, dtype=like.dtype)

    def adapt(self, acceptance: Tensor, boost: float = 1.0) -> None:
        """Update the step size; `boost` multiplies the rate."""
        self.value = self.value * (1 + boost * self.rate * (acceptance - self.target))

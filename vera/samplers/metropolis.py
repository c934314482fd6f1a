"""The accept test and the step-size rule that HMC and MALA share.

A proposal is accepted with probability min(1, e^r). Trap: a ratio that is NaN must reject, never accept.
"""

import torch
from torch import Tensor

from vera.training.state import Stateful


def accept(log_ratio: Tensor) -> tuple[Tensor, Tensor]:
    """(which proposals are taken, the mean acceptance probability)."""
    probability = log_ratio.clamp(max=0).exp().nan_to_num(nan=0.0)
    return torch.rand_like(probability) < probability, probability.mean()


def choose(taken: Tensor, new: Tensor, old: Tensor) -> Tensor:
    """The new state where it is taken, else the old one; `taken` has one entry an example."""
    return torch.where(taken.view(-1, *[1] * (new.dim() - 1)), new, old)


class StepSize(Stateful):
    """A step size that drifts towards a wanted acceptance: step <- step (1 + rate (acceptance − target)).

    It stays on the device as a 0-d tensor, so that adapting it never waits for the host.
    """

    def __init__(self, initial: float, target: float, rate: float, like: Tensor | None = None) -> None:
        self.target = target
        self.rate = rate
        like = torch.empty(()) if like is None else like
        self.value = torch.tensor(initial, device=like.device, dtype=like.dtype)

    def adapt(self, acceptance: Tensor, boost: float = 1.0) -> None:
        self.value = self.value * (1 + boost * self.rate * (acceptance - self.target))

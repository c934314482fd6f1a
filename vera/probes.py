"""Random probe vectors v with E[v vᵀ] = I, for estimates of traces and diagonals."""

from typing import Literal

import torch
from torch import Tensor

Probe = Literal["gaussian", "rademacher"]


def rademacher_like(x: Tensor) -> Tensor:
    """Independent fair signs."""
    return torch.empty_like(x).bernoulli_(0.5).mul_(2).sub_(1)


def probe_like(x: Tensor, kind: Probe) -> Tensor:
    return torch.randn_like(x) if kind == "gaussian" else rademacher_like(x)

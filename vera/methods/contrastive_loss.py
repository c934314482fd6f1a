"""The contrastive energy loss of VERA, MEG, PCD and CoopNet.

The loss is −mean f(data) + mean f(samples) + gradient penalty. The penalty γ‖∇f(x)‖² (or half of it) is
computed on data only, from the same forward pass, over all axes except the first. Trap: Algorithm 1 prints
log f, and a plus sign before the penalty of a maximised objective. f is already a log-density, and the
penalty is subtracted from what is maximised.
"""

from typing import Literal

import torch
from torch import Tensor, nn

from vera.gradients import differentiable_gradient, squared_norm

Penalty = Literal["half", "full"]
"""(γ/2)‖∇f‖² as in the published code, or γ‖∇f‖² as in the paper's text."""


def penalty_weight(gamma: float, penalty: Penalty) -> float:
    """Return the factor of ‖∇f‖²."""
    return gamma / 2 if penalty == "half" else gamma


def contrastive_loss(
    energy: nn.Module, x: Tensor, samples: Tensor, gamma: float = 0.0, penalty: Penalty = "half"
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the loss to minimise and its terms as metrics. `samples` are treated as constants."""
    f_samples = energy(samples.detach()).mean()
    if gamma == 0:
        f_data = energy(x).mean()
        loss = f_samples - f_data
        return loss, {"loss": loss.detach(), "f_data": f_data.detach(), "f_samples": f_samples.detach()}
    _, f_x, slope = differentiable_gradient(energy, x)
    f_data = f_x.mean()
    weighted = penalty_weight(gamma, penalty) * squared_norm(slope).mean()
    loss = f_samples - f_data + weighted
    terms = {"loss": loss, "f_data": f_data, "f_samples": f_samples, "penalty": weighted}
    return loss, {name: torch.detach(term) for name, term in terms.items()}

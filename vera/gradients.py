"""Gradients in x of a batch of scalars f(x), and random probe vectors for estimates of second derivatives.

No function here changes the `.grad` of the weights.
"""

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

LogDensity = Callable[[Tensor], Tensor]
"""(B, D) to (B,): an energy model or a closed form."""
Probe = Literal["gaussian", "rademacher"]


def value_and_gradient(f: LogDensity, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return f(x) and ∇f(x), both detached."""
    with torch.enable_grad():
        x = x.detach().requires_grad_(True)
        value = f(x)
        (gradient,) = torch.autograd.grad(value.sum(), x)
    return value.detach(), gradient


def make_gradient(f: LogDensity) -> Callable[[Tensor], Tensor]:
    """Return the function x -> ∇f(x), detached.

    It uses the closed form of the model if there is one (`vera.models.contract.ScoreModel`), otherwise
    autograd. Trap: a closed form may read the weights once, here. Call this again after every update of f.
    """
    if not _has_closed_form(f):
        return lambda x: value_and_gradient(f, x)[1]
    score = f.scorer()  # type: ignore[attr-defined]
    return lambda x: score(x.detach()).detach()


def gradient(f: LogDensity, x: Tensor) -> Tensor:
    """Return ∇f(x), detached."""
    return make_gradient(f)(x)


def _has_closed_form(f: LogDensity) -> bool:
    """Whether f has a `scorer` that belongs to its `forward`.

    A `scorer` inherited by a class that overrides `forward` is the gradient of another f and does not count.
    """
    if "forward" in getattr(f, "__dict__", {}):
        return False
    return next(
        ("scorer" in vars(cls) for cls in type(f).__mro__ if {"scorer", "forward"} & vars(cls).keys()),
        False,
    )


def differentiable_gradient(f: LogDensity, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return (x as a leaf, f(x), ∇f(x)); the gradient keeps its graph, so a loss on it trains the weights."""
    x = x.detach().requires_grad_(True)
    value = f(x)
    (slope,) = torch.autograd.grad(value.sum(), x, create_graph=True)
    return x, value, slope


def squared_norm(x: Tensor) -> Tensor:
    """Return ‖x_i‖² for each example, summed over all axes except the first."""
    return x.flatten(1).square().sum(1)


def rademacher_like(x: Tensor) -> Tensor:
    """Return independent random signs with the shape of x."""
    return torch.empty_like(x).bernoulli_(0.5).mul_(2).sub_(1)


def probe_like(x: Tensor, kind: Probe) -> Tensor:
    """Return random vectors v with the shape of x and E[v vᵀ] = I."""
    return torch.randn_like(x) if kind == "gaussian" else rademacher_like(x)

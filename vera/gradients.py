"""Gradients in x of a batch of scalars, without touching the weights' gradients."""

from collections.abc import Callable

import torch
from torch import Tensor

LogDensity = Callable[[Tensor], Tensor]
"""(B, D) to (B,): any energy model, or a closed form."""


def value_and_gradient(f: LogDensity, x: Tensor) -> tuple[Tensor, Tensor]:
    """f(x) and ∇f(x), both detached."""
    with torch.enable_grad():
        x = x.detach().requires_grad_(True)
        value = f(x)
        (gradient,) = torch.autograd.grad(value.sum(), x)
    return value.detach(), gradient


def gradient_of(f: LogDensity) -> Callable[[Tensor], Tensor]:
    """x to ∇f(x), detached: by the model's own formula if it has one (`vera.models.contract.Scored`), else by
    autograd.

    Trap: a formula may have read the weights already, so this serves until the next update of f and no
    longer.
    """
    if not _has_formula(f):
        return lambda x: value_and_gradient(f, x)[1]
    score = f.scorer()  # type: ignore[attr-defined]
    return lambda x: score(x.detach()).detach()


def gradient(f: LogDensity, x: Tensor) -> Tensor:
    """∇f(x), detached."""
    return gradient_of(f)(x)


def _has_formula(f: LogDensity) -> bool:
    """Whether f has a `scorer` that belongs to its `forward`: one that was inherited beside another forward
    is of another f."""
    if "forward" in getattr(f, "__dict__", {}):
        return False
    kinds = type(f).__mro__
    return next(
        ("scorer" in vars(kind) for kind in kinds if not vars(kind).keys().isdisjoint(("scorer", "forward"))),
        False,
    )


def differentiable_gradient(f: LogDensity, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(x as a leaf, f(x), ∇f(x)), the gradient with a graph, so that a loss on it trains the weights."""
    x = x.detach().requires_grad_(True)
    value = f(x)
    (slope,) = torch.autograd.grad(value.sum(), x, create_graph=True)
    return x, value, slope


def squared_norm(x: Tensor) -> Tensor:
    """‖x_i‖² over all but the first axis."""
    return x.flatten(1).square().sum(1)

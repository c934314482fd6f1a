"""The model contracts: what a method may require of an energy model.

An energy model is any `nn.Module` that maps a batch (B, D) to f(x) of shape (B,). Trap: f is an unnormalised
log-density, high where data are likely; it is not an energy. A model offers more than f by implementing the
protocols below.
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from torch import Tensor, nn


@runtime_checkable
class Density(Protocol):
    """A normalised model, f(x) = log p(x), that can be sampled without MCMC."""

    def log_prob(self, x: Tensor) -> Tensor: ...

    def sample(self, n: int) -> Tensor: ...


@runtime_checkable
class CurvatureModel(Protocol):
    """A model whose Hessian diagonal can be estimated by curvature propagation."""

    def score_and_curvature(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return ∇f(x) and an unbiased estimate of diag ∇²f(x), both differentiable in the weights."""


@runtime_checkable
class ScoreModel(Protocol):
    """A model with ∇f in closed form, which `vera.gradients.make_gradient` uses instead of autograd."""

    def scorer(self) -> Callable[[Tensor], Tensor]:
        """Return the function x -> ∇f(x) for the current weights, with the values that autograd would give.

        It is created once and called at every step of a chain, so compute here what depends on the weights
        only.
        """


def has_hessian(energy: nn.Module) -> bool:
    """Return whether ∇²f can be nonzero: False if the network declares itself piecewise linear."""
    return not getattr(energy, "piecewise_linear", False)

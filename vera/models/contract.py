"""The model contracts: what a method may ask of an energy model.

An energy model is any `nn.Module` that maps a batch (B, D) to f(x) of shape (B,). Trap: f is an unnormalised
log-density, high where data are likely; it is not an energy. What a model can do beyond f it says by having
the methods of the classes below.
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from torch import Tensor, nn


@runtime_checkable
class Density(Protocol):
    """A model that is normalised, so that f(x) = log p(x) exactly, and that can be sampled without MCMC."""

    def log_prob(self, x: Tensor) -> Tensor: ...

    def sample(self, n: int) -> Tensor: ...


@runtime_checkable
class CurvatureModel(Protocol):
    """A model whose Hessian diagonal can be estimated by curvature propagation."""

    def score_and_curvature(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """∇f(x), and an unbiased estimate of the diagonal of ∇²f(x); both differentiable in the weights."""


@runtime_checkable
class ScoreModel(Protocol):
    """A model that knows ∇f in closed form, which spares a sampler the graph. `vera.gradients.gradient_of`
    then takes it."""

    def scorer(self) -> Callable[[Tensor], Tensor]:
        """x to ∇f(x), shaped as x: what autograd would give, with the weights as they are now. Asked for
        once, called at every step of a chain, so whatever depends on the weights alone is computed here."""


def has_hessian(energy: nn.Module) -> bool:
    """False for a network that says it is piecewise linear: its Hessian in x is zero wherever it exists."""
    return not getattr(energy, "piecewise_linear", False)

"""Curvature propagation (Martens et al., 2012).

A random vector S with E[S Sᵀ] = ∇²f is propagated backwards like a gradient.

- Through a linear map x -> W x: S <- WᵀS.
- Through softplus at a, whose output has gradient g: S <- S σ(a) + √M v, with M = softplus''(a) g and fresh
  random signs v. A negative M contributes to the imaginary part.

Then Re(S)² − Im(S)² is an unbiased estimate of diag ∇²f. Trap: √M has no derivative at M = 0, so an unused
unit would turn the loss into NaN; the term is omitted there.
"""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn

from vera.gradients import rademacher_like


@dataclass(frozen=True)
class Curvature:
    """The state of the backward sweep at one layer: the gradient of f, and real and imaginary part of S."""

    gradient: Tensor
    real: Tensor
    imaginary: Tensor

    @classmethod
    def at_normal_prior(cls, y: Tensor) -> Self:
        """Return the state for f = −½‖y‖²: the gradient is −y, the Hessian −I, so S is purely imaginary."""
        return cls(-y, torch.zeros_like(y), rademacher_like(y))

    def scale(self, factor: Tensor) -> "Curvature":
        """Return the state before an elementwise multiplication by the factor."""
        return Curvature(self.gradient * factor, self.real * factor, self.imaginary * factor)

    def __add__(self, other: "Curvature") -> "Curvature":
        return Curvature(
            self.gradient + other.gradient, self.real + other.real, self.imaginary + other.imaginary
        )

    def diagonal(self) -> Tensor:
        """Return the estimate of diag ∇²f."""
        return self.real.square() - self.imaginary.square()


def record_inputs(net: nn.Sequential, x: Tensor) -> tuple[Tensor, list[Tensor]]:
    """Return the output of a network of Linear and Softplus layers, and the input of each layer."""
    inputs = []
    for layer in net:
        inputs.append(x)
        x = layer(x)
    return x, inputs


def pull_through(net: nn.Sequential, inputs: list[Tensor], down: Curvature) -> Curvature:
    """Propagate the state from the output of the network to its input."""
    for layer, a in zip(reversed(net), reversed(inputs), strict=True):
        down = _pull_linear(layer.weight, down) if isinstance(layer, nn.Linear) else _pull_softplus(a, down)
    return down


def _pull_linear(weight: Tensor, down: Curvature) -> Curvature:
    return Curvature(*(torch.cat([down.gradient, down.real, down.imaginary]) @ weight).chunk(3))


def _pull_softplus(a: Tensor, down: Curvature) -> Curvature:
    slope = torch.sigmoid(a)
    bend = slope * (1 - slope) * down.gradient
    kick = _safe_sqrt(bend.abs()) * rademacher_like(bend)
    upward = bend > 0
    straight = down.scale(slope)
    return Curvature(
        straight.gradient,
        straight.real + torch.where(upward, kick, 0.0),
        straight.imaginary + torch.where(upward, 0.0, kick),
    )


def _safe_sqrt(m: Tensor) -> Tensor:
    tiny = torch.finfo(m.dtype).tiny
    return torch.where(m > tiny, m.clamp_min(tiny).sqrt(), 0.0)

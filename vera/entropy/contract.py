"""The entropy-gradient contract: a direction c for each generated x, with ∇_φ H = E[cᵀ ∂x/∂φ].

c = −∇ log q(x), and ∇ log q(x) = −E[x − g(z)]/σ² over the posterior of z given x (Eq. 7, signs corrected:
Eq. 6 lacks a minus). Trap: only the gradient of ⟨c, x⟩ with constant c is an entropy gradient; the value of
⟨c, x⟩ is not an entropy.
"""

from abc import ABC, abstractmethod

from torch import Tensor

from vera.models.generator import Generator
from vera.training.state.stateful import Stateful


class EntropyGradient(Stateful, ABC):
    """Estimates the negative score of a generator at its own samples, given the latent z0 of each sample."""

    @abstractmethod
    def direction(self, generator: Generator, z0: Tensor, x: Tensor) -> Tensor:
        """Return c = −(estimated score) at x, with the shape of x and without a graph."""

    def tune(self, generator: Generator, z0: Tensor, x: Tensor) -> None:
        """Update the parameters of the estimator on this batch. Does nothing by default."""

    def warm_up(self, generator: Generator, z0: Tensor, x: Tensor) -> None:
        """Adapt outside of training everything that `tune` and `direction` adapt in training."""
        self.tune(generator, z0, x)

    def metrics(self) -> dict[str, Tensor]:
        """Return the current parameters of the estimator as metrics."""
        return {}

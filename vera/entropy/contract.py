"""The entropy-gradient contract: a direction c for every generated x, with ∇_φ H = E[cᵀ ∂x/∂φ].

c = −∇ log q(x), and ∇ log q(x) = −E[x − g(z)]/σ² over the posterior of z given x (Eq. 7, signs corrected: Eq.
6 lacks a minus). Trap: only the gradient of ⟨c, x⟩ with c held constant is an entropy gradient; the value of
⟨c, x⟩ is not an entropy.
"""

from abc import ABC, abstractmethod

from torch import Tensor

from vera.models.generator import Generator
from vera.training.state import Stateful


class EntropyGradient(Stateful, ABC):
    """Estimates −score of the generator at its own samples, where the latent z0 of each sample is known."""

    @abstractmethod
    def direction(self, generator: Generator, z0: Tensor, x: Tensor) -> Tensor:
        """c = −(estimated score) at x, shaped like x, without a graph."""

    def tune(self, generator: Generator, z0: Tensor, x: Tensor) -> None:
        """Improve the estimator's own parameters on this batch, if it has any."""

    def warm_up(self, generator: Generator, z0: Tensor, x: Tensor) -> None:
        """Adapt outside of training: all that `tune` and the use in training would adapt."""
        self.tune(generator, z0, x)

    def metrics(self) -> dict[str, Tensor]:
        return {}

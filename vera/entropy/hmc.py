"""HMC on the posterior of z given x, started at the known latent z0 (the regulariser of PresGAN; "VERA-HMC").

The target is −½‖z‖² − ‖x − g(z)‖²/(2σ²), and the score is −(x − mean of g over the kept positions)/σ². With
`force="full"` the leapfrog steps follow the gradient of the target. With `force="prior_only"` they follow −z
only, because the published code evaluates g without gradients. That is valid, since the accept test uses the
whole target, but it is nearly a random walk. The paper's numbers were produced with it.

Trap: batch norm couples the chains of a batch, and then neither the accept test nor a stored force is
correct. Here batch norm is frozen at the statistics of z0, which produced x.
"""

from typing import Literal

import torch
from torch import Tensor

from vera.entropy.contract import EntropyGradient
from vera.gradients import squared_norm
from vera.models.generator import Generator
from vera.models.network_modes import freeze_batch_statistics
from vera.samplers.hmc import PriorForce, Target, hmc
from vera.samplers.metropolis import StepSize
from vera.spec.settings import Count, NonNegativeCount, Positive, validate_arguments

Force = Literal["full", "prior_only"]


class Posterior(Target):
    """log p(z|x) up to a constant, and its gradient −z + Jᵀ(x − g(z))/σ².

    The gradient takes one backward pass through g; the squared norms need no graph.
    """

    def __init__(self, generator: Generator, x: Tensor) -> None:
        self.generator, self.x = generator, x
        self.precision = generator.sigma.detach().square().reciprocal()

    def log_density(self, z: Tensor) -> Tensor:
        return self._value(z, self.x - self.generator(z))

    def value_and_force(self, z: Tensor) -> tuple[Tensor, Tensor]:
        misfit, force = self._misfit_and_force(z)
        return self._value(z, misfit), force

    def force(self, z: Tensor) -> Tensor:
        return self._misfit_and_force(z)[1]

    def _misfit_and_force(self, z: Tensor) -> tuple[Tensor, Tensor]:
        with torch.enable_grad():
            leaf = z.detach().requires_grad_(True)
            mean = self.generator(leaf)
        misfit = self.x - mean.detach()
        (pull,) = torch.autograd.grad(mean, leaf, misfit)
        return misfit, torch.addcmul(-z, self.precision, pull)

    def _value(self, z: Tensor, misfit: Tensor) -> Tensor:
        return -0.5 * (squared_norm(z) + self.precision * squared_norm(misfit))


class HMCEntropy(EntropyGradient):
    """Entropy gradient by HMC.

    Default: two burn-in and two kept transitions of five leapfrog steps each. The target acceptance is .67.
    """

    @validate_arguments
    def __init__(
        self,
        latent_dim: Count,
        *,
        force: Force = "full",
        burn_in: NonNegativeCount = 2,
        kept: Count = 2,
        leapfrog_steps: Count = 5,
        adaptation: Positive = 0.02,
        step_size: Positive | None = None,
        like: Tensor | None = None,
    ) -> None:
        self.force, self.burn_in, self.kept, self.leapfrog_steps = force, burn_in, kept, leapfrog_steps
        self.step = StepSize(
            1 / latent_dim if step_size is None else step_size, target=0.67, rate=adaptation, like=like
        )

    def direction(self, generator: Generator, z0: Tensor, x: Tensor) -> Tensor:
        with freeze_batch_statistics(generator.net, z0):
            positions = self._sample_posterior(generator, z0, x)
            with torch.no_grad():
                mean = torch.stack([generator(z) for z in positions]).mean(0)
                return (x - mean) / generator.sigma.square()

    def sample_posterior(self, generator: Generator, z0: Tensor, x: Tensor) -> list[Tensor]:
        """Return the kept draws of z given x."""
        with freeze_batch_statistics(generator.net, z0):
            return self._sample_posterior(generator, z0, x)

    def _sample_posterior(self, generator: Generator, z0: Tensor, x: Tensor) -> list[Tensor]:
        posterior = Posterior(generator, x)
        target = posterior if self.force == "full" else PriorForce(posterior.log_density)
        return hmc(
            z0, target, self.step, burn_in=self.burn_in, kept=self.kept, leapfrog_steps=self.leapfrog_steps
        )

    def warm_up(self, generator: Generator, z0: Tensor, x: Tensor) -> None:
        self.sample_posterior(generator, z0, x)

    def metrics(self) -> dict[str, Tensor]:
        return {"hmc_step_size": self.step.value}

"""VERA-HMC: VERA with the entropy gradient of PresGAN.

HMC on the posterior of z given x replaces importance sampling.
"""

from dataclasses import dataclass
from typing import Annotated

from vera.entropy import HMCEntropy
from vera.entropy.hmc import Force
from vera.methods.amortised.step import AmortisedMethod
from vera.spec.registry import methods
from vera.spec.settings import Count, NonNegativeCount, Positive


@methods.register("vera-hmc")
@dataclass(eq=False, kw_only=True)
class VERAHMC(AmortisedMethod):
    """Amortised training with posterior draws by HMC; it has no posterior scale and no importance weights."""

    force: Annotated[
        Force, "full: the gradient of the posterior; prior_only: −z, as in the published code"
    ] = "full"
    burn_in: Annotated[NonNegativeCount, "burn-in transitions, in which the step size adapts"] = 2
    kept: Annotated[Count, "transitions whose positions are averaged"] = 2
    leapfrog_steps: Annotated[Count, "leapfrog steps in a transition"] = 5
    adaptation: Annotated[Positive, "rate at which the step size follows the acceptance"] = 0.02

    def make_entropy(self) -> HMCEntropy:
        return HMCEntropy(
            self.generator.latent_dim,
            force=self.force,
            burn_in=self.burn_in,
            kept=self.kept,
            leapfrog_steps=self.leapfrog_steps,
            adaptation=self.adaptation,
            like=self.generator.log_sigma,
        )

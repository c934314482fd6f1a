"""Self-normalised likelihood: maximum likelihood with a learned log-normaliser b and a fixed proposal q.

As log Z ≤ b + e^{−b} Z − 1, with equality at b = log Z, the log-likelihood is at least
E_data f(x) − b − e^{−b} Z + 1. Both f and b ascend this bound, with Z = E_q[e^f / q] from importance samples:
unlike log Z, Z has an unbiased estimate. b becomes an estimate of log Z, as c does in NCE.

q is a Gaussian fitted to the data. Trap: the weights e^f / q decide how noisy a step is. If q misses a part
of e^f, the bound looks better than it is until a sample falls there.
"""

import math
from dataclasses import dataclass

from torch import Tensor

from vera.methods.contract import Metrics
from vera.methods.contrastive.nce import NCE
from vera.spec.registry import methods


@methods.register("snl")
@dataclass(eq=False)
class SNL(NCE):
    """The bound of the log-likelihood with the proposal, and the settings, of NCE."""

    def loss(self, x: Tensor, noise: Tensor) -> tuple[Tensor, Metrics]:
        """Return the negative bound on data and points of the proposal, and its metrics."""
        f_data, b = self.energy(x).mean(), self.log_normaliser
        log_weights = self.energy(noise) - self.noise.log_prob(noise)
        log_z = log_weights.logsumexp(0) - math.log(len(noise))
        loss = b + (log_z - b).exp() - 1 - f_data
        terms = {"loss": loss, "f_data": f_data, "log_normaliser": b}
        return loss, {name: term.detach().clone() for name, term in terms.items()}

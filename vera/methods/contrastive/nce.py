"""Noise-contrastive estimation: tells data from noise of a known density (Gutmann and Hyvärinen, 2010).

With ν noise points for each data point, the log-odds of data are h(x) = f(x) − c − log q(x) − log ν, and the
loss is the logistic loss E_data softplus(−h) + ν E_q softplus(h). It is smallest where f − c is the data's
log-density, and it falls to that of maximum likelihood as ν grows. So c is an estimate of log Z, and f(x) − c
one of the log-likelihood. For a model that is normalised by construction c stays 0.

q is a Gaussian fitted to the data. Trap: the further q is from the data, the less the loss says. In high
dimension data and noise can be told apart without knowing the density, and then nothing more is learned.
"""

import math
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from vera.errors import IncompatibleModel
from vera.methods.contract import Method, Metrics
from vera.models.contract import Density
from vera.models.fitted_gaussian import FittedGaussian
from vera.models.network_modes import evaluation_mode
from vera.spec.registry import methods
from vera.spec.settings import Count, Positive
from vera.training.optimisers import adam, descend


@methods.register("nce")
@dataclass(eq=False)
class NCE(Method):
    """NCE with a Gaussian noise density that is fitted to the first data points of the run."""

    _: KW_ONLY
    lr: Annotated[Positive, "learning rate of the energy"] = 1e-3
    normaliser_lr: Annotated[Positive, "learning rate of c, the estimate of log Z"] = 1e-2
    noise_ratio: Annotated[Count, "ν, noise points for each data point"] = 10
    fit_points: Annotated[Count, "data points that the noise density is fitted to"] = 10_000

    def setup(self) -> None:
        self.log_normaliser = nn.Parameter(torch.zeros_like(self.energy_weights[0].flatten()[0]))
        self.optimiser = adam(self.energy_weights, self.lr)
        self.normaliser_optimiser = adam([self.log_normaliser], self.normaliser_lr)
        self.fitted = 0  # points; counted on the host, because reading a tensor waits for the device

    @property
    def is_normalised(self) -> bool:
        """Whether log Z is 0 by construction; c is then not learned."""
        return isinstance(self.energy, Density)

    @torch.no_grad()
    def setup_for(self, x: Tensor) -> None:
        """Create the noise density, and start c where f − c equals log q on average."""
        if len(x) < 2:
            raise IncompatibleModel(
                f"{self.label()}: the noise density needs a batch_size of at least 2, got {len(x)}."
            )
        self.noise = FittedGaussian(x.shape[1:]).to(x)
        if not self.is_normalised:
            start = FittedGaussian(x.shape[1:]).to(x)
            start.add(x)
            with evaluation_mode(self.energy):
                self.log_normaliser.copy_((self.energy(x) - start.log_prob(x)).mean())

    def step(self, x: Tensor) -> Metrics:
        if self.fitted < self.fit_points:
            self.noise.add(x)
            self.fitted += len(x)
        loss, metrics = self.loss(x, self.noise.sample(self.noise_ratio * len(x)))
        learned = [] if self.is_normalised else [self.log_normaliser]
        self.normaliser_optimiser.zero_grad(set_to_none=True)
        descend(loss, [*self.energy_weights, *learned], self.optimiser)
        self.normaliser_optimiser.step()
        return metrics

    def loss(self, x: Tensor, noise: Tensor) -> tuple[Tensor, Metrics]:
        """Return the loss on data and noise points, and its metrics."""
        f_data = self.energy(x)
        data_odds, noise_odds = self.log_odds(f_data, x), self.log_odds(self.energy(noise), noise)
        loss = softplus(-data_odds).mean() + self.noise_ratio * softplus(noise_odds).mean()
        terms = {"loss": loss, "f_data": f_data.mean(), "log_normaliser": self.log_normaliser}
        return loss, {name: term.detach().clone() for name, term in terms.items()}

    def log_odds(self, f: Tensor, x: Tensor) -> Tensor:
        """Return h(x), the log-odds that a point with this f(x) is data."""
        return f - self.log_normaliser - self.noise.log_prob(x) - math.log(self.noise_ratio)

    def estimate_log_normaliser(self) -> Tensor | None:
        return None if self.is_normalised else self.log_normaliser.detach()

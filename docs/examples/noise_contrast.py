from dataclasses import KW_ONLY, dataclass
from typing import Annotated

import torch

from vera.methods import Method
from vera.spec.registry import methods
from vera.spec.settings import Positive
from vera.training.optimisers import adam, descend


@methods.register("noise-contrast")
@dataclass(eq=False)
class NoiseContrast(Method):
    """Tell each point from a noisy copy of itself; the log-odds are f(x) − f(x + noise)."""

    _: KW_ONLY
    lr: Annotated[Positive, "learning rate"] = 3e-3
    noise: Annotated[Positive, "standard deviation of the noise"] = 0.3

    def setup(self):
        self.optimiser = adam(self.energy_weights, self.lr)

    def step(self, x):
        log_odds = self.energy(x) - self.energy(x + self.noise * torch.randn_like(x))
        loss = torch.nn.functional.softplus(-log_odds).mean()
        descend(loss, self.energy_weights, self.optimiser)
        return {"loss": loss.detach()}

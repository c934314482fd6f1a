from dataclasses import KW_ONLY, dataclass
from typing import Annotated

import torch

from vera.methods import Method
from vera.optim import adam, descend
from vera.registry import methods
from vera.settings import Positive


@methods.register("noise-contrast")
@dataclass(eq=False)
class NoiseContrast(Method):
    """Tell data from Gaussian noise: f becomes the log-density ratio of the two."""

    _: KW_ONLY
    lr: Annotated[Positive, "learning rate"] = 1e-3

    def setup(self):
        self.optimiser = adam(self.energy_weights, self.lr)

    def step(self, x):
        f_data, f_noise = self.energy(x), self.energy(torch.randn_like(x))
        loss = torch.nn.functional.softplus(-f_data).mean() + torch.nn.functional.softplus(f_noise).mean()
        descend(loss, self.energy_weights, self.optimiser)
        return {"loss": loss.detach()}

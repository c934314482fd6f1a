"""Short-run training (Nijkamp et al., 2019): K Langevin steps from noise, each time afresh, give the samples.

The K steps are a sampler of their own, and training makes it match the data. Trap: f is then whatever drives
the noise to the data in K steps, and e^f is in general not the density of the data.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Literal

import torch
from torch import Tensor

from vera.methods.contract import Batch
from vera.methods.langevin.step import LangevinMethod
from vera.spec.registry import methods
from vera.spec.settings import Count

Start = Literal["normal", "uniform"]


@methods.register("short-run")
@dataclass(eq=False)
class ShortRun(LangevinMethod):
    """Langevin runs from noise, without a buffer."""

    _: KW_ONLY
    sampler_steps: Annotated[Count, "K, Langevin steps from noise"] = 100
    start: Annotated[
        Start,
        "normal: independent Gaussians with mean and deviation of the first batch; uniform on [−1, 1]",
    ] = "normal"

    def setup_for(self, x: Tensor) -> None:
        self.mean, self.deviation = x.mean(0), x.std(0, correction=0)

    def draw_chains(self, batch: Batch) -> Tensor:
        return self.training_samples(len(batch))

    def training_samples(self, n: int) -> Tensor:
        return self.run_chains(self.draw_noise(n))

    def draw_noise(self, n: int) -> Tensor:
        """Return n points at which chains start."""
        if self.start == "uniform":
            return self.mean.new_empty(n, *self.mean.shape).uniform_(-1, 1)
        noise = torch.randn(n, *self.mean.shape, device=self.mean.device, dtype=self.mean.dtype)
        return torch.addcmul(self.mean, self.deviation, noise)

"""Persistent contrastive divergence: short Langevin runs that continue from a replay buffer give the samples.

Each step draws chains from the buffer, restarts a few of them, runs them and stores them. Trap: the samples
can look right while f is wrong, because short chains need not reach the modes of the density.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

import torch
from torch import Tensor

from vera.errors import SettingError
from vera.methods.contract import Batch
from vera.methods.langevin.step import LangevinMethod
from vera.samplers import ReplayBuffer
from vera.spec.registry import methods
from vera.spec.settings import Count, UnitInterval


@methods.register("pcd")
@dataclass(eq=False)
class PCD(LangevinMethod):
    """PCD by SGLD, with a replay buffer of 10,000 chains."""

    _: KW_ONLY
    capacity: Annotated[Count, "chains in the buffer"] = 10_000
    restart: Annotated[UnitInterval, "probability that a drawn chain is restarted"] = 0.05

    def setup_for(self, x: Tensor) -> None:
        if self.capacity < len(x):
            raise SettingError(
                f"{self.label()}: capacity must be at least the batch size of {len(x)}, got {self.capacity}."
            )
        self.buffer = ReplayBuffer(self.capacity, x.shape[1:], self.restart, like=self.energy_weights[0])

    def draw_chains(self, batch: Batch) -> Tensor:
        indices, start = self.buffer.draw(len(batch))
        chains = self.run_chains(start)
        self.buffer.store(indices, chains)
        return chains

    def training_samples(self, n: int) -> Tensor:
        return self.buffer.chains[
            torch.randperm(len(self.buffer.chains), device=self.buffer.chains.device)[:n]
        ]

"""Contrastive divergence (Hinton, 2002): K Langevin steps from the data give the samples (CD-K).

Where the chains leave the distribution of the data unchanged, the two terms of the loss agree on average, so
a model whose discretised chain has the data as its stationary distribution is a fixed point for every K.
Trap: chains that start at the data never visit modes of f far from all data, which therefore stay.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

import torch
from torch import Tensor

from vera.methods.contract import Batch
from vera.methods.langevin.step import LangevinMethod
from vera.spec.registry import methods
from vera.spec.settings import Count


@methods.register("cd")
@dataclass(eq=False)
class CD(LangevinMethod):
    """CD-K by SGLD."""

    _: KW_ONLY
    sampler_steps: Annotated[Count, "K, Langevin steps from each data point"] = 10

    def setup_for(self, x: Tensor) -> None:
        self.last_batch = x.detach().clone()

    def draw_chains(self, batch: Batch) -> Tensor:
        self.last_batch = batch
        return self.run_chains(batch)

    def training_samples(self, n: int) -> Tensor:
        """Return n new chains from points of the last batch."""
        rows = torch.randint(len(self.last_batch), (n,), device=self.last_batch.device)
        return self.run_chains(self.last_batch[rows])

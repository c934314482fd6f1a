"""Persistent contrastive divergence: short Langevin runs that continue from a replay buffer give the samples.

Each step draws chains, restarts a few of them, runs them with f in evaluation mode, stores them, and
minimises −mean f(data) + mean f(chains). Trap: the samples can look right while f is wrong, because short
chains need not reach the modes of the density.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

import torch
from torch import Tensor

from vera.errors import SettingError
from vera.methods.contract import Batch, Method, Metrics
from vera.methods.contrastive_loss import Penalty, contrastive_loss
from vera.models.network_modes import evaluation_mode
from vera.samplers import ReplayBuffer, sgld
from vera.spec.registry import methods
from vera.spec.settings import Count, NonNegative, Positive, UnitInterval
from vera.training.optimisers import adam, descend


@methods.register("pcd")
@dataclass(eq=False)
class PCD(Method):
    """PCD by SGLD, with a replay buffer of 10,000 chains."""

    _: KW_ONLY
    lr: Annotated[Positive, "learning rate"] = 1e-3
    sampler_steps: Annotated[Count, "Langevin steps for each update"] = 20
    noise: Annotated[Positive, "σ, the Langevin noise"] = 0.1
    step_size: Annotated[Positive | None, "Langevin step on ∇f; noise²/2 by default"] = None
    capacity: Annotated[Count, "chains in the buffer"] = 10_000
    restart: Annotated[UnitInterval, "probability that a drawn chain is restarted"] = 0.05
    gamma: Annotated[NonNegative, "weight of a gradient penalty on data (worse results in the paper)"] = 0.0
    penalty: Annotated[Penalty, "half: (γ/2)‖∇f‖²; full: γ‖∇f‖²"] = "half"

    def setup(self) -> None:
        self.optimiser = adam(self.energy_weights, self.lr)

    def setup_for(self, x: Tensor) -> None:
        if self.capacity < len(x):
            raise SettingError(
                f"{self.label()}: capacity must be at least the batch size of {len(x)}, got {self.capacity}."
            )
        self.buffer = ReplayBuffer(self.capacity, x.shape[1:], self.restart, like=self.energy_weights[0])

    def step(self, batch: Batch) -> Metrics:
        indices, chains = self.buffer.draw(len(batch))
        with evaluation_mode(self.energy):
            chains = sgld(
                self.energy, chains, steps=self.sampler_steps, noise=self.noise, step_size=self.step_size
            )
        self.buffer.store(indices, chains)
        loss, metrics = self.energy_loss(batch, chains)
        descend(loss, self.energy_weights, self.optimiser)
        return metrics

    def energy_loss(self, batch: Batch, samples: Tensor) -> tuple[Tensor, Metrics]:
        """Return the loss of the energy and its metrics."""
        return contrastive_loss(self.energy, batch, samples, self.gamma, self.penalty)

    def training_samples(self, n: int) -> Tensor:
        return self.buffer.chains[
            torch.randperm(len(self.buffer.chains), device=self.buffer.chains.device)[:n]
        ]

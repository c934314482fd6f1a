"""A replay buffer of persistent chains, which start uniform on [-1, 1] in model space (also in logit space).

Each draw restarts a few of its chains. Trap: the buffer is part of the training state; a run resumed without
it gives different results.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from vera.training.state.stateful import Stateful


class ReplayBuffer(Stateful):
    """Stores `capacity` chain states of the given shape."""

    def __init__(self, capacity: int, shape: Sequence[int], restart: float, like: Tensor) -> None:
        self.restart = restart
        self.chains = torch.empty(capacity, *shape, device=like.device, dtype=like.dtype).uniform_(-1, 1)

    def draw(self, n: int) -> tuple[Tensor, Tensor]:
        """Return indices and states of n distinct chains, each restarted with probability `restart`."""
        indices = torch.randperm(len(self.chains), device=self.chains.device)[:n]
        states = self.chains[indices]
        fresh = torch.empty_like(states).uniform_(-1, 1)
        chance = torch.rand(len(states), *[1] * (states.dim() - 1), device=states.device, dtype=states.dtype)
        return indices, torch.where(chance < self.restart, fresh, states)

    def store(self, indices: Tensor, states: Tensor) -> None:
        """Write the states back to these chains."""
        self.chains[indices] = states

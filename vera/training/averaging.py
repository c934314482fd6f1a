"""Averaged weights: an exponential moving average (EMA) of all networks beside the trained ones.

After step t (from 1) each averaged weight moves towards the trained one: a <- d a + (1 − d) w, with
d = min(decay, (1 + t) / (10 + t)), so that short runs are not dominated by the initial weights. Training does
not see the average. Buffers, such as the running averages of batch norm, are those of the trained networks.

Trap: two networks that fit each other at every step need not fit after averaging.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import torch
from torch import nn

from vera.errors import SettingError
from vera.methods.contract import Method

PREFIX = "ema_"
"""Begins the names of what is measured with averaged weights."""


class WeightAverage:
    """Averaged copies of the networks of a method, by role."""

    def __init__(self, method: Method, decay: float) -> None:
        self.method, self.decay, self.updates = method, decay, 0
        self.networks = {role: copy_network(role, network) for role, network in method.networks().items()}

    @torch.no_grad()
    def update(self) -> None:
        """Move the averages towards the trained weights. Called after every step."""
        self.updates += 1
        decay = min(self.decay, (1 + self.updates) / (10 + self.updates))
        for role, network in self.method.networks().items():
            averaged: list[torch.Tensor] = list(self.networks[role].parameters())
            trained: list[torch.Tensor] = list(network.parameters())
            torch._foreach_lerp_(averaged, trained, 1 - decay)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """The averaged networks take the place of the trained ones inside the block."""
        self.copy_buffers()
        trained = self.method.networks()
        try:
            for role, network in self.networks.items():
                setattr(self.method, role, network)
            yield
        finally:
            for role, network in trained.items():
                setattr(self.method, role, network)

    @torch.no_grad()
    def copy_buffers(self) -> None:
        """Copy the buffers of the trained networks."""
        for role, network in self.method.networks().items():
            for own, buffer in zip(self.networks[role].buffers(), network.buffers(), strict=True):
                own.copy_(buffer)

    def state_dict(self) -> dict[str, Any]:
        self.copy_buffers()
        networks = {role: deepcopy(network.state_dict()) for role, network in self.networks.items()}
        return {"updates": self.updates, "networks": networks}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.updates = state["updates"]
        for role, network in self.networks.items():
            network.load_state_dict(state["networks"][role])


def copy_network(role: str, network: nn.Module) -> nn.Module:
    """Return a copy of the network; `SettingError` if it holds something that cannot be copied."""
    try:
        # Files hold no memory layout, so the copy gets the usual one: the file and the copy then agree.
        copy: nn.Module = deepcopy(network).to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]
        return copy
    except Exception as error:  # a user's module can hold anything
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise SettingError(
            f"The {role} ({type(network).__name__}) cannot be copied: {reason}. "
            "Keep state in parameters and buffers only."
        ) from error

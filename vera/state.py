"""State: everything that the next step depends on, gathered by walking attributes.

A class that derives from `Stateful` saves each attribute that is a tensor or has a `state_dict` of its own (networks, optimisers,
replay buffers, samplers), so a part cannot be forgotten by leaving it out of a list. Trap: a plain Python number that changes
during training is not saved; keep it as a 0-d tensor.
"""

from copy import deepcopy
from typing import Any, Self

import torch
from torch import Tensor, nn


class Stateful:
    """`state_dict`, `load_state_dict` and `to` over all attributes that carry state."""

    def state_dict(self) -> dict[str, Any]:
        return {
            name: part.detach().clone() if isinstance(part, Tensor) else deepcopy(part.state_dict()) for name, part in self._parts()
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        parts = dict(self._parts())
        if parts.keys() != state.keys():
            raise KeyError(f"{type(self).__name__} keeps {sorted(parts)}, the state has {sorted(state)}")
        for name, part in parts.items():
            if isinstance(part, Tensor):
                with torch.no_grad():
                    part.copy_(state[name])
            else:
                part.load_state_dict(deepcopy(state[name]))

    def to(self, device: torch.device) -> Self:
        for name, part in self._parts():
            if isinstance(part, nn.Parameter):
                part.data = part.data.to(device)
            elif isinstance(part, Tensor):
                setattr(self, name, part.to(device))
            elif hasattr(part, "to"):
                part.to(device)
        return self

    def _parts(self) -> list[tuple[str, Any]]:
        return [(name, part) for name, part in vars(self).items() if isinstance(part, Tensor) or hasattr(part, "state_dict")]

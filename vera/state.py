"""State: everything that the next step depends on, gathered by walking attributes.

A class that derives from `Stateful` saves each attribute that is a tensor, a number, or has a `state_dict` of its own (networks,
optimisers, replay buffers, samplers; also in a list or a dict), so a part cannot be forgotten by leaving it out of a list.
"""

import dataclasses
from copy import deepcopy
from typing import Any, Self

import torch
from torch import Tensor, nn


class Stateful:
    """`state_dict`, `load_state_dict` and `to` over all attributes that carry state."""

    def state_dict(self) -> dict[str, Any]:
        return {name: _saved(part) for name, part in self._parts()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        parts = dict(self._parts())
        if parts.keys() != state.keys():
            raise KeyError(f"{type(self).__name__} keeps {sorted(parts)}, the state has {sorted(state)}")
        for name, part in parts.items():
            if isinstance(part, Tensor):
                with torch.no_grad():
                    part.copy_(state[name])
            elif isinstance(part, bool | int | float):
                setattr(self, name, state[name])
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
        """Tensors, numbers and whatever has a `state_dict`, also inside lists and dicts; settings are no state."""
        settings = {f.name for f in dataclasses.fields(self)} if dataclasses.is_dataclass(self) else set[str]()
        parts: list[tuple[str, Any]] = []
        for name, value in vars(self).items():
            number = isinstance(value, bool | int | float) and name not in settings
            if number or isinstance(value, Tensor) or hasattr(value, "state_dict"):
                parts.append((name, value))
            elif isinstance(value, list | tuple | dict):
                items = value.items() if isinstance(value, dict) else enumerate(value)
                parts += [(f"{name}.{key}", item) for key, item in items if hasattr(item, "state_dict")]
        return parts


def _saved(part: Any) -> Any:
    if isinstance(part, Tensor):
        return part.detach().clone()
    return part if isinstance(part, bool | int | float) else deepcopy(part.state_dict())

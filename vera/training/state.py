"""State: everything that the next step depends on, gathered by walking attributes.

A class that derives from `Stateful` saves each attribute that is a tensor, a number, or has a `state_dict` of
its own (networks, optimisers, replay buffers, samplers), the last two also in a list or a dict, so a part
cannot be forgotten by leaving it out of an inventory. Trap: a number inside a list or a dict is not saved;
keep it as an attribute.
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
                self._replace(name, part.to(device))
            elif hasattr(part, "to"):
                part.to(device)
        return self

    def _replace(self, name: str, value: Tensor) -> None:
        """Put a tensor where `_parts` found the one of that name."""
        owner, _, key = name.partition(".")
        held = getattr(self, owner)
        if not key:
            setattr(self, name, value)
        elif isinstance(held, dict):
            held[next(k for k in held if str(k) == key)] = value
        else:
            setattr(self, owner, type(held)(value if str(i) == key else item for i, item in enumerate(held)))

    def _parts(self) -> list[tuple[str, Any]]:
        """Numbers, tensors and whatever has a `state_dict`, the last two also in lists and dicts; settings
        are no state."""
        settings = (
            {f.name for f in dataclasses.fields(self)} if dataclasses.is_dataclass(self) else set[str]()
        )
        parts: list[tuple[str, Any]] = []
        for name, value in vars(self).items():
            number = isinstance(value, bool | int | float) and name not in settings
            if number or isinstance(value, Tensor) or hasattr(value, "state_dict"):
                parts.append((name, value))
            elif isinstance(value, list | tuple | dict):
                items = value.items() if isinstance(value, dict) else enumerate(value)
                parts += [(f"{name}.{key}", item) for key, item in items if _has_state(item)]
        return parts


def _has_state(item: Any) -> bool:
    """Parameters in a list are those of a network that is saved itself."""
    return hasattr(item, "state_dict") or (isinstance(item, Tensor) and not isinstance(item, nn.Parameter))


def _saved(part: Any) -> Any:
    if isinstance(part, Tensor):
        return part.detach().clone()
    return part if isinstance(part, bool | int | float) else deepcopy(part.state_dict())

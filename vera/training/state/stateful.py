"""State: everything that the next step depends on, collected from an object's attributes.

A class that derives from `Stateful` saves each attribute that is a number, a tensor, or has a `state_dict`
(networks, optimisers, replay buffers, samplers); the latter two also inside a list or a dict. No list of
attributes has to be maintained, so none can be forgotten. Trap: a number inside a list or a dict is not
saved; keep it as an attribute.
"""

import dataclasses
from copy import deepcopy
from typing import Any, Self

import torch
from torch import Tensor, nn


class Stateful:
    """`state_dict`, `load_state_dict` and `to` over all attributes that hold state."""

    def state_dict(self) -> dict[str, Any]:
        return {name: _copy_state(value) for name, value in self._state_items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        values = dict(self._state_items())
        if values.keys() != state.keys():
            raise KeyError(f"{type(self).__name__} has {sorted(values)}, the state has {sorted(state)}")
        for name, value in values.items():
            if isinstance(value, Tensor):
                if state[name].shape != value.shape:  # copy_ would repeat a smaller tensor
                    raise ValueError(f"{name} cannot have the shape {list(state[name].shape)}")
                with torch.no_grad():
                    value.copy_(state[name])
            elif isinstance(value, bool | int | float):
                if not isinstance(state[name], bool | int | float):
                    raise TypeError(f"{name} cannot be {state[name]!r}")
                setattr(self, name, state[name])
            else:
                value.load_state_dict(deepcopy(state[name]))

    def to(self, device: torch.device) -> Self:
        for name, value in self._state_items():
            if isinstance(value, nn.Parameter):
                value.data = value.data.to(device)
            elif isinstance(value, Tensor):
                self._replace(name, value.to(device))
            elif hasattr(value, "to"):
                value.to(device)
        return self

    def _replace(self, name: str, tensor: Tensor) -> None:
        """Replace the tensor that `_state_items` lists under this name."""
        attribute, _, key = name.partition(".")
        holder = getattr(self, attribute)
        if not key:
            setattr(self, name, tensor)
        elif isinstance(holder, dict):
            holder[next(k for k in holder if str(k) == key)] = tensor
        else:
            items = (tensor if str(i) == key else item for i, item in enumerate(holder))
            setattr(self, attribute, type(holder)(items))

    def _state_items(self) -> list[tuple[str, Any]]:
        """(name, value) of all state. Numbers in the fields of a dataclass are settings, not state."""
        settings = (
            {f.name for f in dataclasses.fields(self)} if dataclasses.is_dataclass(self) else set[str]()
        )
        found: list[tuple[str, Any]] = []
        for name, value in vars(self).items():
            is_number = isinstance(value, bool | int | float) and name not in settings
            if is_number or isinstance(value, Tensor) or hasattr(value, "state_dict"):
                found.append((name, value))
            elif isinstance(value, list | tuple | dict):
                items = value.items() if isinstance(value, dict) else enumerate(value)
                found += [(f"{name}.{key}", item) for key, item in items if _has_state(item)]
        return found


def _has_state(item: Any) -> bool:
    """Whether an item of a list or dict is saved. Parameters are not: their network is saved."""
    return hasattr(item, "state_dict") or (isinstance(item, Tensor) and not isinstance(item, nn.Parameter))


def _copy_state(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach().clone()
    return value if isinstance(value, bool | int | float) else deepcopy(value.state_dict())

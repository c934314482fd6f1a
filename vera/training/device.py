"""The device that a run computes on."""

import torch

from vera.errors import SettingError


def resolve_device(name: str) -> torch.device:
    """The torch device of that name; raises `SettingError` if no tensor can be created on it."""
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise SettingError(
            f"The device '{name}' cannot be used here: {str(error).splitlines()[0]}"
        ) from error
    return device

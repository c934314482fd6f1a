"""Checkpoint files: written atomically and read without executing code.

A checkpoint is written under a temporary name, flushed to disk and renamed, so a crash leaves the old one
intact. It is read with `weights_only`, so a checkpoint from an untrusted source can contain wrong numbers but
no program.
"""

import pickle
import zipfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from vera.atomic_write import write_atomically
from vera.errors import CheckpointError

FORMAT = 1
KEYS = {"identity", "spec", "step", "seconds", "result", "method", "stream", "random", "journal"}


def write_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write the state to the file. If that fails, an earlier checkpoint at this path is unchanged."""
    check_plain_data("the checkpoint", state)
    if not path.name:
        raise CheckpointError(f"A checkpoint needs a file name, got '{path}'.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as file:
            torch.save({"format": FORMAT, **state}, file)
    except (OSError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise CheckpointError(
            f"The checkpoint {path} cannot be written ({reason}); an earlier one is unchanged."
        ) from error


def check_plain_data(what: str, value: Any, key: str = "") -> None:
    """Raise `CheckpointError`, naming the key, if the value contains anything but plain data and tensors.

    `weights_only` could not read other objects.
    """
    if type(value) in (type(None), bool, int, float, str) or isinstance(value, Tensor):
        return
    subject = f"{what[0].upper()}{what[1:]} must be plain data and tensors"
    if not isinstance(value, dict | list | tuple) or hasattr(value, "_fields"):
        raise CheckpointError(f"{subject}; {key or 'it'} is {type(value).__name__}.")
    for name, item in value.items() if isinstance(value, dict) else enumerate(value):
        if type(name) not in (int, str):
            raise CheckpointError(f"{subject}; a key of {key or 'it'} is {type(name).__name__}.")
        check_plain_data(what, item, f"{key}.{name}" if key else str(name))


def read_checkpoint(path: Path, device: torch.device) -> dict[str, Any]:
    """The state in the file, with its tensors on the device."""
    if not path.is_file():
        raise CheckpointError(f"There is no checkpoint {path}.")
    try:
        _check_archive(path)
        state = torch.load(path, map_location=device, weights_only=True)
    except pickle.UnpicklingError as error:
        raise CheckpointError(
            f"{path} is not a readable checkpoint: it contains objects other than plain data and tensors."
        ) from error
    except Exception as error:  # damaged bytes can make torch's parsers raise anything
        raise CheckpointError(
            f"{path} is not a readable checkpoint: {(str(error) or repr(error)).splitlines()[0]}"
        ) from error
    if not isinstance(state, dict) or state.get("format") != FORMAT or not state.keys() >= KEYS:
        raise CheckpointError(f"{path} is not a vera checkpoint of format {FORMAT}.")
    return state


def _check_archive(path: Path) -> None:
    """Raise if the archive is truncated or damaged. torch does not check its checksums and does not always
    notice a missing end."""
    with zipfile.ZipFile(path) as archive:
        damaged = archive.testzip()
    if damaged is not None:
        raise zipfile.BadZipFile(f"{damaged} is damaged")

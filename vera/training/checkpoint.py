"""Checkpoint files: written whole or not at all, read without executing code, and refused by any other run.

A checkpoint is written under a temporary name, flushed to disk and renamed, so a crash leaves the old one.
Reading uses `weights_only`, so a checkpoint from a stranger can hold wrong numbers but no program.
"""

import pickle
import zipfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from vera.atomic_write import write_atomically
from vera.errors import CheckpointError

FORMAT = 1
KEYS = {"identity", "spec", "step", "seconds", "result", "method", "stream", "random", "journal"}


def write_checkpoint(path: Path, state: dict[str, Any]) -> None:
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
            f"The checkpoint {path} cannot be written ({reason}); an earlier one is as it was."
        ) from error


def check_plain_data(what: str, value: Any, key: str = "") -> None:
    """Raise, naming the place, unless the value is made of plain data and tensors: anything else could not be
    read back."""
    if type(value) in (type(None), bool, int, float, str) or isinstance(value, Tensor):
        return
    if not isinstance(value, dict | list | tuple) or hasattr(value, "_fields"):
        raise CheckpointError(
            f"{what[0].upper()}{what[1:]} must be plain data and tensors; {key or 'it'} is {type(value).__name__}."
        )
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for name, item in items:
        if type(name) not in (int, str):
            raise CheckpointError(
                f"{what[0].upper()}{what[1:]} must be plain data; a key of {key or 'it'} is {type(name).__name__}."
            )
        check_plain_data(what, item, f"{key}.{name}" if key else str(name))


def read_checkpoint(path: Path, device: torch.device) -> dict[str, Any]:
    if not path.is_file():
        raise CheckpointError(f"There is no checkpoint {path}.")
    try:
        _check_whole(path)
        state = torch.load(path, map_location=device, weights_only=True)
    except pickle.UnpicklingError as error:
        raise CheckpointError(
            f"{path} is not a readable checkpoint: it holds more than numbers and texts."
        ) from error
    except Exception as error:  # torch raises whatever the bytes make its parsers raise
        raise CheckpointError(
            f"{path} is not a readable checkpoint: {(str(error) or repr(error)).splitlines()[0]}"
        ) from error
    if not isinstance(state, dict) or state.get("format") != FORMAT or not state.keys() >= KEYS:
        raise CheckpointError(f"{path} is not a vera checkpoint of format {FORMAT}.")
    return state


def _check_whole(path: Path) -> None:
    """torch neither checks the checksums of the archive it writes nor always notices that its end is
    missing."""
    with zipfile.ZipFile(path) as archive:
        damaged = archive.testzip()
    if damaged is not None:
        raise zipfile.BadZipFile(f"{damaged} is damaged")


def describe_network(network: nn.Module) -> dict[str, Any]:
    """Every layer's type and plain options, every weight's shape and type. What a layer keeps in other
    objects is not seen."""
    layers = {name or "self": f"{type(m).__name__}({_options(m)})" for name, m in network.named_modules()}
    return layers | {
        name: f"{value.dtype} {list(value.shape)}" for name, value in network.state_dict().items()
    }


def _options(module: nn.Module) -> str:
    plain = {
        k: v for k, v in vars(module).items() if not k.startswith("_") and k != "training" and _is_plain(v)
    }
    return ", ".join(f"{name}={value}" for name, value in sorted(plain.items()))


def _is_plain(value: Any) -> bool:
    return (
        all(map(_is_plain, value))
        if isinstance(value, tuple | list)
        else isinstance(value, bool | int | float | str)
    )


def check_same_run(path: Path, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """Raise, naming what differs, unless the checkpoint was written by a run with our identity."""
    a, b = _flatten(theirs), _flatten(ours)
    different = sorted(
        (key for key in {*a, *b} if a.get(key) != b.get(key)), key=lambda key: (key != "method.name", key)
    )
    differences = [f"{key} was {a.get(key, 'absent')}, is {b.get(key, 'absent')}" for key in different]
    if differences:
        more = f" (and {len(differences) - 5} more)" if len(differences) > 5 else ""
        raise CheckpointError(f"{path} belongs to another run: {'; '.join(differences[:5])}{more}.")


def _flatten(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            flat |= _flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = list(value) if isinstance(value, tuple) else value
    return flat

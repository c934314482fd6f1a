"""Checkpoint files: written whole or not at all, read without executing code, and refused by any other run.

A checkpoint is written under a temporary name, flushed to disk and renamed, so a crash leaves the old one. Reading uses
`weights_only`, so a checkpoint from a stranger can hold wrong numbers but no program.
"""

import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import torch
from torch import nn

from vera.errors import CheckpointError

FORMAT = 1
KEYS = {"identity", "spec", "step", "seconds", "result", "method", "stream", "random", "journal"}


def write_checkpoint(path: Path, state: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            torch.save({"format": FORMAT, **state}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read_checkpoint(path: Path, device: torch.device) -> dict[str, Any]:
    if not path.is_file():
        raise CheckpointError(f"There is no checkpoint {path}.")
    try:
        _check_whole(path)
        state = torch.load(path, map_location=device, weights_only=True)
    except pickle.UnpicklingError as error:
        raise CheckpointError(f"{path} is not a readable checkpoint: it holds more than numbers and texts.") from error
    except Exception as error:  # torch raises whatever the bytes make its parsers raise
        raise CheckpointError(f"{path} is not a readable checkpoint: {(str(error) or repr(error)).splitlines()[0]}") from error
    if not isinstance(state, dict) or state.get("format") != FORMAT or not state.keys() >= KEYS:
        raise CheckpointError(f"{path} is not a vera checkpoint of format {FORMAT}.")
    return state


def _check_whole(path: Path) -> None:
    """torch neither checks the checksums of the archive it writes nor always notices that its end is missing."""
    with zipfile.ZipFile(path) as archive:
        damaged = archive.testzip()
    if damaged is not None:
        raise zipfile.BadZipFile(f"{damaged} is damaged")


def describe_network(network: nn.Module) -> dict[str, Any]:
    """Every layer's type and options and every weight's shape: two networks that compute the same function of their weights."""
    layers = {name or "self": f"{type(m).__name__}({m.extra_repr()})" for name, m in network.named_modules()}
    return layers | {name: list(value.shape) for name, value in network.state_dict().items()}


def refuse_other_run(path: Path, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """Raise, naming what differs, unless the checkpoint was written by a run with our identity."""
    a, b = _flatten(theirs), _flatten(ours)
    differences = [
        f"{key} was {a.get(key, 'absent')}, is {b.get(key, 'absent')}" for key in sorted({*a, *b}) if a.get(key) != b.get(key)
    ]
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

"""The identity of a run: what a checkpoint must share with a run to be restored into it.

The number of steps is not part of it, because a run may be extended. The hash of a plug-in's file is: half a
run with one version of the code and half with another would be neither.
"""

from pathlib import Path
from typing import Any

from torch import nn

from vera.data.contract import DataSet
from vera.errors import CheckpointError
from vera.methods.contract import Method
from vera.spec.registry import find_source_hash


def describe_run(method: Method, data: DataSet, batch_size: int, seed: int) -> dict[str, Any]:
    """Method, networks, data, batch size, seed and the sources of plug-ins as plain data."""
    networks = method.networks()
    components = {"method": method, "data": data, **networks}
    hashes = {role: find_source_hash(type(component)) for role, component in components.items()}
    sources = {role: source for role, source in hashes.items() if source}
    return {
        "method": {"name": method.label(), **method.settings()},
        "networks": {name: describe_network(network) for name, network in networks.items()},
        "data": {"name": data.name, "fingerprint": data.fingerprint},
        "batch_size": batch_size,
        "seed": seed,
    } | ({"sources": sources} if sources else {})


def describe_network(network: nn.Module) -> dict[str, Any]:
    """Each layer's type and plain options, each weight's dtype and shape. Options held in other objects are
    not included."""
    layers = {
        name or "self": f"{type(m).__name__}({_list_options(m)})" for name, m in network.named_modules()
    }
    return layers | {
        name: f"{value.dtype} {list(value.shape)}" for name, value in network.state_dict().items()
    }


def check_same_run(path: Path, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """Raise `CheckpointError`, naming the differences, unless the checkpoint has our identity."""
    if not isinstance(theirs, dict):
        raise CheckpointError(f"{path} does not say which run it belongs to.")
    a, b = _flatten(theirs), _flatten(ours)
    different = sorted(
        (key for key in {*a, *b} if a.get(key) != b.get(key)), key=lambda key: (key != "method.name", key)
    )
    differences = [f"{key} was {a.get(key, 'absent')}, is {b.get(key, 'absent')}" for key in different]
    if differences:
        more = f" (and {len(differences) - 5} more)" if len(differences) > 5 else ""
        raise CheckpointError(f"{path} belongs to another run: {'; '.join(differences[:5])}{more}.")


def _list_options(module: nn.Module) -> str:
    plain = {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and name != "training" and _is_plain(value)
    }
    return ", ".join(f"{name}={value}" for name, value in sorted(plain.items()))


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return isinstance(value, bool | int | float | str)


def _flatten(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested keys joined by dots; tuples as lists."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            flat |= _flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = list(value) if isinstance(value, tuple) else value
    return flat

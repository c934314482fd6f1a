"""Networks rebuilt from a model file: a registered name, its settings, and tensors that must fit exactly.

A file can ask for a network of any size. The network is therefore built without memory first (on the device
"meta") and compared with the tensors of the file. While it is built, its layers are counted, and numbers that
no network of that size could have are refused.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import (
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)

from vera.errors import UnknownName
from vera.models.generator import Generator
from vera.models.network_modes import evaluation_mode
from vera.spec.registry import models
from vera.spec.trial_spec import split_component
from vera.training.state.random_state import use_seed

LARGEST_SETTING = 2**20
"""Whole numbers up to this are accepted in the settings of any network."""


def build_network(role: str, component: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> nn.Module:
    """The network of a component with these weights; raises ValueError with the reason if they do not fit."""
    name, settings = split_component(component)
    try:
        models.get(name)
    except UnknownName as error:
        raise ValueError(
            f"its {role} is the network '{name}', which is not registered: load the plug-in that defines it"
        ) from error
    _check_numbers(role, settings, tensors)
    dtype = _find_dtype(tensors)
    with _limit_layers(role, len(tensors)), use_seed(0):
        try:
            with torch.device("meta"):
                skeleton = models.create(name, **settings)
        except Exception:
            if name not in models.plugin_names():
                raise
            skeleton = models.create(name, **settings)  # it computes with values when it is built
    _check_is_module(role, skeleton)
    check_tensors(role, skeleton.to(dtype), tensors)
    with use_seed(0):
        network: nn.Module = models.create(name, **settings).to(dtype)
    network.load_state_dict(dict(tensors))
    return network


def fill_module(role: str, module: nn.Module, tensors: Mapping[str, Tensor]) -> nn.Module:
    """The user's module with these weights; it is not changed if they do not fit."""
    _check_is_module(role, module)
    check_tensors(role, module, tensors)
    module.load_state_dict(dict(tensors))
    return module


def check_tensors(role: str, network: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Raise ValueError, naming the first difference, unless the tensors are those of the network."""
    expected: dict[str, Tensor] = network.state_dict()
    if missing := [name for name in expected if name not in tensors]:
        raise ValueError(f"it lacks {role}.{missing[0]} ({len(missing)} missing for {role})")
    if extra := [name for name in tensors if name not in expected]:
        raise ValueError(f"the {role} has no place for {role}.{extra[0]} ({len(extra)} too many)")
    for name, tensor in tensors.items():
        found, wanted = _describe(tensor), _describe(expected[name])
        if found != wanted:
            raise ValueError(f"{role}.{name} is {found}, the network has {wanted}")


@torch.no_grad()
def check_forward(networks: Mapping[str, nn.Module], shape: tuple[int, ...]) -> None:
    """Raise ValueError unless the energy maps points to numbers and the generator makes points."""
    energy, generator = networks["energy"], networks.get("generator")
    weights = next(energy.parameters(), None)
    if weights is None:
        raise ValueError("its energy has no weights")
    with evaluation_mode(energy), use_seed(0):
        found = tuple(energy(torch.zeros(2, *shape).to(weights)).shape)
        if found != (2,):
            raise ValueError(f"its energy maps 2 points of shape {shape} to shape {found}, not (2,)")
        if isinstance(generator, Generator):
            made = tuple(generator.sample(2, running_averages=True).shape[1:])
            if made != shape:
                raise ValueError(f"its generator makes points of shape {made}, the data have {shape}")


def _describe(tensor: Any) -> str:
    if not isinstance(tensor, Tensor):
        return type(tensor).__name__
    return f"{str(tensor.dtype).removeprefix('torch.')} of shape {list(tensor.shape)}"


def _check_is_module(role: str, network: Any) -> None:
    if not isinstance(network, nn.Module):
        raise ValueError(f"its {role} must be a torch.nn.Module, got {type(network).__name__}")


def _find_dtype(tensors: Mapping[str, Tensor]) -> torch.dtype:
    """The dtype of the weights; float32 if they have several, which the comparison then reports."""
    found = {tensor.dtype for tensor in tensors.values() if tensor.is_floating_point()}
    return found.pop() if len(found) == 1 else torch.float32


def _check_numbers(role: str, settings: Any, tensors: Mapping[str, Tensor]) -> None:
    """Raise ValueError for a whole number above the number of weights: no size of the network is so large."""
    limit = max(LARGEST_SETTING, sum(tensor.numel() for tensor in tensors.values()))
    for value in _iterate_values(settings):
        if isinstance(value, int) and abs(value) > limit:
            raise ValueError(f"its {role} has the setting {str(value)[:30]}, too large for its weights")


def _iterate_values(value: Any) -> Iterator[Any]:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in items:
        yield from _iterate_values(item)
    yield value


@contextmanager
def _limit_layers(role: str, tensors: int) -> Iterator[None]:
    """Raise ValueError as soon as this thread builds far more layers than the file has tensors."""
    counts = {"weights": 0, "layers": 0}
    limits = {"weights": 4 * tensors + 100, "layers": 20 * tensors + 1000}
    thread = threading.get_ident()

    def count(kind: str) -> None:
        if threading.get_ident() == thread:
            counts[kind] += 1
            if counts[kind] > limits[kind]:
                raise ValueError(f"its {role} has more {kind} than the file has tensors for")

    hooks = [
        register_module_parameter_registration_hook(lambda *_: count("weights")),
        register_module_module_registration_hook(lambda *_: count("layers")),
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()

"""Loading a model file. No code is executed: networks are built by registered names only."""

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor, nn

from vera.errors import ModelFileError, SettingError
from vera.saved.facts import ModelFacts
from vera.saved.locate import locate_model
from vera.saved.model import SavedModel
from vera.saved.model_file import decode_model_file, read_model_file, report_file
from vera.saved.rebuild import build_network, check_forward, check_tensors, fill_module

METHOD_STATE = {"method.entropy.log_eta": (1, "one row of floats"), "method.log_normaliser": (0, "one float")}
"""Tensors of a method: number of axes, and what that means."""


def load_model(
    path: str | Path, *, device: str = "cpu", results: str | Path | None = None, **modules: nn.Module
) -> SavedModel:
    """The model in a file or an exported directory, or of a stored trial, on a device.

    A trial is given by its id or the beginning of it. Its model is looked up in the results directory
    `results`, or else in results/local and results/published of the working directory, then in the published
    results of the checkout.

    Networks with a registered name are rebuilt. Pass a module of your own by its role, such as
    `energy=MyNetwork()`; the weights of the file are loaded into it. `ModelFileError` names the file and what
    is wrong with it.
    """
    file = locate_model(path, results)
    return _build_model(str(file), read_model_file(file), device, modules)


def decode_model(content: bytes, name: str, *, device: str = "cpu", **modules: nn.Module) -> SavedModel:
    """The model of a file with this content, for stores that are no directory; errors call it by this
    name."""
    return _build_model(name, decode_model_file(content, name), device, modules)


def _build_model(
    name: str,
    content: tuple[Mapping[str, Tensor], Mapping[str, str]],
    device: str,
    modules: Mapping[str, nn.Module],
) -> SavedModel:
    tensors, metadata = content
    with report_file(name):
        facts = ModelFacts.from_metadata(metadata)
    for role in modules:
        if role not in facts.networks:
            raise SettingError(f"{name} has no network '{role}'; it has {', '.join(facts.networks)}.")
    _check_modules_given(name, facts, modules)
    with report_file(name):
        groups = _group_tensors(tensors, facts)
        networks = {}
        for role, component in facts.networks.items():
            if role in modules:
                networks[role] = fill_module(role, modules[role], groups[role])
            elif component is not None:
                networks[role] = build_network(role, component, groups[role])
        check_forward(networks, facts.shape)
        for role in {name.split(".")[1] for name in groups["ema"]}:
            prefix = f"ema.{role}."
            averaged = {n.removeprefix(prefix): t for n, t in groups["ema"].items() if n.startswith(prefix)}
            check_tensors(role, networks[role], averaged)
        model = SavedModel(networks, facts, {**groups["data"], **groups["method"], **groups["ema"]})
    return model.to(device)


def _check_modules_given(name: str, facts: ModelFacts, modules: Mapping[str, nn.Module]) -> None:
    missing = [
        role for role, component in facts.networks.items() if component is None and role not in modules
    ]
    if missing:
        arguments = ", ".join(f"{role}=..." for role in missing)
        raise ModelFileError(
            f"{name} holds weights of your own module: build it as for training and call "
            f"load_model(path, {arguments})."
        )


def _group_tensors(tensors: Mapping[str, Tensor], facts: ModelFacts) -> dict[str, dict[str, Tensor]]:
    """The tensors of each network without its prefix, and those of "data", "method" and "ema" with theirs."""
    groups: dict[str, dict[str, Tensor]] = {role: {} for role in facts.networks}
    others: dict[str, dict[str, Tensor]] = {"data": {}, "method": {}, "ema": {}}
    for name, tensor in tensors.items():
        owner, _, rest = name.partition(".")
        if owner in groups:
            groups[owner][rest] = tensor
        elif owner in others:
            others[owner][name] = tensor
        else:
            raise ValueError(f"it has the tensor {name}, which belongs to no network")
    _check_data_tensors(others["data"], facts)
    _check_method_state(others["method"])
    if any(name.count(".") < 2 or name.split(".")[1] not in groups for name in others["ema"]):
        raise ValueError("it has averaged weights (ema) of a network that it does not have")
    return groups | others


def _check_data_tensors(tensors: Mapping[str, Tensor], facts: ModelFacts) -> None:
    names = set(tensors)
    moments, scale = {"data.mean", "data.deviation"}, {"data.centre", "data.width"}
    if names not in (moments, moments | scale):
        raise ValueError(
            f"it must have {', '.join(sorted(moments))}, got {', '.join(sorted(names)) or 'none'}"
        )
    for name, tensor in tensors.items():
        if tuple(tensor.shape) != facts.shape or not tensor.is_floating_point():
            raise ValueError(f"{name} must be floats of shape {facts.shape}, got {tuple(tensor.shape)}")
        if not tensor.isfinite().all():
            raise ValueError(f"{name} is not finite")
    if (tensors["data.deviation"] < 0).any() or (
        "data.width" in names and (tensors["data.width"] <= 0).any()
    ):
        raise ValueError("data.deviation or data.width is negative")


def _check_method_state(tensors: Mapping[str, Tensor]) -> None:
    if unknown := sorted(set(tensors) - set(METHOD_STATE)):
        raise ValueError(f"it has unknown state of the method: {', '.join(unknown)}")
    for name, tensor in tensors.items():
        axes, meaning = METHOD_STATE[name]
        if tensor.ndim != axes or not tensor.is_floating_point():
            raise ValueError(f"{name} must be {meaning}")

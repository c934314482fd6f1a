"""Builds the objects that a trial spec describes: data set, networks, method, task and Trainer.

Settings that follow from the data (`data_dim`, `classes`, `channels`, `side`) or from the generator
(`latent_dim`) are inferred, so specs do not repeat them.
"""

from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import torch
from torch import nn

from vera.data.contract import DataSet
from vera.data.labelled import LabelledData
from vera.errors import CheckpointError, PluginError, SettingError, UnknownName, VeraError
from vera.extras import require_package
from vera.methods.contract import Method
from vera.spec.registry import Registry, datasets, methods, models, tasks, wrap_plugin_errors
from vera.spec.resolve import infer_settings
from vera.spec.settings import check_names, settings_of
from vera.spec.trial_spec import Component, TrialSpec, split_component
from vera.tasks.contract import Task
from vera.training.state.checkpoint import read_checkpoint
from vera.training.state.random_state import derive_seed, use_seed
from vera.training.trainer import Trainer


def build_dataset(component: Component, data_dir: str | Path | None = None) -> DataSet:
    """The data set of a spec. `data_dir` is passed to data sets that read files."""
    source = build_source(component, data_dir)
    if not isinstance(source, DataSet):
        raise _make_kind_error(component, source, "DataSet")
    return source


def build_labelled(component: Component, data_dir: str | Path | None = None) -> LabelledData:
    """The labelled data of a spec, before it is split by the seed."""
    source = build_source(component, data_dir)
    if not isinstance(source, LabelledData):
        raise _make_kind_error(component, source, "LabelledData")
    return source


def build_source(component: Component, data_dir: str | Path | None = None) -> Any:
    """The data set or labelled data that the component describes."""
    name, settings = split_component(component)
    if data_dir is not None and "data_dir" in settings_of(datasets.get(name)):
        settings["data_dir"] = str(data_dir)
    return datasets.create(name, **settings)


def locate_files(component: Component, data_dir: str | Path | None = None) -> None:
    """Raise `DataMissing` if a file that this data set will read with these settings does not exist, and
    `MissingExtra` if a package is missing that reads it."""
    name, _ = split_component(component)
    _call_class_method(component, "locate", data_dir)
    for package in getattr(datasets.get(name), "packages", ()):
        require_package(package, f"The data set '{name}'")


def verify_files(component: Component, data_dir: str | Path | None = None) -> None:
    """Raise `DataMissing` or `MissingExtra` as `locate_files` does, and `DataCorrupt` if a file is not the
    published one, as far as that is found within seconds."""
    locate_files(component, data_dir)
    _call_class_method(component, "verify", data_dir)


def _call_class_method(component: Component, method: str, data_dir: str | Path | None) -> None:
    """Call `method` of the data set's class, if it has one, with the settings that it takes."""
    name, settings = split_component(component)
    found = getattr(datasets.get(name), method, None)
    if found is not None:
        accepted = signature(found).parameters.keys() - {"data_dir"}
        found(data_dir, **{key: value for key, value in settings.items() if key in accepted})


def build_method(spec: TrialSpec, dataset: DataSet, registry: Registry[Any] = methods) -> Method:
    """The method of a spec with its networks, initialised from the spec's seed."""
    name, settings = split_component(spec.method)
    method = registry.get(name)
    if not isinstance(method, type) or not issubclass(method, Method):
        raise PluginError(f"The method '{name}' must be a subclass of vera.methods.Method, got {method!r}.")
    roles = method.network_names()
    for role in spec.networks:
        if role not in roles:
            raise UnknownName(f"The method '{name}' has no network '{role}'; it has {', '.join(roles)}.")
    check_names(f"method '{name}'", {s: 1 for s in settings_of(method) if s not in roles}, settings)
    if missing := [role for role in roles if role not in spec.networks]:
        raise VeraError(
            f"The method '{name}' needs the networks {', '.join(roles)}; missing: {', '.join(missing)}."
        )
    with use_seed(derive_seed(spec.seed, "networks")):
        return registry.create(name, **build_networks(spec.networks, roles, dataset), **settings)


def build_trainer(
    spec: TrialSpec | Mapping[str, Any],
    *,
    data_dir: str | Path | None = None,
    device: str = "cpu",
    **options: Any,
) -> Trainer:
    """A Trainer for a spec of the task "density". `options` go to the Trainer (evaluate, log_every, ...)."""
    if not isinstance(spec, TrialSpec):
        spec = TrialSpec.from_dict(spec)
    _check_is_density(spec.task_component)
    return build_plain_trainer(spec, data_dir=data_dir, device=device, **options)


def build_plain_trainer(
    spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
) -> Trainer:
    """A Trainer for the spec's method on its data set, without an evaluation; tasks build on it."""
    dataset = build_dataset(spec.dataset, data_dir)
    return assemble_trainer(spec, build_method(spec, dataset), dataset, device=device, **options)


def assemble_trainer(
    spec: TrialSpec, method: Method, dataset: DataSet, *, device: str = "cpu", **options: Any
) -> Trainer:
    """A Trainer with the steps, batch size and seed of the spec, which is stored in its checkpoints."""
    budget: dict[str, Any] = {"steps": spec.steps, "batch_size": spec.batch_size, "seed": spec.seed}
    options = {"ema": spec.ema} | options
    trainer = Trainer(method, dataset, device=device, **budget, **options)
    trainer.spec = spec.to_dict()
    return trainer


def load_trainer(
    path: str | Path, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
) -> Trainer:
    """The Trainer of a checkpoint, ready to continue. The run must have been built from a spec."""
    state = read_checkpoint(Path(path), torch.device(device))
    if not isinstance(state["spec"], dict):
        raise CheckpointError(
            f"{path} was not built from a spec: build its Trainer as before, then trainer.restore(path)."
        )
    spec = TrialSpec.from_dict(state["spec"])
    build = build_trainer if spec.task == "density" else build_task(spec).build
    trainer = build(spec, data_dir=data_dir, device=device, **options)
    trainer.restore(path)
    return trainer


def build_task(spec: TrialSpec) -> Task:
    """The task of a spec."""
    name, settings = split_component(spec.task_component)
    return tasks.create(name, **settings)


def compute_fingerprint(spec: TrialSpec, data_dir: str | Path | None = None) -> str:
    """The fingerprint of the spec's data."""
    source = build_source(spec.dataset, data_dir)
    with wrap_plugin_errors(f"computing the fingerprint of the data set '{spec.dataset['name']}'"):
        fingerprint: str = source.fingerprint
    return fingerprint


def build_networks(
    components: Mapping[str, Component],
    roles: Sequence[str],
    dataset: DataSet,
    modules: Mapping[str, nn.Module] | None = None,
) -> dict[str, Any]:
    """The networks by role, in the order of the roles: a given module, or the network of the component with
    inferred settings filled in."""
    inferred, networks = infer_settings(dataset), dict(modules or {})
    for role in roles:
        if role not in networks:
            name, settings = split_component(components[role])
            accepted = settings_of(models.get(name))
            defaults = {key: value for key, value in inferred.items() if key in accepted}
            networks[role] = models.create(name, **(defaults | settings))
        if hasattr(networks[role], "latent_dim"):
            inferred["latent_dim"] = networks[role].latent_dim
    return {role: networks[role] for role in roles}


def _check_is_density(component: Component) -> None:
    """Raise unless the task is "density": trained as a density, another task's trial would not be what its
    spec says."""
    if component == {"name": "density"}:
        return  # without importing all tasks
    name, settings = split_component(component)
    tasks.create(name, **settings)  # an unknown name or setting raises first
    if name != "density":
        raise SettingError(
            f"build_trainer trains densities, but the spec's task is '{name}': use "
            "vera.tasks.build.build_task(spec).build(spec). Your own tasks can build on build_plain_trainer."
        )


def _make_kind_error(component: Component, source: Any, wanted: str) -> PluginError:
    kind, name = type(source).__name__, component["name"]
    return PluginError(f"The data set '{name}' must be a vera.data.{wanted} for this task, got {kind}.")

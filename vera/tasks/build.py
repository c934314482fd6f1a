"""From a trial as plain data to the Trainer that runs it.

What follows from the data (`data_dim`, `classes`, `channels`, `side`) or from the generator (`latent_dim`) is
filled in, so that no spec repeats it.
"""

from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any

import torch

from vera.data.contract import DataSet
from vera.data.labelled import LabelledData
from vera.errors import CheckpointError, PluginError, SettingError, UnknownName, VeraError
from vera.methods.contract import Method
from vera.spec.registry import Registry, datasets, methods, models, tasks, wrap_plugin_errors
from vera.spec.settings import check_names, settings_of
from vera.spec.trial_spec import Component, TrialSpec
from vera.tasks.contract import Task
from vera.training.checkpoint import read_checkpoint
from vera.training.random_state import derive_seed, use_seed
from vera.training.trainer import Trainer


def build_dataset(part: Component, data_dir: str | Path | None = None) -> DataSet:
    """The data set of a spec; `data_dir` is passed on where the data set reads files."""
    source = build_source(part, data_dir)
    if not isinstance(source, DataSet):
        raise _wrong_kind(part, source, "DataSet")
    return source


def build_labelled(part: Component, data_dir: str | Path | None = None) -> LabelledData:
    """The labelled data of a spec, to be split by its seed."""
    source = build_source(part, data_dir)
    if not isinstance(source, LabelledData):
        raise _wrong_kind(part, source, "LabelledData")
    return source


def build_source(part: Component, data_dir: str | Path | None = None) -> Any:
    """Whatever the name stands for: a data set, or labelled data."""
    name, settings = _split(part)
    if data_dir is not None and "data_dir" in settings_of(datasets.get(name)):
        settings["data_dir"] = str(data_dir)
    return datasets.create(name, **settings)


def locate_files(part: Component, data_dir: str | Path | None = None) -> None:
    """`DataMissing` if a file is not there that this data set, with these settings, will read."""
    name, settings = _split(part)
    locate = getattr(datasets.get(name), "locate", None)
    if locate is not None:
        asked = signature(locate).parameters
        locate(
            data_dir, **{key: value for key, value in settings.items() if key in asked and key != "data_dir"}
        )


def build_method(spec: TrialSpec, dataset: DataSet, registry: Registry[Any] = methods) -> Method:
    """The method of a spec with its networks, initialised from the spec's seed."""
    name, settings = _split(spec.method)
    method = registry.get(name)
    if not isinstance(method, type) or not issubclass(method, Method):
        raise PluginError(f"The method '{name}' must be a subclass of vera.methods.Method, got {method!r}.")
    roles = method.network_names()
    for role in spec.networks:
        if role not in roles:
            raise UnknownName(f"The method '{name}' has no network '{role}'; it has {', '.join(roles)}.")
    check_names(f"method '{name}'", {s: 1 for s in settings_of(method) if s not in roles}, settings)
    missing = [role for role in roles if role not in spec.networks]
    if missing:
        raise VeraError(
            f"The method '{name}' needs the networks {', '.join(roles)}; {', '.join(missing)} not given."
        )
    facts = {name: getattr(dataset, name, None) for name in ("data_dim", "classes", "channels", "side")}
    known = {name: fact for name, fact in facts.items() if fact is not None}
    networks = {}
    with use_seed(derive_seed(spec.seed, "networks")):
        for role in roles:
            networks[role] = _build_network(spec.networks[role], known)
            known |= (
                {"latent_dim": networks[role].latent_dim} if hasattr(networks[role], "latent_dim") else {}
            )
        return registry.create(name, **networks, **settings)


def build_trainer(
    spec: TrialSpec | Mapping[str, Any],
    *,
    data_dir: str | Path | None = None,
    device: str = "cpu",
    **options: Any,
) -> Trainer:
    """A Trainer for the spec of a density. `options` go to the Trainer (evaluate, log_every, progress,
    ...)."""
    if not isinstance(spec, TrialSpec):
        spec = TrialSpec.from_dict(spec)
    _refuse_other_task(spec.task_component)
    return build_plain_trainer(spec, data_dir=data_dir, device=device, **options)


def build_plain_trainer(
    spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
) -> Trainer:
    """What a task builds upon: the spec's method on its data set, whatever the task."""
    dataset = build_dataset(spec.dataset, data_dir)
    method = build_method(spec, dataset)
    trainer = Trainer(
        method,
        dataset,
        steps=spec.steps,
        batch_size=spec.batch_size,
        seed=spec.seed,
        device=device,
        **options,
    )
    trainer.spec = spec.to_dict()
    return trainer


def load_trainer(
    path: str | Path, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
) -> Trainer:
    """A Trainer rebuilt from a checkpoint alone, ready to go on. Only runs that were built from a spec can
    be."""
    state = read_checkpoint(Path(path), torch.device(device))
    if state["spec"] is None:
        raise CheckpointError(
            f"{path} was not built from a spec: build its Trainer as before, then trainer.restore(path)."
        )
    spec = TrialSpec.from_dict(state["spec"])
    build = build_trainer if spec.task == "density" else build_task(spec).build
    trainer = build(spec, data_dir=data_dir, device=device, **options)
    trainer.restore(path)
    return trainer


def _refuse_other_task(part: Component) -> None:
    """Another task is built, and measured, by its own rules; trained as a density it would be another trial
    than its spec says."""
    if part == {"name": "density"}:
        return
    name, settings = _split(part)
    tasks.create(name, **settings)  # a name or a setting that there is not is refused first
    if name != "density":
        raise SettingError(
            f"build_trainer trains densities, and the spec's task is '{name}': take vera.tasks.build.build_task(spec).build(spec). "
            "A task of your own builds upon vera.tasks.build.build_plain_trainer(spec)."
        )


def _wrong_kind(part: Component, source: Any, wanted: str) -> PluginError:
    return PluginError(
        f"The data set '{part['name']}' must be a vera.data.{wanted} for this task, got {type(source).__name__}."
    )


def _split(part: Component) -> tuple[str, dict[str, Any]]:
    return part["name"], {key: value for key, value in part.items() if key != "name"}


def _build_network(part: Component, known: dict[str, int]) -> Any:
    name, settings = _split(part)
    accepted = settings_of(models.get(name))
    inferred = {key: value for key, value in known.items() if key in accepted}
    return models.create(name, **(inferred | settings))


def build_task(spec: TrialSpec) -> Task:
    settings = dict(spec.task_component)
    return tasks.create(settings.pop("name"), **settings)


def data_fingerprint(spec: TrialSpec, data_dir: str | Path | None = None) -> str:
    source = build_source(spec.dataset, data_dir)
    with wrap_plugin_errors(f"asking the data set '{spec.dataset['name']}' for its fingerprint"):
        fingerprint: str = source.fingerprint
    return fingerprint

"""Specs with all settings written out: what a spec leaves to a default becomes explicit, except for settings
with the note `OmitDefault`.

Two spellings of one trial resolve to the same plain data, which the identity of a trial and the file of a
saved model are made of. This module does not load torch; looking up a name in a registry does.
"""

from typing import Any

from vera.spec.registry import Registry, datasets, models, tasks
from vera.spec.settings import Setting, check_names, check_value, settings_of
from vera.spec.trial_spec import Component, TrialSpec, split_component

PATHS = ("data_dir",)
"""Settings that name a location; they decide no number."""
COMPONENTS = ("dataset", "networks", "method", "task")
"""The fields of a spec that have settings of their own."""
INFERRED_FROM_DATA = ("data_dim", "classes", "channels", "side")
"""Settings of networks that follow from the data."""


def resolve_spec(spec: TrialSpec) -> dict[str, Any]:
    """The spec as plain data, with all defaults written out."""
    name, settings = split_component(spec.task_component)
    task = tasks.create(name, **settings)
    return spec.to_dict() | {
        "dataset": resolve_component(datasets, spec.dataset),
        "method": resolve_component(task.methods, spec.method),
        "networks": {
            role: resolve_component(models, component, INFERRED_FROM_DATA)
            for role, component in spec.networks.items()
        },
        "task": _resolve_task(spec.task_component),
    }


def resolve_component(
    registry: Registry[Any], component: Component, inferred: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The name and all settings, checked and in their annotated type: two spellings are one trial."""
    name, known = component["name"], find_settings(registry, component["name"])
    defaults = {s.name: s.default for s in known.values() if not s.is_required and s.name not in inferred}
    given = {key: value for key, value in component.items() if key != "name"}
    check_names(f"{registry.kind} '{name}'", known, given)
    values = {
        key: check_value(name, key, value, known[key].annotation) for key, value in (defaults | given).items()
    }
    shown = {
        key: value for key, value in values.items() if key not in PATHS and not known[key].is_omitted(value)
    }
    return {"name": name} | {key: _to_lists(value) for key, value in shown.items()}


def find_settings(registry: Registry[Any], name: str) -> dict[str, Setting]:
    """The settings of a component by name. The networks of a method are not among them."""
    factory = registry.get(name)
    networks = factory.network_names() if hasattr(factory, "network_names") else ()
    return {key: setting for key, setting in settings_of(factory).items() if key not in networks}


def list_components(spec: TrialSpec) -> dict[str, tuple[Registry[Any], str]]:
    """The registry and the name of every component, by dotted path: dataset, method, networks.energy."""
    task, settings = split_component(spec.task_component)
    return {
        "dataset": (datasets, spec.dataset["name"]),
        "method": (tasks.create(task, **settings).methods, spec.method["name"]),
        "task": (tasks, task),
        **{f"networks.{role}": (models, each["name"]) for role, each in spec.networks.items()},
    }


def list_settings(spec: TrialSpec) -> dict[str, Setting]:
    """Everything that can be set in a spec, by dotted path: steps, method.lr, networks.energy.hidden."""
    found = {name: each for name, each in settings_of(TrialSpec).items() if name not in COMPONENTS}
    for path, (registry, name) in list_components(spec).items():
        left_out = (*PATHS, *(INFERRED_FROM_DATA if registry is models else ()))
        own = find_settings(registry, name).items()
        found |= {f"{path}.{key}": setting for key, setting in own if key not in left_out}
    return found


def infer_settings(data: Any) -> dict[str, Any]:
    """The settings of networks that follow from the data."""
    facts = {name: getattr(data, name, None) for name in INFERRED_FROM_DATA}
    return {name: fact for name, fact in facts.items() if fact is not None}


def _to_lists(value: Any) -> Any:
    return [_to_lists(item) for item in value] if isinstance(value, tuple | list) else value


def _resolve_task(component: Component) -> Any:
    """A task without settings is given by its name alone."""
    task = resolve_component(tasks, component)
    return task if len(task) > 1 else task["name"]

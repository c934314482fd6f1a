"""A trial's identity: the hash of canonical JSON that says everything which decides its numbers, and nothing
else.

Every setting is written out, defaults too, so that a changed default is another trial and a default that is
spelled out is the same one. The data's fingerprint and the protocol version are in it; paths, hosts, devices,
order and launchers are not. Raise PROTOCOL by hand when a change to the code makes old results incomparable.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Any, Literal

from sweeps.trial.canonical_json import canonical_json
from vera.spec.registry import Registry, datasets, models, tasks
from vera.spec.settings import check_names, check_value, settings_of
from vera.spec.trial_spec import Component, TrialSpec

PROTOCOL = 1
Profile = Literal["smoke", "laptop", "paper"]
PATHS = ("data_dir",)
"""Settings that say where something lies; they decide no number."""
INFERRED = ("data_dim", "classes", "channels", "side")
"""Settings of networks that follow from the data, whose fingerprint is in the identity already."""


@dataclass(frozen=True)
class Trial:
    """One training run as it stands in a sweep. `sweep` and `label` are for people and not part of what it
    is."""

    spec: TrialSpec
    profile: Profile = "laptop"
    sweep: str = field(default="", compare=False)
    label: str = field(default="", compare=False)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What the id is the hash of, as plain data. Loads torch, for it asks the data and every setting's
        owner."""
        from vera.tasks.build import data_fingerprint

        register_tables()
        return {
            "protocol": PROTOCOL,
            "profile": self.profile,
            "data_fingerprint": data_fingerprint(self.spec),
            **resolved(self.spec),
        }

    @cached_property
    def id(self) -> str:
        return hashlib.sha256(canonical_json(self.facts).encode()).hexdigest()[:16]

    @property
    def name(self) -> str:
        return self.label or self.spec.method["name"]

    @property
    def data(self) -> str:
        """What people call its data set: of a file the file's name."""
        return str(self.spec.dataset.get("file", self.spec.dataset["name"]))

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any], sweep: str = "", label: str = "") -> "Trial":
        """The trial that a stored row's `spec` describes, ready to run."""
        register_tables()
        outside = ("protocol", "profile", "data_fingerprint")
        return cls(
            TrialSpec.from_dict({k: v for k, v in facts.items() if k not in outside}),
            facts["profile"],
            sweep,
            label,
        )

    @classmethod
    def as_told(cls, facts: Mapping[str, Any], sweep: str = "", label: str = "") -> "Trial":
        """The same under the id that it has where it was asked for, whatever the data and the defaults are
        here."""
        trial = cls.from_facts(facts, sweep, label)
        vars(trial)["facts"] = dict(
            facts
        )  # where a cached property keeps its value; a copy of the trial finds its own
        return trial

    def difference_here(self) -> str:
        """Why it is another trial in this process than its facts say, in one line; empty if it is the
        same."""
        here = replace(self)
        if here.id == self.id:
            return ""
        asked, found = self.facts["data_fingerprint"], here.facts["data_fingerprint"]
        if asked != found:
            return f"the data on this node differ from the driver's: their fingerprint is {found} here, {asked} there"
        return f"the trial is another one on this node, {here.id}: the code or a plug-in differs from the driver's"


def register_tables() -> None:
    """Make known the data sets that live in this layer. By name and late, because they load torch."""
    datasets.register("parquet")(import_module("sweeps.parquet_table").ParquetTable)


def resolved(spec: TrialSpec) -> dict[str, Any]:
    """The spec with every default written out."""
    from vera.tasks.build import build_task

    return spec.to_dict() | {
        "dataset": _resolve(datasets, spec.dataset),
        "method": _resolve(build_task(spec).methods, spec.method),
        "networks": {role: _resolve(models, part, INFERRED) for role, part in spec.networks.items()},
        "task": _resolved_task(spec.task_component),
    }


def _resolved_task(part: Component) -> Any:
    """A task without settings is its name."""
    task = _resolve(tasks, part)
    return task if len(task) > 1 else task["name"]


def data_parts(trials: Iterable[Trial]) -> list[Component]:
    """Each data set of theirs once."""
    return list({canonical_json(trial.spec.dataset): trial.spec.dataset for trial in trials}.values())


def with_seed(trial: Trial, seed: int) -> Trial:
    return replace(trial, spec=replace(trial.spec, seed=seed))


def plugged(registry: Registry[Any], networks: Collection[str]) -> Iterator[tuple[str, list[str], Component]]:
    """Methods that plug-ins bring, as tables take them, as far as these networks are all they need: the name,
    its networks, and every default written out, to tell it from others of its name. One that lacks a default
    is left out."""
    for name in registry.plugin_names():
        roles = registry.get(name).network_names()
        if set(roles) <= set(networks) and not without_default(registry.get(name)):
            yield name, roles, _resolve(registry, {"name": name})


def without_default(method: Any) -> list[str]:
    """The settings of a method that must be given."""
    return [
        s.name for s in settings_of(method).values() if s.is_required and s.name not in method.network_names()
    ]


def _resolve(registry: Registry[Any], part: Component, inferred: tuple[str, ...] = ()) -> dict[str, Any]:
    """{"name", and all settings by name}, checked and in their annotated type, so that two spellings are one
    trial."""
    name, factory = part["name"], registry.get(part["name"])
    networks = factory.network_names() if hasattr(factory, "network_names") else ()
    known = {key: setting for key, setting in settings_of(factory).items() if key not in networks}
    defaults = {s.name: s.default for s in known.values() if not s.is_required and s.name not in inferred}
    given = {key: value for key, value in part.items() if key != "name"}
    check_names(f"{registry.kind} '{name}'", known, given)
    values = {
        key: check_value(name, key, value, known[key].annotation) for key, value in (defaults | given).items()
    }
    return {"name": name} | {key: _plain(value) for key, value in values.items() if key not in PATHS}


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value

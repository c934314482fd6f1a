"""A trial's identity: a hash of canonical JSON that holds everything which decides the trial's numbers, and
nothing else.

All settings are in it, defaults included. So a changed default makes another trial, and writing a default out
does not. The data fingerprint and the protocol version are in it; paths, hosts, devices, order and launchers
are not. Raise PROTOCOL by hand when a change to the code makes old results incomparable.
`sweeps.trial.matching` is the second definition of sameness: it finds the rows of a trial by the settings
that the trial declares.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Any, Literal

from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.spec_cache import spec_cache
from vera.spec.registry import Registry, datasets
from vera.spec.resolve import resolve_component, resolve_spec
from vera.spec.settings import settings_of
from vera.spec.trial_spec import Component, TrialSpec

PROTOCOL = 1
Profile = Literal["smoke", "laptop", "paper"]


@dataclass(frozen=True)
class Trial:
    """One training run of a sweep. `sweep` and `label` are for people and not part of the identity."""

    spec: TrialSpec
    profile: Profile = "laptop"
    sweep: str = field(default="", compare=False)
    label: str = field(default="", compare=False)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The data whose hash is the id. Imports torch unless they are known from an earlier command: the
        data set and the classes of all components are needed."""
        derived = spec_cache.find("facts", self.spec, lambda: _derive_facts(self.spec))
        return {"protocol": PROTOCOL, "profile": self.profile, **derived, "seed": self.spec.seed}

    @cached_property
    def id(self) -> str:
        """The first 16 hexadecimal digits of the hash of `facts`."""
        return hashlib.sha256(canonical_json(self.facts).encode()).hexdigest()[:16]

    @property
    def name(self) -> str:
        """The label, or the name of the method if there is none."""
        return self.label or self.spec.method["name"]

    @property
    def data(self) -> str:
        """The data set's name for people: the name of the file, if it is one."""
        return str(self.spec.dataset.get("file", self.spec.dataset["name"]))

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any], sweep: str = "", label: str = "") -> "Trial":
        """The trial that the `spec` of a stored row describes, ready to run."""
        register_tables()
        outside = ("protocol", "profile", "data_fingerprint")
        spec = TrialSpec.from_dict({key: value for key, value in facts.items() if key not in outside})
        return cls(spec, facts["profile"], sweep, label)

    @classmethod
    def from_pinned_facts(cls, facts: Mapping[str, Any], sweep: str = "", label: str = "") -> "Trial":
        """The same trial with exactly these facts, and so with the id that it has on the driver, whatever the
        data and the defaults are on this node. A copy of the trial computes its own facts."""
        trial = cls.from_facts(facts, sweep, label)
        vars(trial)["facts"] = dict(facts)  # sets the value of the cached property
        return trial

    def explain_difference(self) -> str:
        """Why the trial has another id in this process than its pinned facts give, in one line; empty if it
        has the same."""
        here = replace(self)
        if here.id == self.id:
            return ""
        pinned, found = self.facts["data_fingerprint"], here.facts["data_fingerprint"]
        if pinned != found:
            return (
                "the data on this node differ from the driver's: "
                f"their fingerprint is {found} here and {pinned} there"
            )
        return f"the trial's id is {here.id} on this node: the code or a plug-in differs from the driver's"


def _derive_facts(spec: TrialSpec) -> dict[str, Any]:
    """The resolved spec and the fingerprint of its data."""
    from vera.tasks.build import compute_fingerprint

    register_tables()
    return {"data_fingerprint": compute_fingerprint(spec), **resolve_spec(spec)}


def register_tables() -> None:
    """Register the data sets of this layer. They are imported late because they import torch."""
    datasets.register("parquet")(import_module("sweeps.parquet_table").ParquetTable)


def collect_datasets(trials: Iterable[Trial]) -> list[Component]:
    """The data sets of the trials, each once."""
    return list({canonical_json(trial.spec.dataset): trial.spec.dataset for trial in trials}.values())


def reseed(trial: Trial, seed: int) -> Trial:
    """The trial with another seed."""
    return replace(trial, spec=replace(trial.spec, seed=seed))


def find_plugin_methods(
    registry: Registry[Any], networks: Collection[str]
) -> Iterator[tuple[str, list[str], Component]]:
    """The methods of plug-ins that need no other networks than these: name, networks, and the method with all
    defaults written out, which tells it from other methods of the same name. Methods with a setting that has
    no default are left out."""
    for name in registry.plugin_names():
        roles = registry.get(name).network_names()
        if set(roles) <= set(networks) and not find_required_settings(registry.get(name)):
            yield name, roles, resolve_component(registry, {"name": name})


def find_required_settings(method: Any) -> list[str]:
    """The settings of a method that have no default."""
    settings, networks = settings_of(method).values(), method.network_names()
    return [setting.name for setting in settings if setting.is_required and setting.name not in networks]

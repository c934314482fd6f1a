"""The catalogue: every table, figure and sweep by name, imported when it is asked for. Loads neither torch nor ray.

A paper is a package of `bench/` with a module `artifacts.py` that lists what it declares:

    ARTIFACTS = {"table2": "bench.other.tables.table2:Table2", ...}    name → module:class (or a dict by name)
    SWEEPS = {"table2-grid": "bench.other.experiments.flow:grid"}      optional; name → module:Sweep
    NOTHING_TO_RUN = {"table1": "why there is nothing to run"}         optional

Names are qualified by the package, as in `other/table2`, unless the module sets `PREFIX = ""`, as the VERA paper
and the searches do. A bare name finds an unqualified artifact first, then the only one that has this name.
Adding a paper needs no edit outside its own folder. Plug-ins add artifacts of their own with `catalogue.register`.
"""

import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import bench
from bench.artifact import Artifact
from sweeps.trial.sweep import Sweep, find_sweep, sweeps
from vera.errors import SettingError, UnknownName, VeraError
from vera.spec.settings import by_number, suggest
from vera.spec.trial_spec import Component


@dataclass(frozen=True)
class Collection:
    """What one package declares, by qualified name; values are `module:attribute`."""

    artifacts: Mapping[str, str] = field(default_factory=dict)
    sweeps: Mapping[str, str] = field(default_factory=dict)
    nothing_to_run: Mapping[str, str] = field(default_factory=dict)
    prefix: str = ""

    @classmethod
    def read(cls, package: str) -> "Collection":
        module = import_module(f"{package}.artifacts")
        prefix = getattr(module, "PREFIX", f"{package.rpartition('.')[2]}/")

        def listed(name: str) -> dict[str, str]:
            return {f"{prefix}{key}": value for key, value in getattr(module, name, {}).items()}

        return cls(listed("ARTIFACTS"), listed("SWEEPS"), listed("NOTHING_TO_RUN"), prefix)


def find_collections() -> Iterator[str]:
    """The packages of bench that list artifacts."""
    for package in pkgutil.iter_modules(bench.__path__, "bench."):
        if package.ispkg and find_spec(f"{package.name}.artifacts") is not None:
            yield package.name


class Catalogue:
    """Artifacts and sweeps by name."""

    def __init__(self) -> None:
        self._loaded: dict[str, Artifact] = {}
        self._registered: dict[str, Artifact] = {}

    @cached_property
    def collections(self) -> list[Collection]:
        """Those without a prefix come first."""
        return sorted(map(Collection.read, find_collections()), key=lambda each: each.prefix)

    def register(self, kind: type[Artifact]) -> type[Artifact]:
        """As a decorator in a plug-in: an artifact of the user's own."""
        if kind.name in self.artifact_names() and not isinstance(self._registered.get(kind.name), kind):
            known = self._registered.get(kind.name)
            if known is None or type(known).__qualname__ != kind.__qualname__:
                raise VeraError(
                    f"The name '{kind.name}' is taken: give the artifact {kind.__qualname__} another name."
                )
        self._registered[kind.name] = kind()
        return kind

    def artifact_names(self) -> list[str]:
        return [*(name for each in self.collections for name in each.artifacts), *self._registered]

    def artifact(self, name: str) -> Artifact:
        """By its qualified name, or by a bare name that only one artifact has."""
        qualified = self.qualify(name)
        if qualified is None:
            raise UnknownName(
                f"There is no table or figure '{name}'.{suggest(name, self.artifact_names())} To list them: vera list"
            )
        if qualified in self._registered:
            return self._registered[qualified]
        if qualified not in self._loaded:
            self._loaded[qualified] = self._load(qualified)
        return self._loaded[qualified]

    def artifacts(self) -> list[Artifact]:
        """All of them, in the order in which they are listed."""
        return [self.artifact(name) for name in self.artifact_names()]

    def qualify(self, name: str) -> str | None:
        """The full name of the artifact that a name means; None if there is none, or if several papers have it."""
        names = self.artifact_names()
        if name in names:
            return name
        found = [known for known in names if known.endswith(f"/{name}")]
        return found[0] if len(found) == 1 else None

    def on_dataset(self, artifact: Artifact, dataset: Component) -> Artifact:
        """The same artifact on other data; `SettingError` names those that take other data."""
        if not artifact.accepts_other_data:
            takers = [
                a.name for a in self.artifacts() if a.accepts_other_data and not a.name.startswith("figure")
            ]
            listed = ", ".join(sorted(takers, key=by_number))
            raise SettingError(f"{artifact.name} has data of its own; --dataset goes with {listed}.")
        return artifact.on(dataset)

    def __contains__(self, name: str) -> bool:
        return self.qualify(name) is not None

    def why_not_run(self, name: str) -> str | None:
        """For a table of a paper that is not declared: why there is nothing to run."""
        return next(
            (each.nothing_to_run[name] for each in self.collections if name in each.nothing_to_run), None
        )

    def sweep_names(self) -> list[str]:
        """Of every sweep: artifacts that list their trials, grids, and what `sweeps` and plug-ins register."""
        listed = [artifact.name for artifact in self.artifacts() if artifact.listed]
        return [*listed, *(name for each in self.collections for name in each.sweeps), *sweeps.names()]

    def sweep(self, name: str) -> Sweep:
        """By name, or `spec:FILE`: see `sweeps.trial.sweep.find_sweep`."""
        if name in self and self.artifact(name).listed:
            return self.artifact(name).sweep()
        for each in self.collections:
            if name in each.sweeps:
                found: Sweep = load_attribute(each.sweeps[name], name)
                return found
        if ":" in name or name in sweeps:
            return find_sweep(name)
        raise UnknownName(
            f"There is no sweep '{name}'.{suggest(name, self.sweep_names())} To list them: vera list"
        )

    def _load(self, qualified: str) -> Artifact:
        collection = next(each for each in self.collections if qualified in each.artifacts)
        kind = load_attribute(collection.artifacts[qualified], qualified.removeprefix(collection.prefix))
        if kind.name != qualified:
            kind = type(kind.__name__, (kind,), {"name": qualified})
        made: Artifact = kind()
        return made


def load_attribute(address: str, name: str) -> Any:
    """What `module:attribute` names; of a mapping, the entry of this name."""
    module, _, attribute = address.partition(":")
    found = getattr(import_module(module), attribute)
    return found[name] if isinstance(found, Mapping) else found


catalogue = Catalogue()

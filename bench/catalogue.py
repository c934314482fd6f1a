"""The catalogue: every table, figure and sweep by name. Loads neither torch nor ray.

A paper is a package of `bench/` with a module `artifacts.py` that names what it declares:

    ARTIFACTS = {"table2": "bench.other.tables:Table2", ...}      name → module:class, or module:dict by name
    SWEEPS = {"table2-grid": "bench.other.experiments:grid"}      optional; name → module:Sweep
    NOTHING_TO_RUN = {"table1": "why there is nothing to run"}    optional
    UNLISTED = ("searches",)                                      optional; artifacts that are not sweeps
    PAGES = "bench.other.pages:list_pages"                        optional; its parts of the documentation

Names are qualified by the package, as in `other/table2`, unless the module sets `PREFIX = ""`, as the VERA
paper does. A bare name means the unqualified artifact, else the only one of that name. A new paper needs no
edit outside its folder. Plug-ins add artifacts with `catalogue.register`.

Names are known without importing anything but the `artifacts.py` modules; an artifact is imported on first
use.
"""

import pkgutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from importlib.machinery import PathFinder
from typing import Any

import bench
from bench.artifact import Artifact
from sweeps.trial.sweep import Sweep, find_sweep, join_sweeps, sweeps
from vera.errors import SettingError, UnknownName, VeraError
from vera.spec.settings import by_number, suggest
from vera.spec.trial_spec import Component

EVERYTHING = "all"
"""The name of all tables and figures together."""


@dataclass(frozen=True)
class PaperListing:
    """What one package declares, by qualified name; values are `module:attribute`."""

    artifacts: Mapping[str, str] = field(default_factory=dict)
    sweeps: Mapping[str, str] = field(default_factory=dict)
    nothing_to_run: Mapping[str, str] = field(default_factory=dict)
    unlisted: Collection[str] = ()
    prefix: str = ""
    pages: str = ""
    """A function of the results at `laptop` and at `paper` that lists pages; see `bench.publishing.pages`."""

    @classmethod
    def read(cls, package: str) -> "PaperListing":
        """The declarations of `package`.artifacts."""
        module = import_module(f"{package}.artifacts")
        prefix = getattr(module, "PREFIX", f"{package.rpartition('.')[2]}/")

        def read_names(name: str) -> dict[str, str]:
            return {f"{prefix}{key}": value for key, value in getattr(module, name, {}).items()}

        unlisted = [f"{prefix}{name}" for name in getattr(module, "UNLISTED", ())]
        return cls(
            read_names("ARTIFACTS"),
            read_names("SWEEPS"),
            read_names("NOTHING_TO_RUN"),
            unlisted,
            prefix,
            getattr(module, "PAGES", ""),
        )

    def load_artifact(self, qualified: str) -> Artifact:
        """An instance of the class; its name, and those of its companions, become qualified."""
        kind = load_attribute(self.artifacts[qualified], qualified.removeprefix(self.prefix))
        if kind.name != qualified:
            own = [f"{self.prefix}{name}" for name in kind.companions]
            companions = tuple(
                full if full in self.artifacts else name
                for full, name in zip(own, kind.companions, strict=True)
            )
            kind = type(kind.__name__, (kind,), {"name": qualified, "companions": companions})
        made: Artifact = kind()
        return made

    def load_sweep(self, qualified: str) -> Sweep:
        found: Sweep = load_attribute(self.sweeps[qualified], qualified.removeprefix(self.prefix))
        return replace(found, name=qualified)


def find_papers() -> Iterator[str]:
    """The packages of bench with a module `artifacts`. Imports none of them."""
    for info in pkgutil.iter_modules(bench.__path__):
        package = PathFinder.find_spec(f"bench.{info.name}", bench.__path__) if info.ispkg else None
        folders = package.submodule_search_locations if package else None
        if package and PathFinder.find_spec(f"{package.name}.artifacts", folders):
            yield package.name


class Catalogue:
    """Artifacts and sweeps by name."""

    def __init__(self) -> None:
        self._loaded: dict[str, Artifact] = {}
        self._registered: dict[str, Artifact] = {}

    @cached_property
    def papers(self) -> list[PaperListing]:
        """Those without a prefix come first."""
        return sorted(map(PaperListing.read, find_papers()), key=lambda paper: paper.prefix)

    def register(self, kind: type[Artifact]) -> type[Artifact]:
        """Add an artifact, as a decorator in a plug-in. Loading the same file again replaces it; VeraError if
        another artifact or sweep has the name."""
        known = self._registered.get(kind.name)
        is_same = (type(known).__module__, type(known).__qualname__) == (kind.__module__, kind.__qualname__)
        taken = {EVERYTHING, *self.artifact_names(), *self.sweep_names()}
        if not is_same and kind.name in taken:
            raise VeraError(_describe_clash(kind.name, f"the artifact {kind.__qualname__}"))
        self._registered[kind.name] = kind()
        return kind

    def check_plugin_sweeps(self) -> None:
        """Raise VeraError if a plug-in registered a sweep under the name of an artifact or of another
        sweep."""
        declared = {EVERYTHING, *self.artifact_names()}
        declared |= {name for paper in self.papers for name in paper.sweeps}
        for name in sweeps.plugin_names():
            if name in declared:
                raise VeraError(_describe_clash(name, "the sweep of the plug-in"))

    def artifact_names(self) -> list[str]:
        """Qualified names of all artifacts."""
        return [*(name for paper in self.papers for name in paper.artifacts), *self._registered]

    def artifact(self, name: str) -> Artifact:
        """By qualified name, or by a bare name that only one artifact has."""
        qualified = self.qualify(name)
        if qualified is None:
            raise UnknownName(self._explain_unknown(f"table or figure '{name}'", name, self.artifact_names()))
        if qualified in self._registered:
            return self._registered[qualified]
        if qualified not in self._loaded:
            paper = next(paper for paper in self.papers if qualified in paper.artifacts)
            self._loaded[qualified] = paper.load_artifact(qualified)
        return self._loaded[qualified]

    def artifacts(self) -> list[Artifact]:
        """All artifacts, in the order of `artifact_names`."""
        return [self.artifact(name) for name in self.artifact_names()]

    def qualify(self, name: str) -> str | None:
        """The qualified name of the artifact that a name means; None if there is none, or several."""
        return _find_only(name, self.artifact_names())

    def __contains__(self, name: str) -> bool:
        return self.qualify(name) is not None

    def on_dataset(self, artifact: Artifact, dataset: Component) -> Artifact:
        """The same artifact on other data; SettingError lists the artifacts that take other data."""
        if not artifact.takes:
            takers = sorted((each.name for each in self.artifacts() if each.takes), key=by_number)
            listed = ", ".join(name for name in takers if not name.startswith("figure"))
            raise SettingError(f"{artifact.name} has data of its own. These take --dataset: {listed}.")
        return artifact.on(dataset)

    def explain_not_run(self, name: str) -> str | None:
        """Why there is nothing to run for a table of a paper that is not declared; None for other names."""
        reasons = {key: why for paper in self.papers for key, why in paper.nothing_to_run.items()}
        found = _find_only(name, reasons)
        return None if found is None or name in self else reasons[found]

    def sweep_names(self) -> list[str]:
        """Qualified names of all sweeps, each once: artifacts, tuning grids, and registered sweeps."""
        names = [name for paper in self.papers for name in paper.artifacts if name not in paper.unlisted]
        names += [name for name, artifact in self._registered.items() if artifact.listed]
        names += [name for paper in self.papers for name in paper.sweeps]
        return list(dict.fromkeys([*names, *sweeps.names()]))

    def sweep(self, name: str) -> Sweep:
        """By name, `all` or `spec:FILE`; see `sweeps.trial.sweep.find_sweep`."""
        if ":" in name:
            return find_sweep(name)
        if name == EVERYTHING:
            return self.join_artifacts()
        found = _find_only(name, self.sweep_names())
        if found is None:
            raise UnknownName(self._explain_unknown(f"sweep '{name}'", name, self.sweep_names()))
        for paper in self.papers:
            if found in paper.sweeps:
                return paper.load_sweep(found)
        return self.artifact(found).sweep() if found in self.artifact_names() else find_sweep(found)

    def join_artifacts(self) -> Sweep:
        """The trials of all tables and figures as one sweep, without searches, whose trials cannot be listed,
        and without demos."""
        wanted = [artifact for artifact in self.artifacts() if artifact.listed and not artifact.optional]
        parts = [artifact.sweep() for artifact in wanted if artifact.needs_rows]
        return join_sweeps(EVERYTHING, "every table and figure", parts)

    def _explain_unknown(self, what: str, name: str, known: Iterable[str]) -> str:
        if several := [each for each in known if each.endswith(f"/{name}")]:
            return f"Several papers have a {what}: {', '.join(several)}. Use the qualified name."
        return f"There is no {what}.{suggest(name, known)} To list them: vera list"


def load_attribute(address: str, name: str = "") -> Any:
    """The attribute of `module:attribute`; if it is a mapping, its entry `name`."""
    module, _, attribute = address.partition(":")
    found = getattr(import_module(module), attribute)
    return found[name] if isinstance(found, Mapping) else found


def _find_only(name: str, known: Collection[str]) -> str | None:
    """The name itself if it is known, else the only qualified name that ends in it."""
    if name in known:
        return name
    found = [each for each in known if each.endswith(f"/{name}")]
    return found[0] if len(found) == 1 else None


def _describe_clash(name: str, what: str) -> str:
    return f"The name '{name}' is taken. Give {what} another name, such as 'my-{name}'."


catalogue = Catalogue()

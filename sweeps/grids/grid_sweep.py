"""A grid: one spec with some of its settings varied, every combination of values a trial.

    sweep = sweeps.grid(spec, {"method.lr": [1e-3, 3e-4], "seed": range(5)})
    results = sweep.run()

The trials are those of `vera run`: they have ids, and what is stored is not trained again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from sweeps.errors import EngineError
from sweeps.grids.grid_results import SEED, GridResults
from sweeps.grids.progress_bar import ProgressBar
from sweeps.run.conditions import Conditions
from sweeps.run.progress import TrialListener
from sweeps.store.location import Location, join_location
from sweeps.store.row import FAILURES
from sweeps.store.store import Store
from sweeps.trial.identity import Profile, Trial
from sweeps.trial.plan import Plan, deduplicate, make_plan
from sweeps.trial.variant import change_spec, is_component, name_variants, spell_change
from vera.errors import SettingError
from vera.spec.registry import find_plugin_file
from vera.spec.resolve import list_components, list_settings, resolve_spec
from vera.spec.trial_spec import TrialSpec, to_plain


def grid(
    spec: TrialSpec | Mapping[str, Any],
    axes: Mapping[str, Iterable[Any]],
    *,
    name: str = "grid",
    profile: Profile = "laptop",
) -> "GridSweep":
    """The grid of all combinations of these values.

    - `spec`: what all trials share, a `vera.TrialSpec` or the same as a mapping.
    - `axes`: values by dotted path, such as "method.lr", "networks.energy.hidden", "steps" or "seed". A whole
      component, such as "method" or "dataset", is given by its name or as a mapping.
    - `name`: the name of the sweep in the store and in the report.
    """
    base = TrialSpec.from_dict(spec) if isinstance(spec, Mapping) else spec
    if not isinstance(base, TrialSpec):
        raise SettingError(f"grid: spec must be a vera.TrialSpec or a mapping, got {type(spec).__name__}.")
    return GridSweep(base, {path: _list_values(path, values) for path, values in axes.items()}, name, profile)


def _list_values(path: str, values: Any) -> list[Any]:
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise SettingError(f"grid: the values of '{path}' must be a list, got {values!r}.")
    listed = list(values)
    if not listed:
        raise SettingError(f"grid: '{path}' has no values.")
    return listed


@dataclass(frozen=True)
class GridSweep:
    """A grid of trials. Make one with `sweeps.grid`."""

    spec: TrialSpec
    axes: Mapping[str, Sequence[Any]]
    name: str = "grid"
    profile: Profile = "laptop"

    def __post_init__(self) -> None:
        for trial, _ in self._declared:  # an invalid combination is refused here, before anything is trained
            resolve_spec(trial.spec)

    @cached_property
    def _declared(self) -> list[tuple[Trial, dict[str, Any]]]:
        """Every combination, those of the first seed first."""
        paths = sorted(self.axes, key=lambda path: path != SEED)
        points = [
            dict(zip(paths, values, strict=True)) for values in product(*(self.axes[path] for path in paths))
        ]
        return [(self._build_trial(point), {path: point[path] for path in self.axes}) for point in points]

    def _build_trial(self, point: Mapping[str, Any]) -> Trial:
        components_first = sorted(point, key=lambda path: not is_component(path, self.spec))
        spec = change_spec(self.spec, {path: point[path] for path in components_first})
        changed = {path: to_plain(value) for path, value in point.items() if path != SEED}
        words = ", ".join(map(spell_change, changed.items()))
        label = f"{spec.method['name']} ({words})" if words else spec.method["name"]
        known = list_settings(spec)
        set_on_purpose = [
            path
            for path, value in changed.items()
            if path not in known or to_plain(known[path].default) != value
        ]
        return Trial(spec, self.profile, name_variants(self.name, set_on_purpose), label)

    def trials(self) -> list[Trial]:
        """The trials, each once."""
        return deduplicate(trial for trial, _ in self._declared)

    def run(
        self,
        store: Location = "results/local",
        address: str | None = None,
        *,
        retry: bool = False,
        max_concurrent: int | None = None,
        cpus_per_trial: float = 1.0,
        gpus_per_trial: float = 0.0,
        time_limit: float | None = None,
        models: bool = True,
        progress: bool | None = None,
    ) -> GridResults:
        """Train the trials that are not in the store and return the results of all.

        - `store`: the results directory or bucket.
        - `address`: a Ray cluster to join, such as "auto"; by default a local one is started.
        - `retry`: also train the trials again that failed.
        - `models`: whether the trained networks are stored.
        - `progress`: whether to show a bar; by default in a notebook and in a terminal.

        After an interrupt, call it again: finished trials are stored and running ones resume.
        """
        target = Store(join_location(store, "trials"))
        again = FAILURES if retry else ()
        plan = make_plan(self.trials(), target.read_outcomes(), target.read_rows(), again)
        if plan.missing:
            conditions = Conditions(
                device="auto",
                cpus=cpus_per_trial,
                gpus=gpus_per_trial,
                time_limit=time_limit,
                keep_model=models,
            )
            with ProgressBar(self.name, plan.missing, progress) as listener:
                _execute(plan, store, conditions, address, max_concurrent, listener)
        return self.results(store)

    def results(self, store: Location = "results/local") -> GridResults:
        """The results that are in the store, without training anything."""
        settings = {trial.id: point for trial, point in reversed(self._declared)}
        return GridResults(self.trials(), settings, Store(join_location(store, "trials")))


def _execute(
    plan: Plan,
    store: Location,
    conditions: Conditions,
    address: str | None,
    max_concurrent: int | None,
    listener: TrialListener,
) -> None:
    from sweeps.cluster.engine import Engine
    from sweeps.cluster.execute import execute

    trials, checkpoints = join_location(store, "trials"), join_location(store, "checkpoints")
    plugins = tuple(find_plugins(plan.missing))
    engine = Engine(trials, checkpoints, conditions, address, max_concurrent, plugins=plugins)
    execute(plan.missing, engine, listener, plan.attempts)


def find_plugins(trials: Iterable[Trial]) -> list[str]:
    """The plug-in files that workers need. `EngineError` for a component that is defined in the notebook or
    script itself, where workers cannot import it."""
    specs = {str(list_components(trial.spec)): trial.spec for trial in trials}
    found: dict[str, None] = {}
    for spec in specs.values():
        for registry, name in list_components(spec).values():
            factory = registry.get(name)
            if (file := find_plugin_file(factory)) is not None:
                found[str(file)] = None
            elif getattr(factory, "__module__", "") == "__main__":
                raise EngineError(
                    f"Workers cannot import the {registry.kind} '{name}', which is defined in this notebook "
                    "or script. Move it to a file of its own and load that: vera.load_plugin('my_file.py')"
                )
    return list(found)

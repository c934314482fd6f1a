"""SearchProblem: an experiment, the axes of its methods and an objective, from which the searches follow.

A method that a plug-in registers is searched on every problem whose networks it can use, around its own
defaults (see `plugin_axes`).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from bench.experiment import DataSetting, Experiment
from bench.searches.plugin_axes import derive_axes
from sweeps.search.declaration import Search
from sweeps.search.objective import Objective
from sweeps.search.space import Axis, Space
from sweeps.trial.identity import Profile, Trial

SearchedLines = Mapping[str, tuple[str, tuple[Axis, ...]]]
"""By method: the label of the line whose settings are varied, and its axes."""


@dataclass(frozen=True)
class SearchProblem:
    """What `vera search` can optimise: one search for each method."""

    name: str
    about: str
    subject: str
    """Completes the description of a search: "vera for a mixture on moons"."""
    experiment: Experiment[Any]
    select_data: Callable[[Profile], DataSetting]
    lines: SearchedLines
    objective: Objective
    seeds: tuple[int, ...]
    evaluations: int | None = None
    """Evaluations during training, for the scheduler; None for those of the experiment. With another number
    of evaluations a trial is not the same as the table's."""

    @property
    def searches(self) -> dict[str, Search]:
        """By method: the declared searches, and those of the methods that plug-ins have registered so far."""
        return {**self._declared, **self._declare_plugin_searches()}

    @cached_property
    def _declared(self) -> dict[str, Search]:
        return {method: self._declare_search(method, *line) for method, line in self.lines.items()}

    def _declare_search(self, method: str, label: str, axes: tuple[Axis, ...]) -> Search:
        def build_base(profile: Profile) -> Trial:
            return self._set_evaluations(self.experiment.trial(label, profile, self.select_data(profile)))

        return self._make_search(method, f"{method} {self.subject}", build_base, axes)

    def _declare_plugin_searches(self) -> dict[str, Search]:
        registry = self.experiment.registry
        if registry is None or not registry.plugin_names():
            return {}
        names = [trial.spec.method["name"] for trial in self._list_plugin_trials("smoke")]
        return {name: self._declare_plugin_search(name, derive_axes(registry.get(name))) for name in names}

    def _declare_plugin_search(self, method: str, axes: tuple[Axis, ...]) -> Search:
        def build_base(profile: Profile) -> Trial:
            trials = self._list_plugin_trials(profile)
            return next(trial for trial in trials if trial.spec.method["name"] == method)

        return self._make_search(method, f"{method}, which a plug-in brings", build_base, axes)

    def _list_plugin_trials(self, profile: Profile) -> Iterator[Trial]:
        trials = self.experiment.plugin_trials(profile, self.select_data(profile))
        return map(self._set_evaluations, trials)

    def _make_search(
        self, method: str, about: str, base: Callable[[Profile], Trial], axes: tuple[Axis, ...]
    ) -> Search:
        return Search(f"{self.name}-{method}", about, base, Space(axes), (self.objective,), self.seeds)

    def _set_evaluations(self, trial: Trial) -> Trial:
        if self.evaluations is None:
            return trial
        every = max(1, trial.spec.steps // self.evaluations)
        return replace(trial, spec=replace(trial.spec, evaluate_every=every))

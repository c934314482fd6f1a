"""SearchProblem: an experiment, the axes of its methods and an objective, from which the searches follow.

A method that a plug-in registers is searched on every problem whose networks it can use, around its own
defaults. Every positive real setting is an axis on a log scale, from a hundredth of its default to a hundred
times the default, within the bounds of its annotation. Its grid is a tenth of the default, the default, and
ten times the default. Integers, switches and settings that are 0 by default are not searched: an annotation
does not say in which range.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, get_args

from bench.experiment import DataSetting, Experiment
from sweeps.search.declaration import Search
from sweeps.search.objective import Objective
from sweeps.search.space import DIGITS, Axis, Space, log_uniform
from sweeps.trial.identity import Profile, Trial
from vera.spec.settings import Bound, Setting, settings_of

SearchedLines = Mapping[str, tuple[str, tuple[Axis, ...]]]
"""By method: the label of the line whose settings are varied, and its axes."""
REACH = 100.0
"""Largest factor between the default and a value of the axis."""
GRID_STEP = 10.0


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
        registry = self.experiment.registry
        if registry is None or not registry.plugin_names():
            return self._declared
        names = [trial.spec.method["name"] for trial in self._list_plugin_trials("smoke")]
        return self._declared | {
            name: self._declare(
                name,
                f"{name}, which a plug-in brings",
                partial(self._find_plugin_trial, name),
                derive_axes(registry.get(name)),
            )
            for name in names
        }

    @cached_property
    def _declared(self) -> dict[str, Search]:
        return {
            method: self._declare(method, f"{method} {self.subject}", partial(self._find_trial, label), axes)
            for method, (label, axes) in self.lines.items()
        }

    def _declare(
        self, method: str, about: str, find_trial: Callable[[Profile], Trial], axes: tuple[Axis, ...]
    ) -> Search:
        def build_base(profile: Profile) -> Trial:
            trial = find_trial(profile)
            if self.evaluations is None:
                return trial
            every = max(1, trial.spec.steps // self.evaluations)
            return replace(trial, spec=replace(trial.spec, evaluate_every=every))

        return Search(f"{self.name}-{method}", about, build_base, Space(axes), (self.objective,), self.seeds)

    def _find_trial(self, label: str, profile: Profile) -> Trial:
        return self.experiment.trial(label, profile, self.select_data(profile))

    def _find_plugin_trial(self, method: str, profile: Profile) -> Trial:
        trials = self._list_plugin_trials(profile)
        return next(trial for trial in trials if trial.spec.method["name"] == method)

    def _list_plugin_trials(self, profile: Profile) -> Iterator[Trial]:
        return self.experiment.plugin_trials(profile, self.select_data(profile))


def derive_axes(factory: Callable[..., Any]) -> tuple[Axis, ...]:
    """One axis for each setting of the method that can be searched."""
    return tuple(_make_axis(setting) for setting in settings_of(factory).values() if _is_searchable(setting))


def _is_searchable(setting: Setting) -> bool:
    kind, *_ = get_args(setting.annotation) or (setting.annotation,)
    return kind is float and isinstance(setting.default, int | float) and setting.default > 0


def _make_axis(setting: Setting) -> Axis:
    default = float(setting.default)
    bounds = [note for note in get_args(setting.annotation) if isinstance(note, Bound)]
    low = max([default / REACH, *(bound.low for bound in bounds)])
    high = min([default * REACH, *(min(bound.high, bound.below * (1 - 10.0**-DIGITS)) for bound in bounds)])
    grid = [value for value in (default / GRID_STEP, default, default * GRID_STEP) if low <= value <= high]
    path = f"method.{setting.name}"
    return log_uniform(path, low=_round(low), high=_round(high), grid=tuple(map(_round, grid)))


def _round(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")

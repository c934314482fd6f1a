"""Searches of methods that a plug-in brings: on each task whose networks they take, round their own defaults.

Every setting that is a real number above 0 is an axis, on a log scale from a hundredth of its default to a
hundred times it, as far as its annotation admits; its grid is a tenth of the default, the default, and ten
times it. Whole numbers, switches and what is 0 by default stay as they are: where to look for them, an
annotation does not say.
"""

from collections.abc import Callable, Iterable
from typing import Any, get_args

from sweeps.search.declaration import Search
from sweeps.search.objective import Objective
from sweeps.search.space import DIGITS, Axis, Space, log_uniform
from sweeps.trial.identity import Profile, Trial
from vera.errors import SettingError
from vera.spec.registry import Registry
from vera.spec.settings import Bound, Setting, settings_of

REACH, STEP = 100.0, 10.0
Trials = Callable[[Profile], Iterable[Trial]]


def plugged_searches(
    task: str, registry: Registry[Any], trials: Trials, objective: Objective, seeds: tuple[int, ...]
) -> dict[str, Search]:
    """By method; `trials` are one of each that a plug-in brings and the task's networks are enough for."""
    if not registry.plugin_names():
        return {}
    names = [trial.spec.method["name"] for trial in trials("smoke")]
    return {
        name: _search(task, name, Space(axes_of(registry.get(name))), trials, objective, seeds)
        for name in names
    }


def _search(
    task: str, method: str, space: Space, trials: Trials, objective: Objective, seeds: tuple[int, ...]
) -> Search:
    def base(profile: Profile) -> Trial:
        return next(trial for trial in trials(profile) if trial.spec.method["name"] == method)

    return Search(f"{task}-{method}", f"{method}, which a plug-in brings", base, space, (objective,), seeds)


def check_axes(search: Search, method: str) -> None:
    """A search without an axis would try one point; say what is missing."""
    if not search.space.axes:
        raise SettingError(
            f"The method '{method}' has nothing to search: no setting of it is a real number above 0 by default."
        )


def axes_of(factory: Callable[..., Any]) -> tuple[Axis, ...]:
    return tuple(_axis(setting) for setting in settings_of(factory).values() if _is_searched(setting))


def _is_searched(setting: Setting) -> bool:
    kind, *_ = get_args(setting.annotation) or (setting.annotation,)
    return kind is float and isinstance(setting.default, int | float) and setting.default > 0


def _axis(setting: Setting) -> Axis:
    default = float(setting.default)
    bounds = [note for note in get_args(setting.annotation) if isinstance(note, Bound)]
    low = max([default / REACH, *(bound.low for bound in bounds)])
    high = min([default * REACH, *(min(bound.high, bound.below * (1 - 10.0**-DIGITS)) for bound in bounds)])
    grid = [_rounded(value) for value in (default / STEP, default, default * STEP) if low <= value <= high]
    return log_uniform(f"method.{setting.name}", low=_rounded(low), high=_rounded(high), grid=tuple(grid))


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")

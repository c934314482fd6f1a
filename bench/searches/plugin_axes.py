"""Axes for the search of a plug-in's method, derived from the annotations and defaults of its settings.

Every positive real setting is an axis on a log scale, from a hundredth of its default to a hundred times the
default, within the bounds of its annotation. Its grid is a tenth of the default, the default, and ten times
the default. Integers, switches and settings that are 0 by default are not searched: an annotation does not
say in which range.
"""

from collections.abc import Callable
from typing import Any, get_args

from sweeps.search.space import DIGITS, Axis, log_uniform
from vera.spec.settings import Bound, Setting, settings_of

REACH = 100.0
"""Largest factor between the default and a value of the axis."""
GRID_STEP = 10.0


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

"""The search space: which settings of a trial vary, and over which values.

An axis is named by its path in the specification: `method.lr`, `networks.generator.latent_dim`, `batch_size`.
One axis may set several paths at once, for example two learning rates that move together. A point of the
space is plain data, one value per axis, and can be read back from a stored trial: this is how a search finds
what was tried before. Trap: values are rounded to six digits before use, so that the point a trial was built
from equals the point read from its row.
"""

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vera.errors import SettingError
from vera.spec.settings import suggest_or_list
from vera.spec.trial_spec import TrialSpec

Point = dict[str, Any]
DIGITS = 6
NUMBER_WIDTH = 9
"""Characters of most numbers of six digits."""


@dataclass(frozen=True)
class Axis:
    """A setting and its values: from `low` to `high`, or one of `choices`."""

    paths: tuple[str, ...]
    low: float | None = None
    high: float | None = None
    log: bool = False
    integer: bool = False
    choices: tuple[Any, ...] = ()
    grid: tuple[Any, ...] = ()
    """The values that a grid search tries."""

    def __post_init__(self) -> None:
        if not self.paths:
            raise SettingError("An axis of a search needs a path, such as 'method.lr'.")
        if bool(self.choices) == (self.low is not None and self.high is not None):
            raise SettingError(f"The axis '{self.name}' needs either choices or both low and high.")
        if not self.choices:
            low, high = self.bounds
            if not (0 if self.log else -math.inf) < low < high:
                raise SettingError(f"The axis '{self.name}' needs low < high, and low > 0 on a log scale.")
        for value in self.grid:
            if not self.has_value(value):
                is_text = isinstance(value, str) and not self.choices
                wrong = "which is not a number" if is_text else f"which is outside its range, {self.extent}"
                raise SettingError(f"The axis '{self.short_name}' has {value!r} in its grid, {wrong}.")

    @property
    def name(self) -> str:
        return self.paths[0]

    @property
    def short_name(self) -> str:
        """The last component of its path, for tables and messages."""
        return self.name.rpartition(".")[2]

    @property
    def bounds(self) -> tuple[float, float]:
        """(low, high) of an axis without choices."""
        assert self.low is not None
        assert self.high is not None
        return self.low, self.high

    @property
    def extent(self) -> str:
        """The range or the choices, as text."""
        return (
            f"one of {', '.join(map(str, self.choices))}"
            if self.choices
            else f"{self.low:g} to {self.high:g}"
        )

    def parse(self, text: str) -> Any:
        """The value that a user typed. It may lie outside the axis; text that is not a number stays text."""
        if self.choices:
            return next((choice for choice in self.choices if str(choice).lower() == text.lower()), text)
        try:
            value = float(text)
        except ValueError:
            return text
        return int(value) if self.integer and value.is_integer() else _round_digits(value)

    def has_value(self, value: Any) -> bool:
        """Whether the value lies on the axis. A bound that was rounded still counts as inside."""
        if self.choices:
            return any(is_same_value(value, choice) for choice in self.choices)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        if self.integer and isinstance(value, float) and not value.is_integer():  # rules out NaN and infinity
            return False
        low, high = self.bounds
        slack = 10.0**-DIGITS if low > 0 else 0.0
        return low * (1 - slack) <= value <= high * (1 + slack)

    def draw(self, rng: random.Random) -> Any:
        """A uniform draw, on the logarithm of the values if `log`."""
        if self.choices:
            return rng.choice(self.choices)
        low, high = self.bounds
        if self.integer and not self.log:
            return rng.randint(int(low), int(high))
        value = math.exp(rng.uniform(math.log(low), math.log(high))) if self.log else rng.uniform(low, high)
        return self.round(value)

    def round(self, value: Any) -> Any:
        """The value as it is used and stored: an integer, or a number of six digits."""
        if self.choices:
            return value
        return round(value) if self.integer else _round_digits(value)

    def locate(self, value: Any) -> float:
        """The position of a value along the axis, from 0 to 1, for figures."""
        if self.choices:
            index = next(number for number, choice in enumerate(self.choices) if is_same_value(choice, value))
            return index / max(1, len(self.choices) - 1)
        low, high = self.bounds
        scale = math.log if self.log else float
        return (scale(value) - scale(low)) / (scale(high) - scale(low))


def uniform(*paths: str, low: float, high: float, grid: tuple[float, ...] = ()) -> Axis:
    return Axis(paths, low, high, grid=grid)


def log_uniform(*paths: str, low: float, high: float, grid: tuple[float, ...] = ()) -> Axis:
    return Axis(paths, low, high, log=True, grid=grid)


def integer(*paths: str, low: int, high: int, log: bool = False, grid: tuple[int, ...] = ()) -> Axis:
    return Axis(paths, low, high, log, integer=True, grid=grid)


def choice(*paths: str, values: tuple[Any, ...]) -> Axis:
    return Axis(paths, choices=values, grid=values)


@dataclass(frozen=True)
class Space:
    """The axes of a search."""

    axes: tuple[Axis, ...]

    def iterate_grid(self) -> Iterator[Point]:
        """Every combination of the axes' grids; the last axis varies fastest."""
        for axis in self.axes:
            if not axis.grid:
                raise SettingError(f"The axis '{axis.name}' declares no grid: use --sampler random or tpe.")
        for values in itertools.product(*(axis.grid for axis in self.axes)):
            yield dict(zip(self.names, values, strict=True))

    def with_grid(self, name: str, texts: Sequence[str]) -> "Space":
        """The same space in which one axis, given by a path or its short name, has these grid values."""
        found = [axis for axis in self.axes if name in (*axis.paths, axis.short_name)]
        if not found:
            known = [axis.short_name for axis in self.axes]
            raise SettingError(f"This search has no axis '{name}'.{suggest_or_list(name, known)}")
        values = tuple(dict.fromkeys(map(found[0].parse, texts)))
        return Space(tuple(replace(axis, grid=values) if axis is found[0] else axis for axis in self.axes))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes)

    def describe(self, point: Mapping[str, Any]) -> str:
        """The point as text: lr 0.001, k 5."""
        values = [(axis.short_name, point[axis.name]) for axis in self.axes]
        return ", ".join(
            f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in values
        )

    @property
    def description_width(self) -> int:
        """A width that fits the texts of most points."""
        return len(", ".join(f"{axis.short_name} {'':{NUMBER_WIDTH}}" for axis in self.axes))

    def draw(self, rng: random.Random) -> Point:
        return {axis.name: axis.draw(rng) for axis in self.axes}

    def round_point(self, point: Mapping[str, Any]) -> Point:
        return {axis.name: axis.round(point[axis.name]) for axis in self.axes}

    def apply(self, spec: TrialSpec, point: Mapping[str, Any]) -> TrialSpec:
        """The specification with the point's values."""
        for axis in self.axes:
            for path in axis.paths:
                spec = _replace_setting(spec, path, point[axis.name])
        return spec

    def read(self, facts: Mapping[str, Any]) -> Point | None:
        """The point of a stored trial; None if it lies outside the space or the paths of an axis disagree."""
        point: Point = {}
        for axis in self.axes:
            values = [_read_setting(facts, path) for path in axis.paths]
            if any(not axis.has_value(value) or not is_same_value(value, values[0]) for value in values):
                return None
            point[axis.name] = values[0]
        return point


def is_same_value(one: Any, other: Any) -> bool:
    """Whether two values are equal as data: a list read from JSON equals a tuple, and True is not 1."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(is_same_value, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _round_digits(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _replace_setting(spec: TrialSpec, path: str, value: Any) -> TrialSpec:
    match path.split("."):
        case ["batch_size"]:
            return replace(spec, batch_size=value)
        case ["method", name]:
            return replace(spec, method={**spec.method, name: value})
        case ["networks", role, name] if role in spec.networks:
            return replace(spec, networks={**spec.networks, role: {**spec.networks[role], name: value}})
    raise SettingError(
        f"A search cannot set '{path}': use batch_size, method.SETTING or networks.ROLE.SETTING."
    )


def _read_setting(facts: Mapping[str, Any], path: str) -> Any:
    found: Any = facts
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found

"""The space of a search: which settings of a trial are looked for, and where.

An axis is named by its place in the specification: `method.lr`, `networks.generator.latent_dim`,
`batch_size`. One axis may set several places at once, where two rates are to move together. A point of the
space is plain data, one value an axis, and can be read back off a stored trial: that is how a search knows
what was tried before. Trap: a value is rounded to six digits before it is used, so that the point which a
trial was made of and the one read off its row are the same.
"""

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vera.errors import SettingError
from vera.spec.settings import nearest
from vera.spec.trial_spec import TrialSpec

Point = dict[str, Any]
DIGITS = 6


@dataclass(frozen=True)
class Axis:
    """A setting and its values: from `low` to `high`, or one of `choices`. `grid` is what a grid takes of
    it."""

    places: tuple[str, ...]
    low: float | None = None
    high: float | None = None
    log: bool = False
    whole: bool = False
    choices: tuple[Any, ...] = ()
    grid: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if not self.places:
            raise SettingError("An axis of a search needs a place, such as 'method.lr'.")
        if bool(self.choices) == (self.low is not None and self.high is not None):
            raise SettingError(f"The axis '{self.name}' has either choices or both low and high.")
        if (
            self.low is not None
            and self.high is not None
            and not (0 if self.log else -math.inf) < self.low < self.high
        ):
            raise SettingError(f"The axis '{self.name}' needs low < high, and low > 0 on a log scale.")
        for value in self.grid:
            if not self.holds(value):
                is_text = isinstance(value, str) and not self.choices
                wrong = "which is no number" if is_text else f"but not in its range, {self.extent}"
                raise SettingError(f"The axis '{self.short_name}' has {value!r} in its grid, {wrong}.")

    @property
    def name(self) -> str:
        return self.places[0]

    @property
    def short_name(self) -> str:
        """The last part of its place, for people."""
        return self.name.rpartition(".")[2]

    @property
    def extent(self) -> str:
        """In words."""
        return (
            f"one of {', '.join(map(str, self.choices))}"
            if self.choices
            else f"{self.low:g} to {self.high:g}"
        )

    def parsed(self, text: str) -> Any:
        """A value as it is typed; whether the axis holds it is another question."""
        if self.choices:
            return next((choice for choice in self.choices if str(choice).lower() == text.lower()), text)
        try:
            value = float(text)
        except ValueError:
            return text
        return int(value) if self.whole and value.is_integer() else float(f"{value:.{DIGITS}g}")

    def holds(self, value: Any) -> bool:
        if self.choices:
            return any(same(value, choice) for choice in self.choices)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        if (
            self.whole and isinstance(value, float) and not value.is_integer()
        ):  # nor are a NaN and an infinity
            return False
        assert self.low is not None
        assert self.high is not None
        slack = 10.0**-DIGITS  # a bound that was rounded is still the bound
        return (
            self.low * (1 - slack) <= value <= self.high * (1 + slack)
            if self.low > 0
            else self.low <= value <= self.high
        )

    def draw(self, rng: random.Random) -> Any:
        """Evenly, on the axis's own scale."""
        if self.choices:
            return rng.choice(self.choices)
        assert self.low is not None
        assert self.high is not None
        if self.whole and not self.log:
            return rng.randint(int(self.low), int(self.high))
        value = (
            math.exp(rng.uniform(math.log(self.low), math.log(self.high)))
            if self.log
            else rng.uniform(self.low, self.high)
        )
        return self.settled(value)

    def settled(self, value: Any) -> Any:
        """As it is used and stored: a whole number, or six digits."""
        if self.choices:
            return value
        return round(value) if self.whole else float(f"{value:.{DIGITS}g}")

    def position(self, value: Any) -> float:
        """From 0 to 1 along the axis, for figures and measures of importance."""
        if self.choices:
            place = next(number for number, choice in enumerate(self.choices) if same(choice, value))
            return place / max(1, len(self.choices) - 1)
        assert self.low is not None
        assert self.high is not None
        scale = math.log if self.log else float
        return (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low))


def uniform(*places: str, low: float, high: float, grid: tuple[float, ...] = ()) -> Axis:
    return Axis(places, low, high, grid=grid)


def log_uniform(*places: str, low: float, high: float, grid: tuple[float, ...] = ()) -> Axis:
    return Axis(places, low, high, log=True, grid=grid)


def whole(*places: str, low: int, high: int, log: bool = False, grid: tuple[int, ...] = ()) -> Axis:
    return Axis(places, low, high, log, whole=True, grid=grid)


def choice(*places: str, values: tuple[Any, ...]) -> Axis:
    return Axis(places, choices=values, grid=values)


@dataclass(frozen=True)
class Space:
    """The axes of a search."""

    axes: tuple[Axis, ...]

    def grid(self) -> Iterator[Point]:
        """Every combination of the axes' grids, the last axis fastest."""
        for axis in self.axes:
            if not axis.grid:
                raise SettingError(f"The axis '{axis.name}' declares no grid; take --sampler random or tpe.")
        for values in itertools.product(*(axis.grid for axis in self.axes)):
            yield dict(zip(self.names, values, strict=True))

    def with_grid(self, name: str, texts: Sequence[str]) -> "Space":
        """The same axes, of which one has these values as its grid; it is named by a place or by the last
        part of its first."""
        found = [axis for axis in self.axes if name in (*axis.places, axis.short_name)]
        if not found:
            raise SettingError(
                f"This search has no axis '{name}'.{nearest(name, [axis.short_name for axis in self.axes])}"
            )
        values = tuple(dict.fromkeys(map(found[0].parsed, texts)))
        return Space(tuple(replace(axis, grid=values) if axis is found[0] else axis for axis in self.axes))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes)

    def draw(self, rng: random.Random) -> Point:
        return {axis.name: axis.draw(rng) for axis in self.axes}

    def settled(self, point: Mapping[str, Any]) -> Point:
        return {axis.name: axis.settled(point[axis.name]) for axis in self.axes}

    def apply(self, spec: TrialSpec, point: Mapping[str, Any]) -> TrialSpec:
        """The specification at this point."""
        for axis in self.axes:
            for place in axis.places:
                spec = _with(spec, place, point[axis.name])
        return spec

    def read(self, facts: Mapping[str, Any]) -> Point | None:
        """The point at which a stored trial lies; None if it lies outside, or its axes' places disagree."""
        point: Point = {}
        for axis in self.axes:
            values = [_at(facts, place) for place in axis.places]
            if any(not axis.holds(value) or not same(value, values[0]) for value in values):
                return None
            point[axis.name] = values[0]
        return point


def same(one: Any, other: Any) -> bool:
    """Equal as data: a list from JSON is the tuple it was written from, and True is not 1."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _with(spec: TrialSpec, place: str, value: Any) -> TrialSpec:
    match place.split("."):
        case ["batch_size"]:
            return replace(spec, batch_size=value)
        case ["method", name]:
            return replace(spec, method={**spec.method, name: value})
        case ["networks", role, name] if role in spec.networks:
            return replace(spec, networks={**spec.networks, role: {**spec.networks[role], name: value}})
    raise SettingError(
        f"A search knows no place '{place}': it is batch_size, method.SETTING or networks.ROLE.SETTING."
    )


def _at(facts: Mapping[str, Any], place: str) -> Any:
    found: Any = facts
    for key in place.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found

"""Settings: an annotated signature is the configuration, its validation and its documentation in one place.

The annotation gives type, range and help text: `lr: Annotated[Positive, "energy learning rate"] = 1e-4`. It
checks dataclass fields (`check_fields`) and the arguments of functions and constructors
(`validate_arguments`). Values read from JSON are converted to the annotated type (a list to a tuple, 1 to
1.0). Nothing else is converted, and NaN is never a valid setting.
"""

import dataclasses
import functools
import inspect
import math
import numbers
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from vera.errors import SettingError, UnknownName


@dataclass(frozen=True)
class Bound:
    """low <= value <= high and value < below; with `strict`, low < value."""

    low: float = -math.inf
    high: float = math.inf
    strict: bool = False
    below: float = math.inf

    def is_valid(self, value: float) -> bool:
        return (
            (self.low < value if self.strict else self.low <= value)
            and value <= self.high
            and value < self.below
        )

    def __str__(self) -> str:
        lower = f"{'above' if self.strict else 'at least'} {self.low:g}" if self.low > -math.inf else ""
        upper = f"at most {self.high:g}" if self.high < math.inf else ""
        if self.below < math.inf:
            upper = f"below {self.below:g}"
        return " and ".join(limit for limit in (lower, upper) if limit)


@dataclass(frozen=True)
class OmitDefault:
    """Note on a setting that resolved specs leave out while it has its default.

    A setting that is added to a component later carries it, so that earlier trials keep their ids.
    """


Positive = Annotated[float, Bound(0, strict=True)]
NonNegative = Annotated[float, Bound(0)]
UnitInterval = Annotated[float, Bound(0, 1)]
Decay = Annotated[float, Bound(0, below=1)]
Count = Annotated[int, Bound(1)]
NonNegativeCount = Annotated[int, Bound(0)]
Sizes = tuple[Count, ...]

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Setting:
    """One setting: its name, the type and range of its values, its default and its help text."""

    name: str
    annotation: Any
    default: Any
    help: str
    omits_default: bool = False

    @property
    def is_required(self) -> bool:
        return self.default is inspect.Parameter.empty

    def is_omitted(self, value: Any) -> bool:
        """Whether a resolved spec leaves the setting out when it has this value."""
        return self.omits_default and bool(value == self.default)


def settings_of(factory: Callable[..., Any]) -> dict[str, Setting]:
    """The arguments of a class or function, each with its default and the help text of its annotation."""
    return dict(_read_settings(factory))


@functools.cache
def _read_settings(factory: Callable[..., Any]) -> dict[str, Setting]:
    hints = _read_hints(factory)
    found = {}
    for name, parameter in inspect.signature(factory).parameters.items():
        annotation = hints.get(name, Any)
        notes = getattr(annotation, "__metadata__", ())
        texts = " ".join(note for note in notes if isinstance(note, str))
        omits_default = any(isinstance(note, OmitDefault) for note in notes)
        found[name] = Setting(name, annotation, parameter.default, texts, omits_default)
    return found


def check_names(owner: str, known: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raise `UnknownName`, with the closest known names, for a given setting that is not known."""
    for name in given:
        if name not in known:
            raise UnknownName(f"{owner} has no setting '{name}'.{suggest_or_list(name, known)}")


def suggest_or_list(name: str, known: Mapping[str, Any] | list[str]) -> str:
    """A sentence with the known names closest to a mistyped one, or with all known names if none is close."""
    return suggest(name, known) or (
        f" Available: {', '.join(sorted(known, key=by_number))}." if known else ""
    )


def suggest(name: str, known: Iterable[str]) -> str:
    """A sentence with at most three known names that start with `name` or are close to it; empty if none is.

    The similarity required of short names is lower, because a single letter weighs more in them.
    """
    completions = sorted((each for each in known if len(name) > 2 and each.startswith(name)), key=by_number)
    close = completions[:3] or get_close_matches(name, list(known), n=3, cutoff=0.7 if len(name) > 4 else 0.6)
    return f" Did you mean {' or '.join(close)}?" if close else ""


def by_number(name: str) -> list[str | int]:
    """A sort key that puts figure2 before figure10."""
    return [int(piece) if piece.isdecimal() else piece for piece in re.split(r"(\d+)", name)]


def check_value(owner: str, name: str, value: Any, annotation: Any) -> Any:
    """The value in the annotated type; raises `SettingError` that names owner, setting, rule and value."""
    if get_origin(annotation) is Annotated:
        base, *notes = get_args(annotation)
        value = check_value(owner, name, value, base)
        for bound in notes:
            if isinstance(bound, Bound) and value is not None and not bound.is_valid(value):
                raise SettingError(f"{owner}: {name} must be {bound}, got {value!r}.")
        return value
    if get_origin(annotation) is Literal:
        if not any(value == option and type(value) is type(option) for option in get_args(annotation)):
            raise SettingError(
                f"{owner}: {name} must be one of {', '.join(map(repr, get_args(annotation)))}, got {value!r}."
            )
        return value
    if get_origin(annotation) in (Union, types.UnionType):
        return _check_union(owner, name, value, get_args(annotation))
    if get_origin(annotation) is tuple:
        return _check_tuple(owner, name, value, get_args(annotation))
    return _check_plain(owner, name, value, annotation)


def _check_union(owner: str, name: str, value: Any, members: tuple[Any, ...]) -> Any:
    if value is None and type(None) in members:
        return None
    errors = []
    for member in members:
        if member is not type(None):
            try:
                return check_value(owner, name, value, member)
            except SettingError as error:
                errors.append(error)
    raise errors[0]


def _check_tuple(owner: str, name: str, value: Any, members: tuple[Any, ...]) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise SettingError(f"{owner}: {name} must be a sequence, got {value!r}.")
    if members[-1] is Ellipsis:
        members = (members[0],) * len(value)
    if len(members) != len(value):
        raise SettingError(f"{owner}: {name} must have {len(members)} entries, got {value!r}.")
    return tuple(
        check_value(owner, f"{name}[{i}]", item, member)
        for i, (item, member) in enumerate(zip(value, members, strict=True))
    )


def _check_plain(owner: str, name: str, value: Any, annotation: Any) -> Any:
    if annotation is float and not isinstance(value, bool) and isinstance(value, numbers.Real):
        value = float(value)  # also from an int or a numpy number
    if annotation is int and not isinstance(value, bool) and isinstance(value, numbers.Integral):
        value = int(value)
    if annotation not in (bool, int, float, str):
        return value
    if not isinstance(value, annotation) or (annotation is int and isinstance(value, bool)):
        raise SettingError(f"{owner}: {name} must be {_describe_type(annotation)}, got {value!r}.")
    if annotation is float and not math.isfinite(value):
        raise SettingError(f"{owner}: {name} must be finite, got {value!r}.")
    return value


def is_checkable(annotation: Any) -> bool:
    """Whether `check_value` can check values against the annotation. `Any` counts: it asks for no check."""
    origin, members = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return is_checkable(members[0])
    if origin in (Union, types.UnionType, tuple):
        return all(is_checkable(member) for member in members if member is not Ellipsis)
    return origin is Literal or annotation in (bool, int, float, str, type(None), Any)


def _describe_type(annotation: type) -> str:
    return {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}[annotation]


def check_fields(instance: Any) -> None:
    """Check the fields of a dataclass instance against their annotations and convert them in place."""
    owner: Any = type(instance)
    hints = _read_hints(owner)
    for field in dataclasses.fields(instance):
        value = check_value(
            type(instance).__name__, field.name, getattr(instance, field.name), hints[field.name]
        )
        object.__setattr__(instance, field.name, value)


def validate_arguments(function: F) -> F:
    """Decorator that checks and converts the arguments of a function or constructor by its annotations. An
    error names the function, or the class that is built, which may have inherited the constructor."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        hints = _read_hints(function)
        owner = (type(args[0]) if function.__name__ == "__init__" else function).__qualname__
        bound = signature.bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            if name in hints:
                bound.arguments[name] = check_value(owner, name, value, hints[name])
        return function(*bound.args, **bound.kwargs)

    return typing.cast(F, wrapper)


@functools.cache
def _read_hints(factory: Callable[..., Any]) -> dict[str, Any]:
    if inspect.isclass(factory) and not dataclasses.is_dataclass(factory):
        factory = factory.__init__
    return get_type_hints(factory, include_extras=True)

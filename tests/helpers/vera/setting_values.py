"""Values for the settings of a method, derived from their annotations."""

import dataclasses
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from vera.joint.forward_passes import EXECUTION_SETTINGS
from vera.spec.registry import Registry, methods
from vera.spec.settings import Bound, settings_of

BATCH = 16


def small_settings(method: str, registry: Registry[Any] = methods) -> dict[str, Any]:
    """Return settings that differ from the defaults: counts are at most the batch size, and weights of 0 and
    empty lists of steps, which switch something off, are replaced."""
    small: dict[str, Any] = {}
    for name, setting in settings_of(registry.get(method)).items():
        if setting.default == ():
            small[name] = (3,)
        if isinstance(setting.default, int) and setting.default > BATCH:
            small[name] = BATCH
        if isinstance(setting.default, float) and setting.default == 0:
            small[name] = 0.1
    return small


def setting_names(method: str, registry: Registry[Any] = methods) -> list[str]:
    cls = registry.get(method)
    return [
        field.name
        for field in dataclasses.fields(cls)
        if field.name not in (*cls.network_names(), *EXECUTION_SETTINGS)
    ]


def other_values(annotation: Any, value: Any) -> list[Any]:
    """Return valid values other than the given one: every choice, each entry of a tuple, or one number."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        bounds = [note for note in arguments[1:] if isinstance(note, Bound)]
        return [
            other
            for other in other_values(arguments[0], value)
            if all(bound.is_valid(other) for bound in bounds)
        ]
    if origin is Literal:
        return [choice for choice in arguments if choice != value]
    if origin is Union or isinstance(annotation, type(int | None)):
        return [
            other for member in arguments if member is not type(None) for other in other_values(member, value)
        ]
    if origin is tuple:
        arguments = (arguments[0],) * len(value) if Ellipsis in arguments else arguments
        changes = [(i, other_values(member, value[i])[0]) for i, member in enumerate(arguments)]
        return [(*value[:i], other, *value[i + 1 :]) for i, other in changes]
    candidates = {
        bool: [not value],
        int: [(value or 0) + 2, (value or 0) - 1],
        float: [2 * (value or 0.0), (value or 0.0) / 2, 0.5, 0.25],
    }
    return [other for other in candidates[annotation] if other != value]


def other_settings(method: str, registry: Registry[Any] = methods) -> Iterator[tuple[str, Any]]:
    """Yield (setting, another valid value).

    A Literal yields all its choices, a tuple one change per entry, a number the first allowed value.
    """
    known, small = settings_of(registry.get(method)), small_settings(method, registry)
    for name in setting_names(method, registry):
        others = other_values(known[name].annotation, small.get(name, known[name].default))
        numeric = others and isinstance(others[0], int | float)
        yield from ((name, other) for other in (others[:1] if numeric else others))

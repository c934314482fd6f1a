"""The filter `--only key=value`: selects trials, declared or stored, by their settings, and explains why none
matches. A stored trial is given by its row, which also has a sweep, a profile and an outcome."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from sweeps.store.row import Row
from sweeps.trial.identity import Trial
from vera.errors import SettingError
from vera.spec.settings import suggest, suggest_or_list

T = TypeVar("T", Trial, Row)
LISTED = 12
"""An error lists the values of a key if there are no more than this."""


def filter_trials(trials: Iterable[T], only: Sequence[str]) -> list[T]:
    """The trials for which every key=value of `only` holds. A trial without such a key does not match;
    SettingError if no trial has it."""
    wanted = [_split_pair(text) for text in only]
    facets = [(trial, _collect_facets(trial) if wanted else {}) for trial in trials]
    known = {key for _, of_trial in facets for key in of_trial}
    for key, _ in wanted:
        if facets and key not in known:
            raise SettingError(f"--only knows no '{key}'.{_suggest_key(key, known)}")
    return [
        trial
        for trial, has in facets
        if all(key in has and _is_equal(has[key], value) for key, value in wanted)
    ]


def explain_no_match(trials: Sequence[T], only: Sequence[str]) -> str:
    """A sentence on why no trial matches: a value that none has, or that every --only must hold."""
    facets = [_collect_facets(trial) for trial in trials]
    for key, value in map(_split_pair, only):
        values = {str(has[key]): has[key] for has in facets if key in has}
        if values and not any(_is_equal(each, value) for each in values.values()):
            return _suggest_value(value, list(values))
    return " A trial is selected if it matches every --only."


def _suggest_value(value: str, values: list[str]) -> str:
    """A suggestion for a value that no trial has."""
    if "," in value and all(piece.strip() in values for piece in value.split(",")):
        return " An --only takes one value."
    same = [each for each in values if each.lower() == value.lower()]
    if same:
        return f" Did you mean {same[0]}?"
    return suggest_or_list(value, values) if len(values) <= LISTED else suggest(value, values)


def _suggest_key(key: str, known: set[str]) -> str:
    """A suggestion for a key that no trial has. The key of a setting includes its component: method.lr, not
    lr."""
    complete = sorted(name for name in known if name.endswith(f".{key}"))
    if complete:
        return f" Did you mean {' or '.join(complete)}?"
    component, dot, setting = key.partition(".")
    settings = [name.removeprefix(f"{component}.") for name in known if name.startswith(f"{component}.")]
    if not dot or not settings:
        return suggest_or_list(key, sorted(known))
    # Without the component, which would make any two settings similar.
    close = suggest(setting, settings)
    if not close:
        return f" Settings of {component}: {', '.join(sorted(settings))}."
    return close.replace(" Did you mean ", f" Did you mean {component}.").replace(" or ", f" or {component}.")


def _split_pair(text: str) -> tuple[str, str]:
    key, found, value = text.partition("=")
    if not found or not key.strip():
        raise SettingError(f"--only takes key=value, such as method=vera, got '{text}'.")
    return key.strip(), value.strip()


def _is_equal(value: Any, text: str) -> bool:
    """Whether both are equal as text or as numbers: 1e-3 is 0.001."""
    try:
        return str(value) == text or (not isinstance(value, bool) and float(value) == float(text))
    except (TypeError, ValueError):
        return False


def _collect_facets(trial: Trial | Row) -> dict[str, Any]:
    if isinstance(trial, Row):
        return _collect_row_facets(trial)
    spec = trial.spec
    return {
        "label": trial.name,
        "dataset": spec.dataset["name"],
        "method": spec.method["name"],
        "energy": "",
        "task": spec.task_component["name"],
        "seed": spec.seed,
        **{role: component["name"] for role, component in spec.networks.items()},
        **{f"method.{name}": value for name, value in trial.facts["method"].items()},
    }


def _collect_row_facets(row: Row) -> dict[str, Any]:
    """The same facets from a row. Needs neither the data set nor a plug-in."""
    spec = json.loads(row.spec)
    columns = ("dataset", "method", "energy", "task", "seed", "sweep", "profile", "outcome")
    return {
        "label": row.label or row.method,
        **{name: getattr(row, name) for name in columns},
        **{role: component["name"] for role, component in spec.get("networks", {}).items()},
        **{f"method.{name}": value for name, value in spec.get("method", {}).items()},
    }

"""`--only key=value`: some of a sweep's trials, by what is written in them, and what was meant where none
fits."""

from collections.abc import Iterable, Sequence
from typing import Any

from sweeps.trial.identity import Trial
from vera.errors import SettingError
from vera.spec.settings import suggest, suggest_or_list

LISTED = 12
"""Values of a key that an error names at most."""


def matching(trials: Iterable[Trial], only: Sequence[str]) -> list[Trial]:
    """The trials for which every key=value of `only` holds; one that has no such key does not match."""
    wanted = [_pair(text) for text in only]
    facets = [(trial, _facets(trial) if wanted else {}) for trial in trials]
    known = {key for _, of_trial in facets for key in of_trial}
    for key, _ in wanted:
        if facets and key not in known:
            raise SettingError(f"--only knows no '{key}'.{_meant(key, known)}")
    return [
        trial for trial, has in facets if all(key in has and _equal(has[key], value) for key, value in wanted)
    ]


def why_none(trials: Sequence[Trial], only: Sequence[str]) -> str:
    """A sentence on what no trial fits: the value that none has, or, where each alone is had, that all must
    hold."""
    facets = [_facets(trial) for trial in trials]
    for key, value in map(_pair, only):
        values = {str(has[key]): has[key] for has in facets if key in has}
        if values and not any(_equal(each, value) for each in values.values()):
            return _instead(value, list(values))
    return " A trial is taken if it fits every --only."


def _instead(value: str, values: list[str]) -> str:
    """What may have been meant in place of a value that no trial has."""
    if "," in value and all(part.strip() in values for part in value.split(",")):
        return " An --only takes one value."
    same = [each for each in values if each.lower() == value.lower()]
    if same:
        return f" Did you mean {same[0]}?"
    return suggest_or_list(value, values) if len(values) <= LISTED else suggest(value, values)


def _meant(key: str, known: set[str]) -> str:
    """The key of a setting is that of its part, too: lr is method.lr."""
    whole = sorted(name for name in known if name.endswith(f".{key}"))
    if whole:
        return f" Did you mean {' or '.join(whole)}?"
    part, dot, setting = key.partition(".")
    settings = [name.removeprefix(f"{part}.") for name in known if name.startswith(f"{part}.")]
    if not dot or not settings:
        return suggest_or_list(key, sorted(known))
    close = suggest(setting, settings)  # without the part, which would make any two settings look alike
    among = f" Of {part} there is: {', '.join(sorted(settings))}."
    return close.replace(" Did you mean ", f" Did you mean {part}.").replace(" or ", f" or {part}.") or among


def _pair(text: str) -> tuple[str, str]:
    key, found, value = text.partition("=")
    if not found or not key.strip():
        raise SettingError(f"--only takes key=value, such as method=vera, got '{text}'.")
    return key.strip(), value.strip()


def _equal(value: Any, text: str) -> bool:
    """As text, or as numbers where both are: 1e-3 is 0.001."""
    try:
        return str(value) == text or (not isinstance(value, bool) and float(value) == float(text))
    except (TypeError, ValueError):
        return False


def _facets(trial: Trial) -> dict[str, Any]:
    spec = trial.spec
    return {
        "label": trial.name,
        "dataset": spec.dataset["name"],
        "method": spec.method["name"],
        "energy": "",
        "task": spec.task_component["name"],
        "seed": spec.seed,
        **{role: part["name"] for role, part in spec.networks.items()},
        **{f"method.{name}": value for name, value in trial.facts["method"].items()},
    }

"""`--set method.k=5`: trials with some settings changed, with ids and labels of their own.

A value is JSON, or text if it is not JSON. A trial to which a setting does not apply, because its method or
network has no such setting, is left out with a note.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from vera.errors import SettingError, UnknownName
from vera.wording import plural

if TYPE_CHECKING:
    from sweeps.trial.identity import Trial

MOST_NAMED = 5
"""Labels that a note names at most."""


def parse_settings(texts: Sequence[str]) -> dict[str, Any]:
    """Values by dotted path."""
    found: dict[str, Any] = {}
    for text in texts:
        path, equals, value = (piece.strip() for piece in text.partition("="))
        if not equals or not path or not value:
            raise SettingError(f"--set takes PATH=VALUE, such as method.lr=3e-4, got '{text}'.")
        if path in found:
            raise SettingError(f"--set {path} is given twice. Run one variant after the other.")
        if path == "seed":
            raise SettingError("--set cannot change the seed. To choose seeds: --seeds N")
        found[path] = _parse_value(value)
    return found


def _parse_value(text: str) -> Any:
    """The text as JSON or, like .5, as a number; else the text itself."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(constant)  # NaN and Infinity are not valid settings

    for parse in (lambda value: json.loads(value, parse_constant=refuse), float):
        try:
            return parse(text)
        except ValueError:
            continue
    return text


def vary_trials(trials: "Sequence[Trial]", changes: Mapping[str, Any]) -> "list[Trial]":
    """The variants of the trials. A note on stderr names the trials that have no such setting; `UnknownName`
    if no trial has them all."""
    from sweeps.trial.variant import make_variant

    made = [(trial, make_variant(trial, changes)) for trial in trials]
    variants = [variant for _, variant in made if variant is not None]
    if trials and not variants:
        _refuse_settings(trials, changes)
    labels = list(dict.fromkeys(trial.name for trial, variant in made if variant is None))
    _print_left_out(labels, changes)
    same = list(dict.fromkeys(trial.name for trial, variant in made if variant is trial))
    if same:
        print(f"vera: Not changed, because the settings are its own: {_list_some(same)}.", file=sys.stderr)
    return variants


def _print_left_out(labels: Sequence[str], changes: Mapping[str, Any]) -> None:
    if labels:
        paths = " and ".join(changes)
        print(f"vera: Left out, without {paths}: {_list_some(labels)}.", file=sys.stderr)


def _list_some(labels: Sequence[str]) -> str:
    more = f"; and {plural(len(labels) - MOST_NAMED, 'other line')}" if len(labels) > MOST_NAMED else ""
    return "; ".join(labels[:MOST_NAMED]) + more


def _refuse_settings(trials: "Sequence[Trial]", changes: Mapping[str, Any]) -> NoReturn:
    """Name the setting that no trial has, or say that no trial has them all."""
    from sweeps.trial.variant import suggest_path
    from vera.spec.resolve import list_settings

    known = {path: None for trial in trials for path in list_settings(trial.spec) if path != "seed"}
    for path in changes:
        if path not in known:
            raise UnknownName(f"No trial of {trials[0].sweep} has '{path}'.{suggest_path(path, known)}")
    raise UnknownName(
        f"No trial of {trials[0].sweep} has all of {', '.join(changes)}. Set them in separate commands."
    )

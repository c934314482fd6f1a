"""Variants of trials: the same trial with some settings changed, each given by its dotted path.

    method.k=5   steps=500   dataset.noise=0.1   networks.energy.hidden=[64, 64]

A variant has its own id and label. The name of its sweep ends with the paths that were changed, as in
`table2 [method.k]`. Matching reads them from the stored row: a line of a table that leaves k open never shows
the row of a variant (see `sweeps.trial.matching`).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sweeps.trial.identity import Trial, register_tables
from vera.errors import UnknownName
from vera.spec.resolve import list_settings, resolve_spec
from vera.spec.settings import check_value, suggest, suggest_or_list
from vera.spec.trial_spec import TrialSpec

Changes = Mapping[str, Any]
"""Values by dotted path."""
CHANGED = re.compile(r"(?P<name>.*) \[(?P<paths>[\w.,\- ]+)\]")


def change_spec(spec: TrialSpec, changes: Changes) -> TrialSpec:
    """The spec with these settings. A whole component such as `method` is given by its name or as a mapping.

    `UnknownName` names the known settings, `SettingError` the valid values.
    """
    register_tables()
    for path, value in changes.items():
        if is_component(path, spec):
            component = {"name": value} if isinstance(value, str) else value
            spec = TrialSpec.from_dict(_replace_entry(spec.to_dict(), path.split("."), component))
            continue
        known = list_settings(spec)
        if path not in known:
            raise UnknownName(f"There is no setting '{path}'.{suggest_path(path, known)}")
        owner, _, name = path.rpartition(".")
        checked = check_value(owner or "TrialSpec", name, value, known[path].annotation)
        spec = TrialSpec.from_dict(_replace_entry(spec.to_dict(), path.split("."), checked))
    return spec


def is_component(path: str, spec: TrialSpec) -> bool:
    """Whether the path names a whole component: dataset, method, task, or a network by its role."""
    return path in ("dataset", "method", "task", *(f"networks.{role}" for role in spec.networks))


def make_variant(trial: Trial, changes: Changes) -> Trial | None:
    """The trial with these settings and a label that names them; None if a setting does not apply to it. A
    trial that has these settings already is returned as it is."""
    register_tables()
    if not set(changes) <= set(list_settings(trial.spec)):
        return None
    spec = change_spec(trial.spec, changes)
    if resolve_spec(spec) == resolve_spec(trial.spec):
        return trial
    label = f"{trial.name} ({', '.join(map(spell_change, changes.items()))})"
    return replace(trial, spec=spec, label=label, sweep=name_variants(trial.sweep, changes))


def name_variants(sweep: str, paths: Iterable[str]) -> str:
    """The name of a sweep in which these settings were changed."""
    listed = ", ".join(paths)
    return f"{sweep} [{listed}]" if sweep and listed else sweep


def find_changed_paths(sweep: str) -> tuple[str, ...]:
    """The settings that were changed in the trials of a sweep, by its name."""
    found = CHANGED.fullmatch(sweep)
    return tuple(found["paths"].split(", ")) if found else ()


def get_base_name(sweep: str) -> str:
    """The name of a sweep without the settings that were changed."""
    found = CHANGED.fullmatch(sweep)
    return found["name"] if found else sweep


def spell_change(change: tuple[str, Any]) -> str:
    """As in labels: k=5, energy.hidden=[64, 64]."""
    path, value = change
    name = path.removeprefix("method.").removeprefix("networks.")
    return f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"


def suggest_path(path: str, known: Iterable[str]) -> str:
    """A sentence with the paths that were probably meant, or with all settings of that component."""
    paths = list(known)
    component, _, name = path.rpartition(".")
    own = {each.rpartition(".")[2]: each for each in paths if each.rpartition(".")[0] == component}
    # Without the component, which would make any two of its settings similar.
    meant = [each for each in paths if each.endswith(f".{path}")]
    meant = meant or [own[each] for each in own if suggest(name, [each])]
    if meant:
        return f" Did you mean {' or '.join(meant)}?"
    return f" Available: {', '.join(sorted(own.values()))}." if own else suggest_or_list(path, paths)


def _replace_entry(values: Mapping[str, Any], keys: Sequence[str], value: Any) -> dict[str, Any]:
    """A copy of nested mappings with one value replaced."""
    first, *rest = keys
    inner = values.get(first, {})
    if rest and isinstance(inner, str):  # a task without settings is given by its name
        inner = {"name": inner}
    return {**values, first: _replace_entry(inner, rest, value) if rest else value}

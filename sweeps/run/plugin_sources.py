"""Hashes of the source of plug-ins, stored in the rows of the trials that use them.

A trial is identified by its settings, not by its code; otherwise every edited comment would make another
trial. So the rows of a plug-in's method stay valid when the method is edited. A row stores the hash of the
source that trained it, and a plan reports rows whose source has changed. Trap: the hash covers the one file
that defines the class, as it was when it was imported, not what that file imports.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from sweeps.store.row import Row
from sweeps.trial.identity import Trial
from vera.spec.registry import datasets, find_source_hash, models
from vera.spec.trial_spec import TrialSpec

SUFFIX = "_source"


def collect_source_hashes(spec: TrialSpec) -> dict[str, str]:
    """The hashes of the components that come from plug-ins, as a row stores them: {"method_source": hash,
    "dataset_source": hash, "energy_source": hash, ...}."""
    from vera.tasks.build import build_task

    components = {"method": (build_task(spec).methods, spec.method), "dataset": (datasets, spec.dataset)}
    components |= {role: (models, component) for role, component in spec.networks.items()}
    found = {
        f"{role}{SUFFIX}": find_source_hash(registry.get(component["name"]))
        for role, (registry, component) in components.items()
    }
    return {name: source for name, source in found.items() if source}


def find_edited_components(trial: Trial, row: Row) -> Iterator[tuple[str, str]]:
    """(role, name) of the components whose source has changed since the row was trained. A row without hashes
    gives none."""
    then = {name: text for name, text in json.loads(row.versions).items() if name.endswith(SUFFIX)}
    now = collect_source_hashes(trial.spec) if then else {}
    components = {"method": trial.spec.method, "dataset": trial.spec.dataset, **trial.spec.networks}
    for name, source in now.items():
        if then.get(name, source) != source:
            role = name.removesuffix(SUFFIX)
            yield role, components[role]["name"]


def find_edited_plugins(trials: Sequence[Trial], rows: Mapping[str, Row]) -> dict[tuple[str, str], list[Row]]:
    """(role, name) of each edited component → the rows that its earlier source trained."""
    found: dict[tuple[str, str], list[Row]] = {}
    for trial in (trial for trial in trials if trial.id in rows):
        for component in find_edited_components(trial, rows[trial.id]):
            found.setdefault(component, []).append(rows[trial.id])
    return found

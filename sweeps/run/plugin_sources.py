"""The source of what a plug-in brings to a trial, as a hash in its row.

A trial's identity is its settings and not its code, or every comment would be another trial. So a method that
was edited keeps the rows that it had before, and whoever edited it should hear of that: a row says which
source trained it, and a plan which differ. Trap: the hash is that of the one file that defines the class, as
it was when it was loaded; what that file imports is not in it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from sweeps.store.row import Row
from sweeps.trial.identity import Trial
from vera.spec.registry import datasets, find_source_hash, models
from vera.spec.trial_spec import TrialSpec

SUFFIX = "_source"


def plugin_sources(spec: TrialSpec) -> dict[str, str]:
    """{"method_source": hash, "dataset_source": hash, "energy_source": hash, ...}, as a row has them: those
    of plug-ins alone."""
    from vera.tasks.build import build_task

    parts = {"method": (build_task(spec).methods, spec.method), "dataset": (datasets, spec.dataset)}
    parts |= {role: (models, part) for role, part in spec.networks.items()}
    found = {
        f"{role}{SUFFIX}": find_source_hash(registry.get(part["name"]))
        for role, (registry, part) in parts.items()
    }
    return {name: source for name, source in found.items() if source}


def changed_parts(trial: Trial, row: Row) -> Iterator[tuple[str, str]]:
    """(role, name) of what the row was trained with by other source than there is now; a row that names no
    source says nothing."""
    then = {name: text for name, text in json.loads(row.versions).items() if name.endswith(SUFFIX)}
    now = plugin_sources(trial.spec) if then else {}
    parts = {"method": trial.spec.method, "dataset": trial.spec.dataset, **trial.spec.networks}
    for role in (
        name.removesuffix(SUFFIX) for name, source in now.items() if then.get(name, source) != source
    ):
        yield role, parts[role]["name"]


def changed(trials: Sequence[Trial], rows: Mapping[str, Row]) -> dict[tuple[str, str], list[Row]]:
    """By role and name of what was edited: the rows that it trained before."""
    found: dict[tuple[str, str], list[Row]] = {}
    for trial in (trial for trial in trials if trial.id in rows):
        for part in changed_parts(trial, rows[trial.id]):
            found.setdefault(part, []).append(rows[trial.id])
    return found

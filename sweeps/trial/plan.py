"""The plan: the declared trials minus the stored ones, and the estimated cost of the rest.

To resume, run the same command again: the store is the source of truth, not the state of a scheduler. If a
seed or a grid value is added to a finished sweep, exactly the new trials run.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from sweeps.store.row import FAILURES, Row
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Trial
from sweeps.trial.matching import SEED


@dataclass(frozen=True)
class Plan:
    """The trials of a sweep, split into those to run and those in the store."""

    missing: list[Trial]
    cached: list[Trial]
    seconds: dict[str, float]
    """Estimated seconds by trial id, for missing trials that can be estimated."""
    attempts: dict[str, int] = field(default_factory=dict)
    """The number of attempts by id, for the trials in the store."""
    elsewhere: list[Trial] = field(default_factory=list)
    """Trials that can be taken from another store."""
    failed: list[Trial] = field(default_factory=list)
    """The cached trials that ended in a failure; only a retry runs them again."""
    borrowed: bool = False
    """Whether some of the seconds come from another store."""

    def estimate_cost(self) -> float | None:
        """CPU-seconds of the missing trials, extrapolated from those with an estimate; None if there is
        none."""
        known = [self.seconds[trial.id] for trial in self.missing if trial.id in self.seconds]
        return sum(known) * len(self.missing) / len(known) if known else None


def deduplicate(trials: Iterable[Trial]) -> list[Trial]:
    """Each trial once, in order of first appearance."""
    first: dict[str, Trial] = {}
    for trial in trials:
        first.setdefault(trial.id, trial)
    return list(first.values())


def make_plan(
    trials: Sequence[Trial],
    outcomes: Mapping[str, str],
    rows: Sequence[Row],
    retry: Iterable[str] = (),
    elsewhere: Collection[str] = (),
) -> Plan:
    """Subtract the trials of the store, then those of another store (`elsewhere`, by id) that this one does
    not have. A trial whose outcome is in `retry` counts as missing."""
    again = set(retry)
    wanted = deduplicate(trials)
    cached = [trial for trial in wanted if trial.id in outcomes and outcomes[trial.id] not in again]
    taken = [trial for trial in wanted if trial.id in elsewhere and trial.id not in outcomes]
    done = {trial.id for trial in (*cached, *taken)}
    missing = [trial for trial in wanted if trial.id not in done]
    failed = [trial for trial in cached if outcomes[trial.id] in FAILURES]
    return Plan(
        missing,
        cached,
        estimate_seconds(missing, rows),
        {row.trial_id: row.attempt for row in rows},
        taken,
        failed,
    )


def estimate_seconds(trials: Sequence[Trial], rows: Sequence[Row]) -> dict[str, float]:
    """Estimated seconds by trial id: those of the trial itself if it was run, else the median of trials in
    its cost class, scaled to its steps."""
    same_spec: dict[str, list[float]] = {}  # one spec is read once, whatever its seed
    for row in rows:
        if row.outcome == "ok" and row.steps > 0:
            same_spec.setdefault(SEED.sub("", row.spec), []).append(row.seconds / row.steps)
    seconds_per_step: dict[str, list[float]] = {}
    for text, found in same_spec.items():
        cost_class = get_cost_class(json.loads(text))
        if cost_class:
            seconds_per_step.setdefault(cost_class, []).extend(found)
    known = {name: median(values) for name, values in seconds_per_step.items()}
    measured = {row.trial_id: row.seconds for row in rows if row.outcome in ("ok", "diverged")}
    classes = {trial.id: get_cost_class(trial.facts) for trial in trials}
    alike = {t.id: known[classes[t.id]] * t.spec.steps for t in trials if classes[t.id] in known}
    return alike | {t.id: measured[t.id] for t in trials if t.id in measured}


def get_cost_class(facts: Mapping[str, Any]) -> str:
    """Equal for the facts of trials that cost the same time per step and the same memory.

    They share profile, task, data, networks, method, batch size and interval of evaluations, and all settings
    of the method that are not real numbers. Whole numbers count things (Langevin steps, draws); real numbers
    (learning rates) cost nothing. Empty for facts without a method.
    """
    if "method" not in facts:
        return ""
    method = {name: value for name, value in facts["method"].items() if not isinstance(value, float)}
    shared = ("profile", "task", "dataset", "networks", "batch_size", "evaluate_every")
    return canonical_json({name: facts.get(name) for name in shared} | {"method": method})

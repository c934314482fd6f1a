"""The plan: what a sweep asks for, less what the store has, and what the rest will cost.

Enumerate -> subtract -> plan: three functions, each testable alone. Resuming is running again: the store is
the truth, not a scheduler's state, so a seed or a grid value that is added to a finished sweep runs exactly
the new trials.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from sweeps.store.row import FAILURES, Row
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Trial


@dataclass(frozen=True)
class Plan:
    """The trials of a sweep, split into those to run and those the store has; seconds are None where nothing
    is known."""

    missing: list[Trial]
    cached: list[Trial]
    seconds: dict[str, float]
    attempts: dict[str, int] = field(default_factory=dict)
    """How often each trial in the store has been run."""
    elsewhere: list[Trial] = field(default_factory=list)
    """Trials that another store has, from which they can be taken."""

    failed: list[Trial] = field(default_factory=list)
    """Those of the cached that ended in a failure: they stay as they are, until a retry."""
    borrowed: bool = False
    """Whether some of the seconds are those of another store's trials."""

    def cost(self) -> float | None:
        """CPU-seconds of the missing trials, as far as they can be estimated; None if for none."""
        known = [self.seconds[trial.id] for trial in self.missing if trial.id in self.seconds]
        return sum(known) * len(self.missing) / len(known) if known else None


def unique(trials: Iterable[Trial]) -> list[Trial]:
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
    """Subtract what the store holds, then what another store holds (`elsewhere`, ids of trials that this one
    never ran); a trial whose outcome is in `retry` counts as missing."""
    again = set(retry)
    wanted = unique(trials)
    cached = [trial for trial in wanted if trial.id in outcomes and outcomes[trial.id] not in again]
    taken = [trial for trial in wanted if trial.id in elsewhere and trial.id not in outcomes]
    done = {trial.id for trial in (*cached, *taken)}
    missing = [trial for trial in wanted if trial.id not in done]
    failed = [trial for trial in cached if outcomes[trial.id] in FAILURES]
    return Plan(
        missing, cached, estimate(missing, rows), {row.trial_id: row.attempt for row in rows}, taken, failed
    )


def estimate(trials: Sequence[Trial], rows: Sequence[Row]) -> dict[str, float]:
    """Seconds of each trial as it took itself, or else as its like did, scaled to its steps.

    Alike are trials of one profile with the same task, data, networks, method, batch and times of evaluation,
    and the same whole numbers among the method's settings: those count things (Langevin steps, draws), while
    real ones (learning rates) cost nothing.
    """
    pace: dict[str, list[float]] = {}
    for row in rows:
        if row.outcome == "ok" and row.steps > 0:
            pace.setdefault(_kind_of_row(row), []).append(row.seconds / row.steps)
    known = {name: median(values) for name, values in pace.items()}
    itself = {row.trial_id: row.seconds for row in rows if row.outcome in ("ok", "diverged")}
    alike = {t.id: known[kind(t)] * t.spec.steps for t in trials if kind(t) in known}
    return alike | {t.id: itself[t.id] for t in trials if t.id in itself}


def kind(trial: Trial) -> str:
    """The same for trials that are alike in cost and memory."""
    return _kind_of_facts(trial.facts)


def _kind_of_row(row: Row) -> str:
    return _kind_of_facts(json.loads(row.spec))


def _kind_of_facts(facts: Mapping[str, Any]) -> str:
    method = {name: value for name, value in facts["method"].items() if not isinstance(value, float)}
    alike = ("profile", "task", "dataset", "networks", "batch_size", "evaluate_every")
    return canonical_json({name: facts.get(name) for name in alike} | {"method": method})

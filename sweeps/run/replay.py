"""Replay: a stored trial run again, and what differs. On the same device and versions, nothing may."""

import json
import time
from dataclasses import replace

from sweeps.errors import EngineError
from sweeps.run.attempt import run_trial
from sweeps.run.conditions import Conditions
from sweeps.store.row import Row
from sweeps.trial.identity import Trial
from vera.errors import SettingError
from vera.training.trainer import resolve_device

SAME = ("outcome", "outcome_step", "reason", "metrics", "restarts")
"""Columns that decide whether two runs of a trial agree."""
ENVIRONMENT = ("device", "processor", "cpus", "versions", "git_commit", "git_dirty")
"""Columns that may explain it if they do not."""


def compare_with_replay(row: Row, conditions: Conditions) -> tuple[list[str], float]:
    """(what differs from the stored row, seconds). The first is empty where both agree to the last bit."""
    if conditions.device != "auto":
        _check_device(row, conditions.device)
    started = time.monotonic()
    trial = Trial.from_facts(json.loads(row.spec), row.sweep, row.label)
    again = run_trial(trial, replace(conditions, attempt=row.attempt)).row
    return differences(row, again), time.monotonic() - started


def _check_device(row: Row, device: str) -> None:
    """EngineError where the replay could not even begin: a row of that would differ in everything and say
    little."""
    try:
        resolve_device(device)
    except SettingError as error:
        raise EngineError(
            f"The trial {row.trial_id[:8]} is replayed on {device}, as it was run, which this machine cannot use "
            f"({str(error.__cause__).splitlines()[0]}): replay it on one that can."
        ) from error


def differences(old: Row, new: Row) -> list[str]:
    """One line for each result that differs, then one for each circumstance that does; nothing if all results
    agree."""
    results = [line for column in SAME for line in _lines(column, getattr(old, column), getattr(new, column))]
    if old.trial_id != new.trial_id:
        results.insert(
            0,
            f"the trial's id was {old.trial_id}, is {new.trial_id}: a default, the data or the protocol has changed",
        )
    if not results:
        return []
    return results + [
        line for column in ENVIRONMENT for line in _lines(column, getattr(old, column), getattr(new, column))
    ]


def _lines(column: str, old: object, new: object) -> list[str]:
    if old == new:
        return []
    if column == "metrics":
        a, b = json.loads(str(old)), json.loads(str(new))
        return [
            f"{name} was {a.get(name)}, is {b.get(name)}"
            for name in sorted({*a, *b})
            if a.get(name) != b.get(name)
        ]
    return [f"{column} was {old}, is {new}"]

"""Replay: run a stored trial again and compare. On the same device and versions nothing may differ."""

import json
import time
from dataclasses import replace
from typing import NamedTuple

from sweeps.errors import EngineError
from sweeps.run.attempt import run_attempt
from sweeps.run.conditions import Conditions
from sweeps.store.row import Row
from sweeps.trial.identity import Trial
from vera.errors import SettingError
from vera.training.device import resolve_device

SAME = ("outcome", "outcome_step", "reason", "metrics", "restarts")
"""Columns that must agree."""
ENVIRONMENT = ("device", "processor", "cpus", "versions", "git_commit", "git_dirty")
"""Columns that may explain a difference."""


class ReplayedTrial(NamedTuple):
    """The differences from the stored row (none if both agree to the last bit), the seconds taken, and the
    content of the model file if models are kept and the trial leaves one."""

    differences: list[str]
    seconds: float
    model: bytes | None


def replay_row(row: Row, conditions: Conditions) -> ReplayedTrial:
    """Run the trial of the row again."""
    if conditions.device != "auto":
        _check_device(row, conditions.device)
    started = time.monotonic()
    trial = Trial.from_facts(json.loads(row.spec), row.sweep, row.label)
    attempt = run_attempt(trial, replace(conditions, attempt=row.attempt))
    differences = list_differences(row, attempt.record().row)
    return ReplayedTrial(differences, time.monotonic() - started, attempt.encode_model())


def _check_device(row: Row, device: str) -> None:
    """EngineError if the device cannot be used; the row of such a replay would differ in everything."""
    try:
        resolve_device(device)
    except SettingError as error:
        raise EngineError(
            f"The trial {row.trial_id[:8]} was run on {device}, which this machine cannot use "
            f"({str(error.__cause__).splitlines()[0]}): replay it on a machine that can."
        ) from error


def list_differences(old: Row, new: Row) -> list[str]:
    """One line for each result that differs, then one for each difference of the environment; nothing if all
    results agree."""
    results = _compare_columns(SAME, old, new)
    if old.trial_id != new.trial_id:
        reason = "a default, the data or the protocol has changed"
        results.insert(0, f"the trial's id was {old.trial_id}, is {new.trial_id}: {reason}")
    return results + _compare_columns(ENVIRONMENT, old, new) if results else []


def _compare_columns(columns: tuple[str, ...], old: Row, new: Row) -> list[str]:
    return [line for name in columns for line in _compare(name, getattr(old, name), getattr(new, name))]


def _compare(column: str, old: object, new: object) -> list[str]:
    """The differences of a column. A metric that the stored row does not have is none: tasks may measure more
    than they did."""
    if old == new:
        return []
    if column == "metrics":
        a, b = json.loads(str(old)), json.loads(str(new))
        return [f"{name} was {a[name]}, is {b.get(name)}" for name in sorted(a) if a[name] != b.get(name)]
    return [f"{column} was {old}, is {new}"]

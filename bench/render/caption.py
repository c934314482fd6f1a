"""The end of every caption: the trials, data, code and hardware behind the numbers. A table that is copied
elsewhere still names its origin.

Trap: rows may come from several commits, machines and data sets. All of them are named, not only the first.
"""

import json
from collections.abc import Iterable, Sequence

from sweeps.store.row import Row
from vera.wording import plural

FINGERPRINT_DIGITS = 8
COMMIT_DIGITS = 7
"""As git abbreviates a commit."""


def describe_origin(rows: Sequence[Row]) -> str:
    """Profile, number of trials, data, code, torch version and hardware; a repeated row counts once."""
    trials = list({row.trial_id: row for row in rows}.values())
    if not trials:
        return "No trial of this has been run."
    profiles = _join_distinct(f"{row.profile} profile" for row in trials)
    data = _join_distinct(
        f"{row.dataset} (data {row.data_fingerprint[:FINGERPRINT_DIGITS]})" for row in trials
    )
    code = _join_distinct(describe_commit(row, COMMIT_DIGITS, "of unknown commit") for row in trials)
    torch = _join_distinct(f"torch {json.loads(row.versions).get('torch', 'unknown')}" for row in trials)
    hardware = _join_distinct(map(_describe_hardware, trials))
    return (
        f"{profiles[0].upper()}{profiles[1:]}: {plural(len(trials), 'trial')} on {data}. "
        f"Code {code}, {torch}, on {hardware}."
    )


def describe_commit(row: Row, digits: int, unknown: str) -> str:
    """The abbreviated commit of a row, marked if the code differed from it; `unknown` if none was
    recorded."""
    return (row.git_commit[:digits] or unknown) + (" (changed)" if row.git_dirty else "")


def _describe_hardware(row: Row) -> str:
    """The model of the processor, for a CPU with its number of cores."""
    return f"{row.processor} ({plural(row.cores, 'core')})" if row.device == "cpu" else row.processor


def _join_distinct(texts: Iterable[str]) -> str:
    """Every distinct text once, sorted."""
    return ", ".join(sorted(set(texts)))

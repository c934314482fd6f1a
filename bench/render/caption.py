"""The end of every caption: which trials the numbers are of, so that a table which is copied elsewhere still
says whence it came.

The trap: rows may come from several commits, machines and data. All of them are named, never only the first.
"""

import json
from collections.abc import Iterable, Sequence

from sweeps.store.row import Row
from vera.wording import plural

SHORT = 8
"""Digits of a fingerprint."""
SHORT_COMMIT = 7
"""Digits of a commit, as git prints it."""


def caption_tail(rows: Sequence[Row]) -> str:
    """Profile, number of trials, data, code, torch and hardware; a row that is given twice counts once."""
    trials = list({row.trial_id: row for row in rows}.values())
    if not trials:
        return "No trial of this has been run."
    profiles = _each(f"{row.profile} profile" for row in trials)
    count = plural(len(trials), "trial")
    data = _each(f"{row.dataset} (data {row.data_fingerprint[:SHORT]})" for row in trials)
    made_with = f"Code {_code(trials)}, {_torch(trials)}, on {_hardware(trials)}."
    return f"{profiles[0].upper()}{profiles[1:]}: {count} on {data}. {made_with}"


def _code(rows: Iterable[Row]) -> str:
    """The commits, each with a mark where the code differed from it."""
    return _each(
        (row.git_commit[:SHORT_COMMIT] or "of unknown commit") + (" (changed)" if row.git_dirty else "")
        for row in rows
    )


def _torch(rows: Iterable[Row]) -> str:
    return _each(f"torch {json.loads(row.versions).get('torch', 'unknown')}" for row in rows)


def _hardware(rows: Iterable[Row]) -> str:
    """The model of the processor; of a CPU also its cores, which say little about a GPU."""
    return _each(
        f"{row.processor} ({plural(row.cores, 'core')})" if row.device == "cpu" else row.processor
        for row in rows
    )


def _each(texts: Iterable[str]) -> str:
    """Every different one, in a fixed order."""
    return ", ".join(sorted(set(texts)))

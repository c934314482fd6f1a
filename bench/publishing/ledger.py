"""The ledger in results/README.md: what was run, when, for how long and at which commit.

One line per sweep and profile. Minutes are CPU time of training and measuring, summed over trials.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from bench.publishing.markdown_templates import render_template
from sweeps.store.row import Row
from vera.spec.settings import by_number

DATASET_FLAG_IMAGES = ("cifar10", "cifar100", "svhn")
"""At `laptop`, only `--dataset` trains on these."""


def render_ledger(rows: Sequence[Row]) -> str:
    """The whole table."""
    return render_template("ledger", runs=list_runs(rows))


def list_runs(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The lines of the table: `laptop` first, then by name."""
    ordered = sorted(rows, key=lambda row: (row.profile != "laptop", row.profile, by_number(name_run(row))))
    groups = groupby(ordered, key=lambda row: (row.profile, name_run(row)))
    return [_describe_run(profile, sweep, list(found)) for (profile, sweep), found in groups]


def name_run(row: Row) -> str:
    """The sweep, and the data if --dataset replaced that of the profile."""
    if row.profile == "laptop" and row.dataset in DATASET_FLAG_IMAGES:
        return f"{row.sweep} on {row.dataset}"
    return row.sweep


def _describe_run(profile: str, sweep: str, rows: Sequence[Row]) -> dict[str, Any]:
    minutes = sum(row.seconds * row.cpus for row in rows) / 60
    return {
        "sweep": sweep,
        "profile": profile,
        "trials": len(rows),
        "not_ok": sum(row.outcome != "ok" for row in rows),
        "start": _format_minute(min(row.started_at for row in rows)),
        "end": _format_minute(max(row.finished_at for row in rows)),
        "minutes": f"{minutes:,.0f}",
        "commits": sorted({f"`{row.git_commit[:7]}`{' (changed)' if row.git_dirty else ''}" for row in rows}),
    }


def _format_minute(time: str) -> str:
    return time[:16].replace("T", " ")

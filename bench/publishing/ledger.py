"""The ledger of results/README.md: what was run, when, for how long, at which commit. Written here from the
published rows.

    python -m bench.publishing.ledger            write it, between the marks
    python -m bench.publishing.ledger --check    write nothing; exit code 1 if it is not what it would be

A line for each run: a sweep, a profile. Minutes are of training and measuring, added up over trials. Loads
neither torch nor ray.
"""

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from bench.locations import PUBLISHED
from bench.publishing.marked_block import written_block
from sweeps.store.row import Row
from sweeps.store.store import Store
from vera.spec.settings import by_number

PAGE = Path("results/README.md")
PHOTOGRAPHS = ("cifar10", "cifar100", "svhn")
"""No trial of the `laptop` profile has them, unless `--dataset` says so."""
HEAD = (
    "| sweep | profile | trials | not ok | from | to | CPU-minutes | commit |",
    "|---|---|---|---|---|---|---|---|",
)


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """The lines of the ledger, its head first."""
    yield from HEAD
    by_sweep = sorted(rows, key=lambda row: (row.profile != "laptop", row.profile, by_number(run_of(row))))
    for (profile, sweep), found in groupby(by_sweep, key=lambda row: (row.profile, run_of(row))):
        yield _line(profile, sweep, list(found))


def run_of(row: Row) -> str:
    """What was asked for: a sweep, or one on other data than its profile has."""
    return (
        f"{row.sweep} on {row.dataset}"
        if row.profile == "laptop" and row.dataset in PHOTOGRAPHS
        else row.sweep
    )


def _line(profile: str, sweep: str, rows: Sequence[Row]) -> str:
    commits = sorted({f"`{row.git_commit[:7]}`{' (changed)' if row.git_dirty else ''}" for row in rows})
    first, last = min(row.started_at for row in rows), max(row.finished_at for row in rows)
    other = sum(row.outcome != "ok" for row in rows)
    minutes = sum(row.seconds * row.cpus for row in rows) / 60
    cells = (
        sweep,
        profile,
        len(rows),
        other,
        _minute(first),
        _minute(last),
        f"{minutes:,.0f}",
        ", ".join(commits),
    )
    return f"| {' | '.join(map(str, cells))} |"


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")


def main(argv: Sequence[str] | None = None) -> int:
    return written_block(
        argv,
        "bench.publishing.ledger",
        "ledger",
        PAGE,
        lambda: lines(Store(f"{PUBLISHED}/trials", create=False).rows()),
    )


if __name__ == "__main__":
    sys.exit(main())

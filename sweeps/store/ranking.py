"""Which record of a trial counts: the one of the highest attempt; within an attempt, a result before a
failure; then the latest.

Two drivers may run the same attempt of a trial at once. If one of them loses its worker, its failure must not
replace the result of the other, even if it ends later.
"""

from sweeps.store.row import FAILURES, Row

Rank = tuple[int, bool, str]
"""(attempt, whether it is a result, finished_at); the highest counts."""
RANKED = ("attempt", "outcome", "finished_at")
"""The columns that decide the rank."""


def rank(attempt: int, outcome: str, finished_at: str) -> Rank:
    """The rank of a record with these values of `RANKED`."""
    return attempt, outcome not in FAILURES, finished_at


def rank_row(row: Row) -> Rank:
    """The rank of the row's record."""
    return rank(row.attempt, row.outcome, row.finished_at)

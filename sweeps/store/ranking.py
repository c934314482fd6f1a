"""Which of a trial's records counts: that of the highest attempt, of these a result before a failure, then
the latest.

Two drivers may run one trial at once, as the same attempt. The one that loses its worker must not take away
what the other has measured, though it ends later.
"""

from sweeps.store.row import FAILURES, Row

Rank = tuple[int, bool, str]
"""(attempt, whether it is a result, finished_at): the highest counts."""
RANKED = ("attempt", "outcome", "finished_at")
"""The columns that decide it."""


def rank(attempt: int, outcome: str, finished_at: str) -> Rank:
    return attempt, outcome not in FAILURES, finished_at


def rank_of(row: Row) -> Rank:
    return rank(row.attempt, row.outcome, row.finished_at)

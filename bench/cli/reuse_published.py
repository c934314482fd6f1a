"""`--reuse-published`: trials that ship are copied into the user's own store in place of being trained again.

Without the flag they are not, so that `make reproduce-table2` on a fresh clone really trains. A trial is the
same if its id is: the same data, settings, seed, profile and protocol. Whoever trained it stands in its row,
which is copied as it is.
"""

import sys
from collections.abc import Collection
from pathlib import Path

from bench.cli.flags import shipped_in
from bench.judging.results import open_store
from bench.locations import PUBLISHED
from sweeps.store.store import Store
from sweeps.trial.plan import Plan

FOLDER = Path(PUBLISHED) / "trials"


def shipped(retry: Collection[str] = ()) -> set[str]:
    """The ids of the trials that ship, less those whose outcome is to be run again."""
    shipped_in("--reuse-published")
    store = open_store(PUBLISHED)
    found = {trial_id for trial_id, outcome in store.outcomes().items() if outcome not in retry}
    for problem in store.problems:
        print(f"vera: {problem}", file=sys.stderr)
    return found


def take(plan: Plan, store: Store) -> None:
    """Copy the plan's trials that ship."""
    store.merge(FOLDER, only={trial.id for trial in plan.elsewhere})

"""`--reuse-published`: published trials are copied into the user's store instead of being trained.

Without the flag they are trained, so that `make reproduce-table2` in a fresh clone really reproduces. Two
trials are the same if they have the same id: the same data, settings, seed, profile and protocol. A copied
row still says who trained it, and when.
"""

from collections.abc import Collection
from pathlib import Path

from bench.cli.command_store import CommandStore
from bench.cli.selection.results_source import require_published
from bench.locations import PUBLISHED
from sweeps.store.store import Store
from sweeps.trial.plan import Plan


def find_reusable(published: CommandStore, retry: Collection[str]) -> set[str]:
    """Ids of the published trials, except those with an outcome that is to be run again."""
    require_published("--reuse-published")
    found = {trial_id for trial_id, outcome in published.outcomes.items() if outcome not in retry}
    published.print_problems()
    return found


def copy_published(plan: Plan, store: Store) -> None:
    """Copy the published trials of the plan into the store."""
    store.merge(Path(PUBLISHED) / "trials", only={trial.id for trial in plan.elsewhere})

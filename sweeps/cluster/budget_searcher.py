"""Known jobs as a Tune searcher that stops handing them out when a budget is spent.

Trap: Tune keeps a trial of a searcher ready while all workers are busy, and starts it whenever one is free.
So a job is handed out only if it can start at once.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from ray.tune.search import Searcher

from sweeps.cluster.connection import ClusterResources, collect_resources
from sweeps.cluster.engine import Engine, TrialJob
from sweeps.run.budget import TrialBudget


class BudgetSearcher(Searcher):
    """Hands out jobs in order while there is budget."""

    def __init__(self, jobs: Sequence[TrialJob], engine: Engine, budget: TrialBudget) -> None:
        super().__init__(metric="trained_steps", mode="max")  # Tune requires a metric; nothing reads it
        self.waiting, self.engine, self.budget = deque(jobs), engine, budget
        self.running: set[str] = set()
        """Tune's ids of the jobs that were handed out and have not ended."""

    def suggest(self, trial_id: str) -> Any:
        if self.budget.is_spent:
            self.budget.not_started += [job["id"] for job in self.waiting]
            self.waiting.clear()
        if not self.waiting:
            return Searcher.FINISHED
        if len(self.running) >= count_places(self.engine, self.waiting[0]["gpus"]):
            return None  # Tune asks again later
        self.running.add(trial_id)
        return {"job": self.waiting.popleft()}

    def on_trial_complete(
        self, trial_id: str, result: Mapping[str, Any] | None = None, error: bool = False
    ) -> None:
        self.running.discard(trial_id)

    def save(self, checkpoint_path: str) -> None:
        """Nothing to do: the store holds all state."""

    def restore(self, checkpoint_path: str) -> None:
        """Nothing to do: the store holds all state."""


def count_places(engine: Engine, gpus: float) -> int:
    """How many trials the cluster can run at once as it is now; at least one."""
    import ray

    places = count_trials_at_once(collect_resources(ray.nodes()), engine.conditions.cpus, gpus)
    return max(1, min(places, engine.max_concurrent or places))


def count_trials_at_once(available: ClusterResources, cpus: float, gpus: float) -> int:
    """How many trials fit on the nodes."""
    wanted = {kind: amount for kind, amount in (("CPU", cpus), ("GPU", gpus)) if amount}
    return sum(
        min((int(node[kind] / amount) for kind, amount in wanted.items()), default=1)
        for node in available.nodes
    )

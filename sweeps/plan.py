"""The plan: what a sweep asks for, less what the store has, and what the rest will cost.

Enumerate -> subtract -> plan: three functions, each testable alone. Resuming is running again: the store is the truth, not a
scheduler's state, so a seed or a grid value that is added to a finished sweep runs exactly the new trials.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from sweeps.row import Row
from sweeps.trial import Trial


@dataclass(frozen=True)
class Plan:
    """The trials of a sweep, split into those to run and those the store has; seconds are None where nothing is known."""

    missing: list[Trial]
    cached: list[Trial]
    seconds: dict[str, float]

    def cost(self) -> float | None:
        """CPU-seconds of the missing trials, as far as they can be estimated; None if for none."""
        known = [self.seconds[trial.id] for trial in self.missing if trial.id in self.seconds]
        return sum(known) * len(self.missing) / len(known) if known else None


def unique(trials: Iterable[Trial]) -> list[Trial]:
    """Each trial once, in order of first appearance."""
    first: dict[str, Trial] = {}
    for trial in trials:
        first.setdefault(trial.id, trial)
    return list(first.values())


def make_plan(trials: Sequence[Trial], outcomes: Mapping[str, str], rows: Sequence[Row], retry: Iterable[str] = ()) -> Plan:
    """Subtract what the store holds; a trial whose outcome is in `retry` counts as missing."""
    again = set(retry)
    wanted = unique(trials)
    done = {trial.id for trial in wanted if trial.id in outcomes and outcomes[trial.id] not in again}
    missing = [trial for trial in wanted if trial.id not in done]
    cached = [trial for trial in wanted if trial.id in done]
    return Plan(missing, cached, estimate(missing, rows))


def estimate(trials: Sequence[Trial], rows: Sequence[Row]) -> dict[str, float]:
    """Seconds of each trial whose like was measured: same task, data, networks, method and batch, scaled to its steps."""
    pace: dict[tuple[object, ...], list[float]] = {}
    for row in rows:
        if row.outcome == "ok" and row.steps > 0:
            pace.setdefault(_kind_of_row(row), []).append(row.seconds / row.steps)
    known = {kind: median(values) for kind, values in pace.items()}
    return {t.id: known[_kind(t)] * t.spec.steps for t in trials if _kind(t) in known}


def _kind(trial: Trial) -> tuple[object, ...]:
    spec = trial.spec
    return spec.task, spec.dataset["name"], spec.networks.get("energy", {}).get("name", ""), spec.method["name"], spec.batch_size


def _kind_of_row(row: Row) -> tuple[object, ...]:
    return row.task, row.dataset, row.energy, row.method, row.batch_size

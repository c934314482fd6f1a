"""The first seed of a trial, which figures show, or the reason why there is nothing to show."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from bench.judging.results import Results, read_metrics
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial

ONE_SEED: Mapping[Profile, tuple[int, ...]] = {"smoke": (0,), "laptop": (0,), "paper": (0,)}
"""The seeds of a figure that shows the first seed only."""


@dataclass(frozen=True)
class FirstSeed:
    """The row with the lowest seed of a trial, whatever its outcome, and its arrays and metrics."""

    row: Row | None = None
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_ok(self) -> bool:
        return self.row is not None and self.row.outcome == "ok"

    @property
    def outcome(self) -> str:
        """For readers: not run, ok, diverged, out of memory."""
        return "not run" if self.row is None else self.row.outcome.replace("_", " ")

    @property
    def failure(self) -> str:
        """Why it has no result: not run, diverged at step 17. Empty if it ended ok."""
        if self.row is None:
            return self.outcome
        return "" if self.is_ok else f"{self.outcome} at step {self.row.outcome_step:,}"


def find_first_seed(results: Results, trial: Trial, only_ok: bool = False) -> FirstSeed:
    """The first seed of a trial; with `only_ok`, the first that ended ok."""
    rows = [row for row in results.find_rows(trial) if row.outcome == "ok" or not only_ok]
    return FirstSeed(rows[0], results.read_arrays(rows[0]), read_metrics(rows[0])) if rows else FirstSeed()


def find_first_rows(results: Results, trials: Iterable[Trial]) -> list[Row]:
    """The rows of the first seed of these trials."""
    return [row for trial in trials for row in results.find_rows(trial)[:1]]

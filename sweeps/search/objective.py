"""What a search seeks: a metric of a trial, and how the trials of one configuration, seed by seed, make one
score.

A trial that diverged counts as the worst value that was declared, a finite number, so that no sampler or
scheduler ever sees a NaN, and no configuration is ever judged by the seeds that survived. A trial that failed
for the machine's sake (out of memory, an error) says nothing of its configuration, which then has no score.
Scores are to be made as large as possible, whatever the metric: one that is to be small is negated inside and
printed as it is.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal

from sweeps.store.row import Row
from vera.errors import SettingError

Aggregate = Literal["mean", "median", "worst"]
AGGREGATES: Mapping[str, Callable[[Sequence[float]], float]] = {"mean": fmean, "median": median, "worst": min}


@dataclass(frozen=True)
class Objective:
    """A metric that is to be large, or small; `worst` is what a diverged trial counts as, `tolerance` a
    difference too small to matter."""

    metric: str
    worst: float
    direction: Literal["large", "small"] = "large"
    tolerance: float = 0.0

    def score(self, value: float) -> float:
        """Larger is better."""
        return value if self.direction == "large" else -value

    def of_metrics(self, metrics: Mapping[str, float]) -> float | None:
        """A score, never below the worst; None where the metric is not there."""
        found = metrics.get(self.metric)
        return None if found is None else max(self.score(found), self.score(self.worst))

    def of_row(self, row: Row) -> float | None:
        """The score of a trial that ended; None of one that failed or lacks the metric."""
        if row.outcome == "diverged":
            return self.score(self.worst)
        if row.outcome not in ("ok", "stopped_early"):
            return None
        if self.metric == "seconds":
            return max(self.score(row.seconds), self.score(self.worst))
        return self.of_metrics(json.loads(row.metrics))

    def printed(self, score: float) -> str:
        return f"{self.metric} {self.score(score):.4g}"


@dataclass(frozen=True)
class Result:
    """What became of a point: its scores, larger is better, one an objective; where it was stopped early, at
    which step."""

    scores: tuple[float, ...]
    stopped_at: int | None = None


def aggregated(scores: Sequence[float], by: Aggregate) -> float:
    if by not in AGGREGATES:
        raise SettingError(f"Seeds are put together by {', '.join(AGGREGATES)}, not by '{by}'.")
    return float(AGGREGATES[by](scores))

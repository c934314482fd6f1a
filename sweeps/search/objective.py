"""The objective of a search: the metric to optimise, and how the seeds of a configuration combine into one
score.

A diverged trial scores the declared worst value, which is finite: no sampler or scheduler sees a NaN, and no
configuration is judged by its surviving seeds alone. A trial that failed for technical reasons (out of
memory, an error) has no score, and neither has its configuration. Scores are always maximised: a metric to be
minimised is negated internally and printed with its own sign.
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
    """A metric and the direction in which it improves."""

    metric: str
    worst: float
    """The value that a diverged trial counts as."""
    direction: Literal["large", "small"] = "large"
    tolerance: float = 0.0
    """Differences up to this size do not matter."""

    def score(self, value: float) -> float:
        """The value with the sign that makes larger better; applied to a score, it returns the value."""
        return value if self.direction == "large" else -value

    def score_metrics(self, metrics: Mapping[str, float]) -> float | None:
        """The score, at least that of the worst value; None if the metric is missing."""
        found = metrics.get(self.metric)
        return None if found is None else max(self.score(found), self.score(self.worst))

    def score_row(self, row: Row) -> float | None:
        """The score of a finished trial; None if it failed or lacks the metric."""
        if row.outcome == "diverged":
            return self.score(self.worst)
        if row.outcome not in ("ok", "stopped_early"):
            return None
        if self.metric == "seconds":
            return max(self.score(row.seconds), self.score(self.worst))
        return self.score_metrics(json.loads(row.metrics))

    def format_score(self, score: float) -> str:
        return f"{self.metric} {self.score(score):.4g}"


@dataclass(frozen=True)
class SearchScore:
    """The scores of a point, one per objective, larger is better."""

    scores: tuple[float, ...]
    stopped_at: int | None = None
    """The step at which the point was stopped early; None if it ran to its end."""


def aggregate_scores(scores: Sequence[float], by: Aggregate) -> float:
    if by not in AGGREGATES:
        raise SettingError(f"Unknown aggregate '{by}' of seeds: choose one of {', '.join(AGGREGATES)}.")
    return float(AGGREGATES[by](scores))

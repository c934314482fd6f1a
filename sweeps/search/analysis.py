"""What a search has found, as numbers for a table or a figure: the best so far, and how much each axis
matters. Loads no torch.

Importance is the share of the variance of ranks that lies between four equally full parts of an axis (its
choices, where it has few): what an axis explains alone. Ranks, because the score of a trial that was stopped
early is one of fewer steps: those that ran to their end come first, by their scores, then those that were
stopped, the later the better, and at one step by their scores there. Trap: with few configurations chance
alone explains (parts − 1) / (n − 1) of the variance; that is taken off and the rest scaled back to 1. What
interaction explains belongs to no axis, and shares need not add up to 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, pvariance
from typing import Any

from sweeps.search.declaration import Configuration
from sweeps.search.objective import Result
from sweeps.search.space import Axis

PARTS = 4


@dataclass(frozen=True)
class Mark:
    """The best score after so many training steps and so many seconds of training, over all trials of the
    search."""

    steps: int
    seconds: float
    score: float


def progress(configurations: Sequence[Configuration]) -> list[Mark]:
    """One mark for each configuration that ran to its end, in the order in which they ended; stopped ones
    cost and do not count."""
    marks: list[Mark] = []
    steps, seconds = 0, 0.0
    for entry in sorted(
        configurations, key=lambda entry: max(row.finished_at for row in entry.rows.values())
    ):
        steps += entry.steps
        seconds += entry.seconds
        result = entry.result()
        if result is not None and result.stopped_at is None:
            best = max(result.scores[0], marks[-1].score) if marks else result.scores[0]
            marks.append(Mark(steps, seconds, best))
    return marks


def importance(configurations: Sequence[Configuration]) -> dict[str, float | None]:
    """By axis, from 0 to 1; None where there are too few scores to say, or all are equal."""
    found = [(entry.point, result) for entry in configurations if (result := entry.result()) is not None]
    ranked = list(zip([point for point, _ in found], ranks([result for _, result in found]), strict=True))
    axes = configurations[0].search.space.axes if configurations else ()
    return {axis.name: _share(axis, [(point[axis.name], rank) for point, rank in ranked]) for axis in axes}


def ranks(results: Sequence[Result]) -> list[float]:
    """From 1 for the worst up; equals share the mean of their places."""
    keys = [
        (math.inf if result.stopped_at is None else result.stopped_at, result.scores[0]) for result in results
    ]
    return [sum(other < key for other in keys) + (keys.count(key) + 1) / 2 for key in keys]


def _share(axis: Axis, scored: Sequence[tuple[Any, float]]) -> float | None:
    parts = [part for part in _parts(axis, scored) if part]
    total = pvariance([score for _, score in scored]) if len(scored) > 1 else 0.0
    if len(scored) < 2 * PARTS or len(parts) < 2 or not total:
        return None
    mean = fmean(score for _, score in scored)
    between = sum(len(part) * (fmean(part) - mean) ** 2 for part in parts) / len(scored)
    chance = (len(parts) - 1) / (len(scored) - 1)
    return max(0.0, (between / total - chance) / (1 - chance))


def _parts(axis: Axis, scored: Sequence[tuple[Any, float]]) -> list[list[float]]:
    """Scores by choice, or by quarter of the values in order; equal values stay together."""
    if axis.choices:
        return [[score for value, score in scored if value == choice] for choice in axis.choices]
    values = sorted(value for value, _ in scored)
    edges = [values[len(values) * part // PARTS] for part in range(1, PARTS)]
    parts: list[list[float]] = [[] for _ in range(PARTS)]
    for value, score in scored:
        parts[sum(value >= edge for edge in edges)].append(score)
    return parts

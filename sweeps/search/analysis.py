"""Analysis of a search for tables and figures: the best score so far, and the importance of each axis. Loads
no torch.

Importance is the share of the variance of ranks that lies between the bins of an axis: four equally full
bins, or its choices. It is what the axis explains on its own. Ranks are used because the score of a trial
that was stopped early belongs to fewer steps: configurations that ran to their end rank first, by score, then
the stopped ones, the later the better, and at equal steps by score. Trap: with few configurations chance
alone explains (bins − 1) / (n − 1) of the variance; this is subtracted and the rest scaled back to 1.
Interactions belong to no axis, so the shares need not add up to 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, pvariance
from typing import Any

from sweeps.search.declaration import Configuration
from sweeps.search.objective import SearchScore
from sweeps.search.space import Axis

BINS = 4


@dataclass(frozen=True)
class ProgressPoint:
    """The best score after this many training steps and seconds, summed over all trials of the search."""

    steps: int
    seconds: float
    score: float


def trace_progress(configurations: Sequence[Configuration]) -> list[ProgressPoint]:
    """One point for each configuration that ran to its end, in the order in which they ended. Configurations
    stopped early add to the cost only."""
    points: list[ProgressPoint] = []
    steps, seconds = 0, 0.0
    for entry in sorted(
        configurations, key=lambda entry: max(row.finished_at for row in entry.rows.values())
    ):
        steps += entry.steps
        seconds += entry.seconds
        score = entry.compute_score()
        if score is not None and score.stopped_at is None:
            best = max(score.scores[0], points[-1].score) if points else score.scores[0]
            points.append(ProgressPoint(steps, seconds, best))
    return points


def compute_importance(configurations: Sequence[Configuration]) -> dict[str, float | None]:
    """The importance of each axis, from 0 to 1; None if there are too few scores, or all are equal."""
    scored = [
        (entry.point, score) for entry in configurations if (score := entry.compute_score()) is not None
    ]
    ranks = rank_scores([score for _, score in scored])
    ranked = list(zip([point for point, _ in scored], ranks, strict=True))
    axes = configurations[0].search.space.axes if configurations else ()
    return {
        axis.name: _explain_variance(axis, [(point[axis.name], rank) for point, rank in ranked])
        for axis in axes
    }


def rank_scores(scores: Sequence[SearchScore]) -> list[float]:
    """Ranks from 1 for the worst; equal scores share their mean rank."""
    keys = [(math.inf if score.stopped_at is None else score.stopped_at, score.scores[0]) for score in scores]
    return [sum(other < key for other in keys) + (keys.count(key) + 1) / 2 for key in keys]


def _explain_variance(axis: Axis, ranked: Sequence[tuple[Any, float]]) -> float | None:
    bins = [members for members in _split_bins(axis, ranked) if members]
    total = pvariance([rank for _, rank in ranked]) if len(ranked) > 1 else 0.0
    if len(ranked) < 2 * BINS or len(bins) < 2 or not total:
        return None
    mean = fmean(rank for _, rank in ranked)
    between = sum(len(members) * (fmean(members) - mean) ** 2 for members in bins) / len(ranked)
    chance = (len(bins) - 1) / (len(ranked) - 1)
    return max(0.0, (between / total - chance) / (1 - chance))


def _split_bins(axis: Axis, ranked: Sequence[tuple[Any, float]]) -> list[list[float]]:
    """Ranks by choice, or by quarter of the sorted values; equal values share a bin."""
    if axis.choices:
        return [[rank for value, rank in ranked if value == choice] for choice in axis.choices]
    values = sorted(value for value, _ in ranked)
    edges = [values[len(values) * number // BINS] for number in range(1, BINS)]
    bins: list[list[float]] = [[] for _ in range(BINS)]
    for value, rank in ranked:
        bins[sum(value >= edge for edge in edges)].append(rank)
    return bins

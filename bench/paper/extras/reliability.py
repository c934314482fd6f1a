"""Reliability of the classifiers of Table 6: in bins of their largest probability, how often they are right.
Not in the paper.

On the diagonal a classifier is right as often as it says; below it, it is too sure of itself. The points of
all seeds are pooled; a bin with fewer than ten of them is left out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bench.artifact import Artifact, Drawing
from bench.judging.results import Results
from bench.paper.experiments.tabular import ABOUT, LINES, TABLES, Table, data_notes
from bench.render.caption import caption_tail
from bench.render.plotting import COLOURS, MARKERS, panels
from sweeps.trial.identity import Profile, Trial

FEWEST = 10


@dataclass(frozen=True)
class Curve:
    """One method on one data set: mean confidence and accuracy of each bin that has enough points."""

    label: str
    confidence: NDArray[Any]
    accuracy: NDArray[Any]

    @classmethod
    def read(cls, results: Results, trial: Trial) -> "Curve":
        found = [results.arrays(row).get("reliability") for row in results.find_rows(trial) if row.outcome == "ok"]
        return cls(trial.label, *pooled([array for array in found if array is not None]))


def pooled(diagrams: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """(confidence, accuracy) over all points of several diagrams, each (counts, confidence, accuracy) by
    bin."""
    if not diagrams:
        return np.empty(0), np.empty(0)
    counts, confidence, accuracy = np.stack(diagrams, axis=1)
    total = counts.sum(0)
    enough = total >= FEWEST
    means = [
        np.where(counts > 0, counts * part, 0.0).sum(0)[enough] / total[enough]
        for part in (confidence, accuracy)
    ]
    return means[0], means[1]


def draw(blocks: Mapping[str, Sequence[Curve]]) -> Any:
    figure, axes = panels(1, len(blocks), 2.6, 2.6)
    for axis, (name, curves) in zip(axes[0], blocks.items(), strict=True):
        axis.plot([0, 1], [0, 1], color="0.7", linewidth=1, zorder=0)
        for curve, colour, marker in zip(curves, COLOURS, MARKERS, strict=False):
            axis.plot(
                curve.confidence,
                curve.accuracy,
                color=colour,
                marker=marker,
                markersize=4,
                linewidth=1,
                label=curve.label,
            )
        axis.set(title=name, xlabel="confidence", xlim=(0, 1), ylim=(0, 1))
    axes[0, 0].set_ylabel("accuracy")
    axes[0, -1].legend(frameon=False, fontsize=7, loc="upper left")
    return figure


class ReliabilityDiagram(Artifact):
    name = "reliability"
    title = "Reliability of the classifiers of Table 6"
    seeds: ClassVar[Mapping[Profile, tuple[int, ...]]] = {
        "smoke": (0,),
        "laptop": (0, 1, 2),
        "paper": (0, 1, 2),
    }

    def trials(self, profile: Profile) -> Iterator[Trial]:
        return (line.trial(table, profile) for table in TABLES[profile] for line in LINES)

    def render(self, results: Results) -> Drawing:
        profile = results.profile
        blocks = {table.name: self.curves(results, table) for table in TABLES[profile]}
        drawing: Callable[[], Any] = partial(draw, blocks)
        rows = results.find_all_rows(self.trials(profile))
        caption = f"Accuracy of held-out points by their largest class probability, in ten bins; {ABOUT[profile]}. {caption_tail(rows)}"
        return Drawing(self.name, self.title, caption, drawing, profile, (*data_notes(rows), *results.notes))

    def curves(self, results: Results, table: Table) -> list[Curve]:
        return [Curve.read(results, line.trial(table, results.profile)) for line in LINES]

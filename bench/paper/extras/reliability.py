"""Reliability of the classifiers of Table 6: how often they are right, in bins of their largest
probability. Not in the paper.

On the diagonal a classifier is right as often as it says. Below it, it is overconfident. The points of all
seeds are pooled. Bins with fewer than ten points are left out. A data set on which every classifier has a
single bin, because all its probabilities are close to one, has no panel but a note.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.artifact import Drawing, ExperimentArtifact
from bench.judging.results import Results
from bench.paper.experiments.tabular import TABULAR
from bench.paper.experiments.tabular_data import read_data_notes
from bench.render.numbers import format_fixed
from bench.render.plotting import COLOURS, MARKERS, create_panels
from sweeps.trial.identity import Profile, Trial

FEWEST = 10
"""Points in a bin that is drawn."""


@dataclass(frozen=True)
class ReliabilityCurve:
    """One method on one data set: mean confidence and accuracy of each bin that has enough points."""

    label: str
    confidence: NDArray[Any]
    accuracy: NDArray[Any]

    @classmethod
    def read(cls, results: Results, trial: Trial) -> "ReliabilityCurve":
        rows = [row for row in results.find_rows(trial) if row.outcome == "ok"]
        found = [results.read_arrays(row).get("reliability") for row in rows]
        return cls(trial.label, *pool_diagrams([array for array in found if array is not None]))


def pool_diagrams(diagrams: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """(confidence, accuracy) over all points of several diagrams, each (counts, confidence, accuracy) by
    bin."""
    if not diagrams:
        return np.empty(0), np.empty(0)
    counts, confidence, accuracy = np.stack(diagrams, axis=1)
    total = counts.sum(0)
    enough = total >= FEWEST
    means = [
        np.where(counts > 0, counts * values, 0.0).sum(0)[enough] / total[enough]
        for values in (confidence, accuracy)
    ]
    return means[0], means[1]


def draw(blocks: Mapping[str, Sequence[ReliabilityCurve]]) -> Any:
    figure, axes = create_panels(1, len(blocks), 2.6, 2.6)
    for axis, (name, curves) in zip(axes[0], blocks.items(), strict=True):
        axis.plot([0, 1], [0, 1], color="0.7", linewidth=1, zorder=0)
        for curve, colour, marker in zip(curves, COLOURS, MARKERS, strict=False):
            if not has_points(curve):
                continue
            style = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1}
            axis.plot(curve.confidence, curve.accuracy, label=curve.label, clip_on=False, **style)
        axis.set(title=name, xlabel="confidence", xlim=(0, 1), ylim=(0, 1))
    axes[0, 0].set_ylabel("accuracy")
    if axes[0, -1].get_legend_handles_labels()[1]:
        axes[0, -1].legend(frameon=False, fontsize=7, loc="upper left")
    return figure


def has_shape(curve: ReliabilityCurve) -> bool:
    """Whether it has several bins."""
    return len(curve.confidence) > 1


def has_points(curve: ReliabilityCurve) -> bool:
    return len(curve.confidence) > 0


def describe_single_bin(name: str, curves: Sequence[ReliabilityCurve]) -> str:
    measured = [
        (curve.label, curve.confidence[0], curve.accuracy[0]) for curve in curves if has_points(curve)
    ]
    points = "; ".join(f"{label} {format_fixed(x, 2)} and {format_fixed(y, 2)}" for label, x, y in measured)
    return f"{name} has one bin only (confidence and accuracy): {points or 'not run'}."


class ReliabilityDiagram(ExperimentArtifact):
    experiment = TABULAR
    name = "reliability"
    title = "Reliability of the classifiers of Table 6"

    def trials_on(self, profile: Profile, data: Sequence[Any]) -> Iterator[Trial]:
        """The trials of Table 6 without those of plug-ins."""
        return (TABULAR.trial(line, profile, each) for each in data for line in TABULAR.lines)

    def render(self, results: Results) -> Drawing:
        profile = results.profile
        blocks = {
            table.name: [ReliabilityCurve.read(results, t) for t in self.trials_on(profile, [table])]
            for table in self.data(profile)
        }
        shown = {name: curves for name, curves in blocks.items() if any(map(has_shape, curves))} or blocks
        rows = self.rows(results)
        text = (
            "Accuracy of held-out points by their largest class probability, in ten bins; "
            f"{TABULAR.about(profile)}."
        )
        notes = [
            *read_data_notes(rows),
            *(describe_single_bin(name, blocks[name]) for name in blocks if name not in shown),
        ]
        return self.drawing(results, text, rows, partial(draw, shown), notes)

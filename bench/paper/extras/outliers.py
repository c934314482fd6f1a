"""Histograms of f(x) on held-out images and on every unseen set, for each way of training. Table 5's AUROCs
summarise them.

Not in the paper, which prints only the AUROC. Bars are shares of a set's images over bins that all sets of
one trial share. Two networks do not share a scale of f, so each panel has its own axes. The first seed is
shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.artifact import Drawing
from bench.judging.results import ONE_SEED, Results, find_first_rows, find_first_seed
from bench.paper.experiments.images import IMAGES, ImageSetting
from bench.paper.image_artifact import FirstSetArtifact
from bench.render.plotting import COLOURS, create_panels
from sweeps.trial.identity import Trial

DASHES = ("-", "--", ":", "-.", (0, (3, 1, 1, 1)), (0, (5, 1)))
SEEN = "held-out images"


@dataclass(frozen=True)
class ScoreHistogram:
    """Shares of each set's images by bin of f, for one trial. If there are none, `reason` says why."""

    label: str
    edges: NDArray[Any]
    shares: Mapping[str, NDArray[Any]]
    reason: str

    @classmethod
    def read(cls, results: Results, trial: Trial, data: ImageSetting) -> "ScoreHistogram":
        """The histograms of the first seed."""
        first = find_first_seed(results, trial)
        names = {f"histogram_{key}": name for key, name in {"seen": SEEN, **data.unseen}.items()}
        counts = {name: first.arrays[key] for key, name in names.items() if key in first.arrays}
        shares = {name: count / count.sum() for name, count in counts.items() if count.sum() > 0}
        reason = "no score is finite" if first.is_ok else first.outcome
        edges = first.arrays.get("histogram_edges", np.empty(0))
        return cls(trial.label, edges, shares, "" if shares else reason)


def draw(found: Sequence[ScoreHistogram]) -> Any:
    figure, axes = create_panels(1, len(found), 2.7, 2.4)
    for axis, histogram in zip(axes[0], found, strict=True):
        axis.set(title=histogram.label, xlabel="f(x)", yticks=())
        for (name, shares), colour, dash in zip(histogram.shares.items(), COLOURS, DASHES, strict=False):
            axis.stairs(shares, histogram.edges, color=colour, linestyle=dash, label=name)
        if histogram.reason:
            axis.text(0.5, 0.5, histogram.reason, ha="center", va="center", transform=axis.transAxes)
    axes[0, 0].set_ylabel("share of images")
    fullest = max(axes[0], key=lambda axis: len(axis.get_legend_handles_labels()[0]))
    if fullest.get_legend_handles_labels()[0]:
        fullest.legend(frameon=False, fontsize=7)
    return figure


class Outliers(FirstSetArtifact):
    name = "outliers"
    title = "f(x) of seen and unseen images"
    seeds = ONE_SEED

    def render(self, results: Results) -> Drawing:
        data, trials = self.first_set(results.profile), list(self.trials(results.profile))
        found = [ScoreHistogram.read(results, trial, data) for trial in trials]
        text = (
            f"Shares of images by f(x), of held-out images of {data.name} and of unseen sets; "
            f"the further apart, the better. First seed; {IMAGES.about(results.profile)}."
        )
        return self.drawing(results, text, find_first_rows(results, trials), partial(draw, found))

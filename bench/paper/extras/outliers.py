"""Histograms of f(x) on held-out images and on every unseen set, for each way of training: what Table 5's
numbers are made of.

Not in the paper, which prints the AUROC alone. Bars are shares of a set's images over bins that all sets of
one trial share; f has no scale that two networks share, so each panel has axes of its own. The first seed is
shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bench.artifact import Drawing
from bench.judging.results import Results
from bench.paper.experiments.images import SIZES, Pictures
from bench.paper.tables.image_tables import FirstPictures
from bench.render.caption import caption_tail
from bench.render.plotting import COLOURS, panels
from sweeps.trial.identity import Profile, Trial

DASHES = ("-", "--", ":", "-.", (0, (3, 1, 1, 1)), (0, (5, 1)))
SEEN = "held-out images"


@dataclass(frozen=True)
class Histogram:
    """Of one trial: shares of each set's images by bin, under the sets' names; none where `reason` says
    why."""

    label: str
    edges: NDArray[Any]
    shares: Mapping[str, NDArray[Any]]
    reason: str

    @classmethod
    def read(cls, results: Results, trial: Trial, pictures: Pictures) -> "Histogram":
        rows = results.find_rows(trial)[:1]
        arrays = results.arrays(rows[0]) if rows else {}
        names = {"seen": SEEN, **(pictures.unseen or {})}
        counts = {
            name: arrays[f"histogram_{key}"] for key, name in names.items() if f"histogram_{key}" in arrays
        }
        shares = {name: count / count.sum() for name, count in counts.items() if count.sum() > 0}
        ended = (
            "not run"
            if not rows
            else "no score is finite"
            if rows[0].outcome == "ok"
            else rows[0].outcome.replace("_", " ")
        )
        return cls(trial.label, arrays.get("histogram_edges", np.empty(0)), shares, "" if shares else ended)


def draw(found: Sequence[Histogram]) -> Any:
    figure, axes = panels(1, len(found), 2.7, 2.4)
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


class Outliers(FirstPictures):
    name = "outliers"
    title = "f(x) of seen and unseen images"
    seeds: ClassVar[Mapping[Profile, tuple[int, ...]]] = {"smoke": (0,), "laptop": (0,), "paper": (0,)}

    def render(self, results: Results) -> Drawing:
        pictures, trials = self.pictures(results.profile), list(self.trials(results.profile))
        found = [Histogram.read(results, trial, pictures) for trial in trials]
        rows = [row for trial in trials for row in results.find_rows(trial)[:1]]
        caption = (
            f"Shares of images by f(x), of held-out images of {pictures.name} and of unseen sets; the further apart, the better. "
            f"First seed; {SIZES[results.profile].about}. {caption_tail(rows)}"
        )
        return self.drawing(results, caption, partial(draw, found))

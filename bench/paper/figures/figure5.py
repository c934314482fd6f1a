"""Figure 5: samples of the linear generator on which Figure 3 judges the estimators: a check that it is a
model of digits at all.

They come with the trial that examines importance sampling, so nothing is run for this figure alone. What the
output noise puts beyond black and white is cut off.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.artifact import Artifact, Drawing
from bench.judging.results import Results
from bench.paper.experiments.score_bias import BUDGETS, importance
from bench.render.caption import caption_tail
from bench.render.plotting import mosaic, panels
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial

ROWS, COLUMNS, GAP = 10, 10, 2
WHITE = 255


def draw(images: NDArray[np.uint8] | None) -> Any:
    figure, axes = panels(1, 1, 4.5, 4.5)
    axis = axes[0, 0]
    axis.set_axis_off()
    if images is None:
        axis.text(0.5, 0.5, "no samples", ha="center", va="center")
    else:
        axis.imshow(
            mosaic(images, ROWS, COLUMNS, WHITE, GAP),
            cmap="gray",
            vmin=0,
            vmax=WHITE,
            interpolation="nearest",
        )
    return figure


class Figure5(Artifact):
    name = "figure5"
    title = "Figure 5: samples of the linear generator"

    def trials(self, profile: Profile) -> Iterator[Trial]:
        yield importance(profile)

    def render(self, results: Results) -> Drawing:
        profile = results.profile
        shown = first(results, importance(profile))
        images = None if shown is None else results.arrays(shown).get("images")
        seed = "" if shown is None else f" Seed {shown.seed}."
        caption = (
            f"Samples of probabilistic PCA of MNIST, the generator of Figure 3 ({BUDGETS[profile].latent_dim} components).{seed} "
            f"{caption_tail([] if shown is None else [shown])}"
        )
        return Drawing(self.name, self.title, caption, partial(draw, images), profile)


def first(results: Results, trial: Trial) -> Row | None:
    """The row of the lowest seed that ended ok."""
    return next((row for row in results.find_rows(trial) if row.outcome == "ok"), None)

"""Figure 5: samples of the linear generator of Figure 3, to check that it is a model of digits at all.

They are stored with the trial of importance sampling, so nothing is run for this figure alone. Values that
the output noise puts beyond black and white are clipped.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.artifact import Drawing, ExperimentArtifact
from bench.judging.results import Results, find_first_seed
from bench.paper.experiments.score_bias import IMPORTANCE, SCORE_BIAS
from bench.render.plotting import create_panels, tile_images
from sweeps.trial.identity import Profile, Trial

ROWS, COLUMNS, GAP = 10, 10, 2
WHITE = 255


def draw(images: NDArray[np.uint8] | None) -> Any:
    figure, axes = create_panels(1, 1, 4.5, 4.5)
    axis = axes[0, 0]
    axis.set_axis_off()
    if images is None:
        axis.text(0.5, 0.5, "no samples", ha="center", va="center")
    else:
        axis.imshow(
            tile_images(images, ROWS, COLUMNS, WHITE, GAP),
            cmap="gray",
            vmin=0,
            vmax=WHITE,
            interpolation="nearest",
        )
    return figure


class Figure5(ExperimentArtifact):
    experiment = SCORE_BIAS
    name = "figure5"
    title = "Figure 5: samples of the linear generator"

    def trials(self, profile: Profile) -> Iterator[Trial]:
        yield SCORE_BIAS.trial(IMPORTANCE, profile)

    def render(self, results: Results) -> Drawing:
        profile = results.profile
        shown = find_first_seed(results, SCORE_BIAS.trial(IMPORTANCE, profile), only_ok=True)
        rows = [] if shown.row is None else [shown.row]
        text = (
            "Samples of probabilistic PCA of MNIST, the generator of Figure 3 "
            f"({SCORE_BIAS.scales[profile].latent_dim} "
            f"components).{''.join(f' Seed {row.seed}.' for row in rows)}"
        )
        return self.drawing(results, text, rows, partial(draw, shown.arrays.get("images")))

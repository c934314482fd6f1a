"""Figure 8: digits from the generator of the semi-supervised model, and the same after 100 MALA steps on
(z, ε)."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from numpy.typing import NDArray

from bench.artifact import Drawing, ExperimentArtifact
from bench.judging.results import ONE_SEED, FirstSeed, Results, find_first_rows, find_first_seed
from bench.paper.experiments.tabular import TABULAR
from bench.paper.figures.image_figures import describe_acceptance
from bench.render.plotting import create_panels, draw_image, tile_images
from sweeps.trial.identity import Profile, Trial

TITLES = {"generated_samples": "generator samples", "refined_samples": "after 100 MALA steps"}
TILES = (8, 10)


def tile_digits(samples: NDArray[Any]) -> NDArray[Any]:
    """Points in [−1, 1] as square images on one sheet."""
    side = round(samples.shape[1] ** 0.5)
    return tile_images(((samples + 1) / 2).clip(0, 1).reshape(-1, side, side), *TILES, white=1.0, gap=1)


def draw(first: FirstSeed) -> Any:
    figure, axes = create_panels(1, 2, 3.4, 2.9)
    for axis, (name, title) in zip(axes[0], TITLES.items(), strict=True):
        axis.set_title(title)
        draw_image(axis, tile_digits(first.arrays[name]) if name in first.arrays else None, first.outcome)
    return figure


class Figure8(ExperimentArtifact):
    experiment = TABULAR
    name = "figure8"
    title = "Figure 8: digits from the semi-supervised model"
    seeds = ONE_SEED

    def trials(self, profile: Profile) -> Iterator[Trial]:
        """VERA's trial of Table 6 on the last data set of images."""
        *_, images = (table for table in TABULAR.data(profile) if table.image)
        yield TABULAR.trial("VERA", profile, images)

    def render(self, results: Results) -> Drawing:
        (trial,) = self.trials(results.profile)
        rows = find_first_rows(results, [trial])
        text = (
            "Left: x = g(z) + σ ε. Right: the same chains after 100 MALA steps."
            f"{describe_acceptance(rows)} {TABULAR.about(results.profile)}."
        )
        return self.drawing(results, text, rows, partial(draw, find_first_seed(results, trial)))

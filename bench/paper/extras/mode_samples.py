"""Samples of mode counting: stacked digits of each line's generator, beside the number of modes it finds."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from bench.artifact import Drawing, ExperimentArtifact
from bench.judging.results import ONE_SEED, FirstSeed, Results, find_first_rows, find_first_seed
from bench.paper.experiments.modes import MODES
from bench.render.plotting import create_panels, draw_image, tile_colour_images

SHOWN, COLUMNS = 64, 8


def draw(shown: Sequence[tuple[str, FirstSeed]]) -> Any:
    """One sheet of samples for each line."""
    figure, axes = create_panels(1, len(shown), 2.4, 2.6)
    for axis, (label, first) in zip(axes[0], shown, strict=True):
        modes = first.metrics.get("modes")
        axis.set_title(label if modes is None else f"{label}\n{modes:.0f} modes", fontsize=8)
        images = first.arrays.get("generated_samples")
        sheet = None if images is None else tile_colour_images(images[:SHOWN], COLUMNS)
        draw_image(axis, sheet, first.failure or "no samples")
    return figure


class ModeSamples(ExperimentArtifact):
    experiment = MODES
    name = "mode-samples"
    title = "Samples of mode counting"
    seeds = ONE_SEED
    shows_variants = False

    def render(self, results: Results) -> Drawing:
        trials = list(self.trials(results.profile))
        rows = find_first_rows(results, trials)
        text = (
            f"The first {SHOWN} samples of each generator; each colour channel is a digit. First seed; "
            f"{MODES.about(results.profile)}."
        )
        found = [(trial.name, find_first_seed(results, trial)) for trial in trials]
        shown = [(name, first) for name, first in found if first.row is not None]
        notes = [f"{name}: {first.outcome}." for name, first in found if first.row is None]
        return self.drawing(results, text, rows, partial(draw, shown), notes)

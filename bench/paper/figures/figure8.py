"""Figure 8: digits from the generator of the semi-supervised model, and the same after 100 MALA steps on (z,
ε)."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

from numpy.typing import NDArray

from bench.artifact import Artifact, Drawing
from bench.judging.results import Results, read_metrics
from bench.paper.experiments.tabular import ABOUT, TABLES, line
from bench.paper.figures.figure2 import draw_tile
from bench.render.caption import caption_tail
from bench.render.plotting import mosaic, panels
from sweeps.trial.identity import Profile, Trial

TITLES = {"generated_samples": "generator samples", "refined_samples": "after 100 MALA steps"}
TILES = (8, 10)


def digits(samples: NDArray[Any]) -> NDArray[Any]:
    """Points in [−1, 1] as square images on one sheet."""
    side = round(samples.shape[1] ** 0.5)
    return mosaic(((samples + 1) / 2).clip(0, 1).reshape(-1, side, side), *TILES, white=1.0, gap=1)


def draw(arrays: Mapping[str, NDArray[Any]], reason: str) -> Any:
    figure, axes = panels(1, 2, 3.4, 2.9)
    for axis, (name, title) in zip(axes[0], TITLES.items(), strict=True):
        axis.set_title(title)
        draw_tile(axis, digits(arrays[name]) if name in arrays else None, reason)
    return figure


class Figure8(Artifact):
    name = "figure8"
    title = "Figure 8: digits from the semi-supervised model"
    seeds: ClassVar[Mapping[Profile, tuple[int, ...]]] = {"smoke": (0,), "laptop": (0,), "paper": (0,)}

    def trials(self, profile: Profile) -> Iterator[Trial]:
        """VERA's own trial of Table 6 on the last set of images."""
        yield line("VERA").trial(next(table for table in reversed(TABLES[profile]) if table.image), profile)

    def render(self, results: Results) -> Drawing:
        (trial,) = self.trials(results.profile)
        rows = results.find_rows(trial)[:1]
        ended = "not run" if not rows else rows[0].outcome.replace("_", " ")
        arrays = results.arrays(rows[0]) if rows else {}
        tuned = read_metrics(rows[0]).get("refinement_acceptance") if rows else None
        acceptance = "" if tuned is None else f" Of the MALA proposals {100 * tuned:.0f} % were accepted."
        caption = f"Left: x = g(z) + σ ε. Right: the same chains after 100 MALA steps.{acceptance} {ABOUT[results.profile]}. "
        drawing = partial(draw, arrays, ended)
        return Drawing(
            self.name,
            self.title,
            caption + caption_tail(rows),
            drawing,
            results.profile,
            tuple(results.notes),
        )

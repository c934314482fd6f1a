"""Test log-likelihood of the flow against each setting of VERA, the others held at the base.

Mean over seeds with its 95 % interval; the base, marked by a square, has its own panel position in every
setting. Values have equal distances, whatever their size.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from bench.artifact import Drawing
from bench.judging.cell import Cell
from bench.judging.results import Results
from bench.render.plotting import COLOURS, create_panels
from bench.today.experiments.ablations import ABLATIONS, AXES, spell_value
from bench.today.tables.ablations import read_likelihood
from bench.today.today_artifact import TodayArtifact

COLUMNS = 4
Points = Sequence[tuple[str, bool, Cell]]
"""The value, whether it is the base's, and the likelihood."""


def draw(panels: Mapping[str, Points]) -> Any:
    """One panel for each setting, all with one scale."""
    rows = -(-len(panels) // COLUMNS)
    figure, axes = create_panels(rows, COLUMNS, 1.8, 1.7)
    for axis, (name, points) in zip(axes.flat, panels.items(), strict=False):
        draw_panel(axis, name, points)
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    shown = [cell.mean for points in panels.values() for _, _, cell in points if cell.mean is not None]
    if shown:
        margin = 2 + 0.1 * (max(shown) - min(shown))
        for axis in axes.flat[: len(panels)]:
            axis.set_ylim(min(shown) - margin, max(shown) + margin)
    for axis in axes[:, 0]:
        axis.set_ylabel("nats", fontsize=8)
    return figure


def draw_panel(axis: Any, name: str, points: Points) -> None:
    axis.set_title(name, fontsize=8)
    axis.set_xticks(range(len(points)), [value for value, _, _ in points], fontsize=7)
    axis.set_xlim(-0.5, len(points) - 0.5)
    for place, (_, is_base, cell) in enumerate(points):
        if cell.mean is None:
            axis.text(
                place, 0.5, cell.reason, rotation=90, ha="center", va="center", fontsize=6,
                transform=axis.get_xaxis_transform(),
            )  # fmt: skip
            continue
        marker, colour = ("s", COLOURS[1]) if is_base else ("o", COLOURS[0])
        axis.errorbar(
            [place], [cell.mean], [cell.half_width or 0.0], fmt=marker, color=colour, markersize=4, capsize=2
        )


class AblationPanels(TodayArtifact):
    experiment = ABLATIONS
    name = "ablation-panels"
    title = "Likelihood of the flow against each setting of VERA"

    def render(self, results: Results) -> Drawing:
        panels = {
            axis.name: [
                (spell_value(value), value == axis.base, read_likelihood(results, axis.label(value)))
                for value in axis.values
            ]
            for axis in AXES
        }
        text = (
            "Test log-likelihood in nats, mean over seeds with its 95 % interval; squares are the base. "
            f"{ABLATIONS.about(results.profile).capitalize()}."
        )
        return self.drawing(results, text, self.rows(results), partial(draw, panels))

"""Parallel coordinates of a search: one vertical axis per setting and one for the score, one line per
configuration.

Lines are coloured by score, except those of configurations that were stopped early or diverged. Trap: one bad
score would press all others together at the top. The axis of the score therefore extends below the best by at
most four times the distance between the best and the median; lower scores are drawn at its end, which is
marked ≤.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from bench.render.numbers import format_significant
from bench.render.plotting import COLOURS
from sweeps.search.declaration import Configuration, find_best
from sweeps.search.objective import Objective
from sweeps.search.space import Axis

REACH = 4.0
"""Length of the score's axis in units of the distance between the best and the median score."""
MARGIN = 0.04
SIDES = {-1: "right", 1: "left"}
BEST: dict[str, Any] = {"linewidth": 2.4, "zorder": 4}
FINISHED: dict[str, Any] = {"linewidth": 1.0, "zorder": 3}
STOPPED: dict[str, Any] = {"color": "0.55", "linewidth": 0.6, "alpha": 0.45, "zorder": 1}
DIVERGED: dict[str, Any] = {
    "color": COLOURS[1],
    "linewidth": 0.8,
    "linestyle": ":",
    "marker": "x",
    "markersize": 3.5,
    "zorder": 2,
}
AxisMark = tuple[float, str]
"""(height between 0 and 1, text)."""


class ScoreScale:
    """Maps scores to heights between 0 and 1."""

    def __init__(self, scores: Sequence[float]) -> None:
        self.high = max(scores, default=1.0)
        lowest = min(scores, default=0.0)
        self.low = max(lowest, self.high - REACH * (self.high - median(scores))) if scores else lowest
        self.is_cut = self.low > lowest
        if self.low == self.high:
            self.low = self.high - 1.0

    def locate(self, score: float) -> float:
        return min(1.0, max(0.0, (score - self.low) / (self.high - self.low)))

    def make_marks(self, objective: Objective) -> list[AxisMark]:
        def format_at(height: float) -> str:
            return format_significant(objective.score(self.low + height * (self.high - self.low)))

        sign = ("≤ " if objective.direction == "large" else "≥ ") if self.is_cut else ""
        return [(0.0, f"{sign}{format_at(0.0)}"), (0.5, format_at(0.5)), (1.0, format_at(1.0))]


def draw_coordinates(panel: Any, configurations: Sequence[Configuration], title: str) -> None:
    search = configurations[0].search
    axes, objective = search.space.axes, search.objectives[0]
    computed = [(entry, entry.compute_score()) for entry in configurations]
    scored = [(entry, score.scores[0]) for entry, score in computed if score is not None]
    finished = [score for entry, score in scored if not entry.is_stopped and not entry.has_diverged]
    scale, best = ScoreScale(finished or [score for _, score in scored]), find_best(configurations)
    for entry, score in sorted(scored, key=lambda pair: (pair[0] in best, not pair[0].is_stopped, pair[1])):
        heights = [*(axis.locate(entry.point[axis.name]) for axis in axes), scale.locate(score)]
        panel.plot(range(len(heights)), heights, **_choose_style(entry, heights[-1], entry in best))
    names = [*(axis.short_name for axis in axes), objective.metric.replace("_", "\n", 1).replace("_", " ")]
    for place, marks in enumerate([*map(make_axis_marks, axes), scale.make_marks(objective)]):
        _draw_axis(panel, place, marks, side=1 if place == len(axes) else -1)
    panel.set_title(title, fontsize=9)
    panel.set_xticks(range(len(names)), names)
    panel.set(yticks=[], xlim=(-0.3, len(names) - 0.65), ylim=(-MARGIN, 1 + MARGIN))
    panel.tick_params(axis="x", length=0)
    panel.spines[["left", "bottom"]].set_visible(False)


def _choose_style(entry: Configuration, height: float, is_best: bool) -> dict[str, Any]:
    from matplotlib import colormaps

    if entry.has_diverged:
        return DIVERGED
    if entry.is_stopped:
        return STOPPED
    return (BEST if is_best else FINISHED) | {"color": colormaps["viridis_r"](0.1 + 0.9 * height)}


def make_legend() -> list[Any]:
    """One line for each style."""
    from matplotlib.lines import Line2D

    styles = {
        "the best": BEST | {"color": "#440154"},
        "ran to its end": FINISHED | {"color": "#31688e"},
        "stopped early": STOPPED,
        "a seed diverged": DIVERGED,
    }
    return [Line2D([], [], label=name, **style) for name, style in styles.items()]


def make_axis_marks(axis: Axis) -> list[AxisMark]:
    """Marks at every choice, or at both ends and at round values between them."""
    return [
        (axis.locate(value), f"{value:g}" if isinstance(value, float) else str(value))
        for value in _choose_marked_values(axis)
    ]


def _choose_marked_values(axis: Axis) -> Iterator[Any]:
    if axis.choices:
        yield from axis.choices
        return
    assert axis.low is not None
    assert axis.high is not None
    yield axis.low
    if axis.log:
        exponents = range(math.ceil(math.log10(axis.low) + 0.2), math.floor(math.log10(axis.high) - 0.2) + 1)
        yield from (10.0**exponent for exponent in exponents)
    else:
        yield (axis.low + axis.high) / 2
    yield axis.high


def _draw_axis(panel: Any, place: int, marks: Sequence[AxisMark], side: int) -> None:
    """A vertical axis with its marks to the left (-1) or to the right (1)."""
    panel.plot([place, place], [0, 1], color="0.2", linewidth=0.9, zorder=5)
    halo = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
    for height, text in marks:
        panel.plot([place + 0.02 * side, place], [height, height], color="0.2", linewidth=0.7, zorder=5)
        x, alignment = place + 0.04 * side, SIDES[side]
        panel.text(x, height, text, ha=alignment, va="center", fontsize=6.5, zorder=6, bbox=halo)

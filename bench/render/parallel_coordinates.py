"""Parallel coordinates of a search: one upright a setting, the score as the last, one line a configuration.

Colour goes by score, over those that ran to their end without a diverged seed. Trap: one bad score would
press all others together at the top, so the scale reaches down from the best by four times the middle score's
distance from it; what lies lower is drawn at its foot, and the mark there says ≤.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from bench.render.layout import MINUS
from bench.render.plotting import COLOURS
from sweeps.search.declaration import Configuration, find_best
from sweeps.search.objective import Objective
from sweeps.search.space import Axis

FEET = 4.0
"""How many times the distance from the best to the middle score is shown."""
MARGIN = 0.04
SIDES = {-1: "right", 1: "left"}
BEST: dict[str, Any] = {"linewidth": 2.4, "zorder": 4}
WHOLE: dict[str, Any] = {"linewidth": 1.0, "zorder": 3}
STOPPED: dict[str, Any] = {"color": "0.55", "linewidth": 0.6, "alpha": 0.45, "zorder": 1}
DIVERGED: dict[str, Any] = {
    "color": COLOURS[1],
    "linewidth": 0.8,
    "linestyle": ":",
    "marker": "x",
    "markersize": 3.5,
    "zorder": 2,
}


class Scale:
    """From a score to a height between 0 and 1."""

    def __init__(self, scores: Sequence[float]) -> None:
        self.high = max(scores, default=1.0)
        lowest = min(scores, default=0.0)
        self.low = max(lowest, self.high - FEET * (self.high - median(scores))) if scores else lowest
        self.cut = self.low > lowest
        if self.low == self.high:
            self.low = self.high - 1.0

    def place(self, score: float) -> float:
        return min(1.0, max(0.0, (score - self.low) / (self.high - self.low)))

    def marks(self, objective: Objective) -> list[tuple[float, str]]:
        def text(height: float) -> str:
            value = objective.score(self.low + height * (self.high - self.low))
            return f"{value:.4g}".replace("-", MINUS)

        sign = ("≤ " if objective.direction == "large" else "≥ ") if self.cut else ""
        return [(0.0, f"{sign}{text(0.0)}"), (0.5, text(0.5)), (1.0, text(1.0))]


def coordinates(panel: Any, configurations: Sequence[Configuration], title: str) -> None:
    search = configurations[0].search
    axes, objective = search.space.axes, search.objectives[0]
    scored = [
        (entry, result.scores[0]) for entry in configurations if (result := entry.compute_score()) is not None
    ]
    whole = [score for entry, score in scored if not entry.is_stopped and not entry.has_diverged]
    scale, winner = Scale(whole or [score for _, score in scored]), find_best(configurations)
    for entry, score in sorted(scored, key=lambda pair: (pair[0] in winner, not pair[0].is_stopped, pair[1])):
        heights = [axis.locate(entry.point[axis.name]) for axis in axes]
        panel.plot(
            range(len(axes) + 1),
            [*heights, scale.place(score)],
            **look(entry, scale.place(score), entry in winner),
        )
    uprights = [marks_of(axis) for axis in axes] + [scale.marks(objective)]
    names = [*(axis.short_name for axis in axes), objective.metric.replace("_", "\n", 1).replace("_", " ")]
    for place, marks in enumerate(uprights):
        upright(panel, place, marks, side=1 if place == len(axes) else -1)
    panel.set_title(title, fontsize=9)
    panel.set_xticks(range(len(names)), names)
    panel.set(yticks=[], xlim=(-0.3, len(names) - 0.65), ylim=(-MARGIN, 1 + MARGIN))
    panel.tick_params(axis="x", length=0)
    panel.spines[["left", "bottom"]].set_visible(False)


def look(entry: Configuration, height: float, is_best: bool) -> dict[str, Any]:
    """Of its line."""
    from matplotlib import colormaps

    if entry.has_diverged:
        return DIVERGED
    return (
        STOPPED
        if entry.is_stopped
        else (BEST if is_best else WHOLE) | {"color": colormaps["viridis_r"](0.1 + 0.9 * height)}
    )


def legend() -> list[Any]:
    """What the kinds of lines mean."""
    from matplotlib.lines import Line2D

    looks = {
        "the best": BEST | {"color": "#440154"}, "ran to its end": WHOLE | {"color": "#31688e"},
        "stopped early": STOPPED, "a seed diverged": DIVERGED,
    }  # fmt: skip
    return [Line2D([], [], label=name, **style) for name, style in looks.items()]


def marks_of(axis: Axis) -> list[tuple[float, str]]:
    """Where values are written: the ends, what lies between at round numbers; every choice."""
    return [
        (axis.locate(value), f"{value:g}" if isinstance(value, float) else str(value))
        for value in _values(axis)
    ]


def _values(axis: Axis) -> Iterator[Any]:
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


def upright(panel: Any, place: int, marks: Sequence[tuple[float, str]], side: int) -> None:
    """With its marks to the left (-1) or to the right (1)."""
    panel.plot([place, place], [0, 1], color="0.2", linewidth=0.9, zorder=5)
    halo = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
    for height, text in marks:
        panel.plot([place + 0.02 * side, place], [height, height], color="0.2", linewidth=0.7, zorder=5)
        panel.text(
            place + 0.04 * side, height, text, ha=SIDES[side], va="center", fontsize=6.5, zorder=6, bbox=halo
        )

"""The figure of searches: progress, importance of the settings, and all configurations. Not in the paper.

Each problem and method has one block. Its upper row shows the best score so far against training steps and
against seconds of training, one line per search, and the importance of each axis (`sweeps.search.analysis`).
Below it, each search has a panel of parallel coordinates with the score as the last coordinate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from bench.artifact import Drawing
from bench.judging.results import Results
from bench.render.caption import describe_origin
from bench.render.plotting import COLOURS, MARKERS, STYLE
from bench.searches.parallel_coordinates import draw_coordinates, make_legend
from bench.searches.search_table import SearchArtifact
from bench.searches.stored_searches import SearchKey, StoredSearch, find_searches
from sweeps.search.analysis import compute_importance, trace_progress

WIDTH, ROW_HEIGHT = 9.0, 2.6
"""Inches."""
PANELS_IN_ROW = 2
"""Panels of parallel coordinates in a row."""


def draw_searches(found: Mapping[SearchKey, Sequence[StoredSearch]]) -> Any:
    import matplotlib
    from matplotlib.figure import Figure

    heights = [1 + -(-len(runs) // PANELS_IN_ROW) for runs in found.values()]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, ROW_HEIGHT * sum(heights)), layout="constrained")
        blocks = figure.subfigures(len(found), 1, squeeze=False, height_ratios=heights)[:, 0]
        for block, (key, runs) in zip(blocks, found.items(), strict=True):
            block.suptitle(", ".join(key), fontsize=10)
            _draw_block(block, runs)
        figure.legend(handles=make_legend(), loc="outside lower center", ncols=4, frameon=False, fontsize=7)
    return figure


def _draw_block(figure: Any, runs: Sequence[StoredSearch]) -> None:
    rows = -(-len(runs) // PANELS_IN_ROW)
    above, below = figure.subfigures(2, 1, height_ratios=(1, rows))
    steps, seconds, bars = above.subplots(1, 3, width_ratios=(1, 1, 0.9))
    _draw_progress(steps, seconds, runs)
    _draw_importance(bars, runs)
    panels = list(below.subplots(rows, min(PANELS_IN_ROW, len(runs)), squeeze=False).flat)
    for panel, run in zip(panels, runs, strict=False):
        title = f"{run.name}: {len(run.configurations)} configurations"
        draw_coordinates(panel, run.configurations, title)
    for panel in panels[len(runs) :]:
        panel.set_axis_off()


def _draw_progress(by_steps: Any, by_seconds: Any, runs: Sequence[StoredSearch]) -> None:
    for run, colour, marker in zip(runs, _cycle(COLOURS, runs), _cycle(MARKERS, runs), strict=True):
        points = trace_progress(run.configurations)
        # The line ends at the total cost, which includes configurations stopped after its last point.
        points += [replace(point, steps=run.steps, seconds=run.seconds) for point in points[-1:]]
        scores = [run.objective.score(point.score) for point in points]
        improved = [i for i in range(len(points)) if i in (0, len(points) - 1) or scores[i] != scores[i - 1]]
        style = {
            "color": colour,
            "marker": marker,
            "markevery": improved,
            "markersize": 4,
            "linewidth": 1.2,
            "drawstyle": "steps-post",
        }
        by_steps.plot([point.steps for point in points], scores, label=run.name, **style)
        by_seconds.plot([point.seconds for point in points], scores, **style)
    metric = runs[0].objective.metric.replace("_", " ")
    by_steps.set(xlabel="training steps", ylabel=f"best {metric} so far")
    by_seconds.set(xlabel="seconds of training")
    for axis in (by_steps, by_seconds):
        axis.set_xlim(left=0)
        axis.ticklabel_format(axis="x", style="sci", scilimits=(-3, 4), useMathText=True)
    by_steps.legend(frameon=False, fontsize=7, loc="best")


def _draw_importance(axis: Any, runs: Sequence[StoredSearch]) -> None:
    """One bar per setting and search; "not known" if there are too few scores, or all are equal."""
    settings = runs[0].search.space.axes
    thickness = 0.8 / len(runs)
    for number, (run, colour) in enumerate(zip(runs, _cycle(COLOURS, runs), strict=True)):
        shares = compute_importance(run.configurations)
        for row, setting in enumerate(settings):
            share, place = shares.get(setting.name), row + thickness * (number - (len(runs) - 1) / 2)
            axis.barh(place, share or 0.0, height=0.9 * thickness, color=colour)
            text = " not known" if share is None else f" {share:.2f}"
            axis.text(share or 0.0, place, text, va="center", fontsize=6.5, color="0.3")
    axis.set_yticks(range(len(settings)), [setting.short_name for setting in settings])
    axis.invert_yaxis()
    axis.set(xlim=(0, 1.12), xlabel="share of the variance of ranks")


def _cycle(styles: Sequence[str], runs: Sequence[StoredSearch]) -> list[str]:
    return [styles[number % len(styles)] for number in range(len(runs))]


class SearchFigure(SearchArtifact):
    name = "search-figures"
    title = "Searches for settings: the best so far, what matters, what was tried"

    def render(self, results: Results) -> Drawing:
        found = find_searches(results)
        caption = (
            "Above: the best score of a configuration that ran to its end, against all training of the "
            "search so far; how much of the variance of ranks each setting explains alone, less what chance "
            "would. Below: every configuration, its settings and its score (of one that was stopped early, "
            "the score that it had then); darker is better. "
            f"{describe_origin([row for runs in found.values() for run in runs for row in run.rows])}"
        )
        draw = partial(draw_searches, found)
        return Drawing(self.name, self.title, caption, draw, results.profile, tuple(results.notes))

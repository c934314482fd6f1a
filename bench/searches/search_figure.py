"""Searches, drawn: the best so far against what it cost, how much each setting matters, and every
configuration as a line. Not in the paper.

For each task and method one block. Above: the best score so far against training steps and against seconds of
training, one line a search, and the importance of each axis (`sweeps.search.analysis`). Below: parallel
coordinates, one panel a search, the score as the last of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from bench.artifact import Drawing
from bench.judging.results import Results
from bench.render.caption import caption_tail
from bench.render.parallel_coordinates import coordinates, legend
from bench.render.plotting import COLOURS, MARKERS, STYLE
from bench.searches.search_table import SearchArtifact
from bench.searches.stored_searches import Pair, Searched, searched
from sweeps.search.analysis import importance, progress

WIDTH, ROW = 9.0, 2.6
"""Inches: of the figure, and the height of a row of panels."""
ABREAST = 2
"""Panels of coordinates in a row."""


def draw(found: Mapping[Pair, Sequence[Searched]]) -> Any:
    import matplotlib
    from matplotlib.figure import Figure

    heights = [1 + -(-len(runs) // ABREAST) for runs in found.values()]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, ROW * sum(heights)), layout="constrained")
        blocks = figure.subfigures(len(found), 1, squeeze=False, height_ratios=heights)[:, 0]
        for block, (pair, runs) in zip(blocks, found.items(), strict=True):
            block.suptitle(", ".join(pair), fontsize=10)
            draw_block(block, runs)
        figure.legend(handles=legend(), loc="outside lower center", ncols=4, frameon=False, fontsize=7)
    return figure


def draw_block(figure: Any, runs: Sequence[Searched]) -> None:
    rows = -(-len(runs) // ABREAST)
    above, below = figure.subfigures(2, 1, height_ratios=(1, rows))
    steps, seconds, bars = above.subplots(1, 3, width_ratios=(1, 1, 0.9))
    draw_progress(steps, seconds, runs)
    draw_importance(bars, runs)
    panels = list(below.subplots(rows, min(ABREAST, len(runs)), squeeze=False).flat)
    for panel, run in zip(panels, runs, strict=False):
        coordinates(panel, run.configurations, f"{run.name}: {len(run.configurations)} configurations")
    for panel in panels[len(runs) :]:
        panel.set_axis_off()


def draw_progress(by_steps: Any, by_seconds: Any, runs: Sequence[Searched]) -> None:
    for run, colour, marker in zip(runs, looped(COLOURS, runs), looped(MARKERS, runs), strict=True):
        marks = progress(run.configurations)
        marks += [
            replace(mark, steps=run.steps, seconds=run.seconds) for mark in marks[-1:]
        ]  # what was stopped after it cost too
        scores = [run.objective.score(mark.score) for mark in marks]
        news = [i for i in range(len(marks)) if i in (0, len(marks) - 1) or scores[i] != scores[i - 1]]
        look = {
            "color": colour,
            "marker": marker,
            "markevery": news,
            "markersize": 4,
            "linewidth": 1.2,
            "drawstyle": "steps-post",
        }
        by_steps.plot([mark.steps for mark in marks], scores, label=run.name, **look)
        by_seconds.plot([mark.seconds for mark in marks], scores, **look)
    metric = runs[0].objective.metric.replace("_", " ")
    by_steps.set(xlabel="training steps", ylabel=f"best {metric} so far")
    by_seconds.set(xlabel="seconds of training")
    for axis in (by_steps, by_seconds):
        axis.set_xlim(left=0)
        axis.ticklabel_format(axis="x", style="sci", scilimits=(-3, 4), useMathText=True)
    by_steps.legend(frameon=False, fontsize=7, loc="best")


def draw_importance(axis: Any, runs: Sequence[Searched]) -> None:
    """Bars by search within each setting; words where scores are too few, or all at one value."""
    settings = runs[0].search.space.axes
    thick = 0.8 / len(runs)
    for number, (run, colour) in enumerate(zip(runs, looped(COLOURS, runs), strict=True)):
        shares = importance(run.configurations)
        for row, setting in enumerate(settings):
            share, place = shares.get(setting.name), row + thick * (number - (len(runs) - 1) / 2)
            axis.barh(place, share or 0.0, height=0.9 * thick, color=colour)
            text = " not known" if share is None else f" {share:.2f}"
            axis.text(share or 0.0, place, text, va="center", fontsize=6.5, color="0.3")
    axis.set_yticks(range(len(settings)), [setting.short_name for setting in settings])
    axis.invert_yaxis()
    axis.set(xlim=(0, 1.12), xlabel="share of the variance of ranks")


def looped(looks: Sequence[str], runs: Sequence[Searched]) -> list[str]:
    return [looks[number % len(looks)] for number in range(len(runs))]


class SearchFigures(SearchArtifact):
    name = "search-figures"
    title = "Searches for settings: the best so far, what matters, what was tried"

    def render(self, results: Results) -> Drawing:
        found = searched(results)
        caption = (
            "Above: the best score of a configuration that ran to its end, against all training of the search so far; how much of "
            "the variance of ranks each setting explains alone, less what chance would. Below: every configuration, its settings "
            "and its score (of one that was stopped early, the score that it had then); darker is better. "
            f"{caption_tail([row for runs in found.values() for run in runs for row in run.rows])}"
        )
        return Drawing(
            self.name, self.title, caption, partial(draw, found), results.profile, tuple(results.notes)
        )

"""Likelihood against the time spent, on one core: the mixture in the plane, the flow on digits, and the small
network at the end of training.

A curve is the mean over seeds (and toys) at each evaluation. The time at an evaluation is the trial's time
times the share of its steps, so the time of evaluating and measuring is spread evenly. Diverged trials are
left out, and named with their number. The network has no likelihood during training: quadrature is made at
the end only.

Trap: the time is that of a machine that ran two trials at once, of small models on a CPU. Methods whose step
is one large matrix product would gain more from a GPU than those that take many small steps.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

from bench.artifact import Drawing
from bench.judging.results import Results, read_metrics
from bench.paper.experiments.nice import CONTROL
from bench.paper.tables.table2 import LIKELIHOOD
from bench.render.plotting import COLOURS, MARKERS, create_panels
from bench.today.experiments.flow import FLOW
from bench.today.experiments.plane import PLANE_MIXTURE, PLANE_NETWORK
from bench.today.plane_results import average_over_toys, read_gap, read_seconds
from bench.today.tables.density import list_line_trials
from bench.today.today_artifact import TodayArtifact
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial

DASHES = ("-", "--")


@dataclass(frozen=True)
class TimePath:
    """The mean likelihood of a line at each evaluation, and the mean seconds until then."""

    label: str
    seconds: tuple[float, ...]
    values: tuple[float, ...]
    diverged: int

    @property
    def name(self) -> str:
        """As in the legend."""
        return f"{self.label} ({self.diverged} diverged)" if self.diverged else self.label


def read_path(results: Results, label: str, trials: Sequence[Trial], is_gap: bool) -> TimePath:
    """The mean over all trials that ended ok. With `is_gap`: nats below the true density."""
    rows = results.find_all_rows(trials)
    ok = [row for row in rows if row.outcome == "ok"]
    paths = [list(read_points(results, row, is_gap)) for row in ok]
    means = [tuple(map(fmean, zip(*points, strict=True))) for points in zip(*paths, strict=False)]
    return TimePath(
        label,
        tuple(seconds for seconds, _ in means),
        tuple(value for _, value in means),
        sum(row.outcome == "diverged" for row in rows),
    )


def read_points(results: Results, row: Row, is_gap: bool) -> Iterator[tuple[float, float]]:
    """(seconds, likelihood) of each evaluation, in order."""
    points = [p for p in results.read_curves(row) if (p.kind, p.metric) == ("evaluation", LIKELIHOOD)]
    ceiling = read_metrics(row).get("ceiling", 0.0)
    for point in sorted(points, key=lambda point: point.step):
        value = ceiling - point.value if is_gap else point.value
        yield row.seconds * point.step / row.steps, value


def read_end(results: Results, label: str, trials: Sequence[Trial]) -> TimePath:
    """The gap at the end, as one point."""
    gap, seconds = (average_over_toys(results, trials, read) for read in (read_gap, read_seconds))
    is_known = gap.mean is not None and seconds.mean is not None
    values = (gap.mean or 0.0,) if is_known else ()
    return TimePath(label, (seconds.mean or 0.0,) if is_known else (), values, gap.diverged)


def draw(panels: Mapping[str, Sequence[TimePath]], labels: Sequence[str]) -> Any:
    """One panel for each experiment; the same method has the same colour, dash and marker everywhere."""
    figure, axes = create_panels(1, len(panels), 3.0, 2.8)
    for axis, (title, paths) in zip(axes.flat, panels.items(), strict=True):
        axis.set_title(title, fontsize=9)
        axis.set_xlabel("seconds")
        axis.set_xscale("log")
        for path in paths:
            if path.values:
                axis.plot(path.seconds, path.values, label=path.label, **choose_style(labels, path.label))
        if not any(path.values for path in paths):
            axis.text(0.5, 0.5, "not run", ha="center", va="center", transform=axis.transAxes)
    for axis, scale, text in zip(
        axes.flat,
        ("log", "linear", "log"),
        ("nats below the true density", "test log-likelihood, nats", "nats below the true density"),
        strict=True,
    ):
        axis.set_yscale(scale)
        axis.set_ylabel(text, fontsize=8)
    handles = {
        label: handle
        for axis in axes.flat
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    if handles:
        figure.legend(
            handles.values(), handles.keys(), loc="outside lower center", ncols=5, fontsize=7, frameon=False
        )
    return figure


def choose_style(labels: Sequence[str], label: str) -> dict[str, Any]:
    place = labels.index(label)
    return {
        "color": COLOURS[place % len(COLOURS)],
        "linestyle": DASHES[place // len(COLOURS) % len(DASHES)],
        "marker": MARKERS[place // len(COLOURS) % len(MARKERS)],
        "markersize": 3,
        "linewidth": 1,
    }


class WallClock(TodayArtifact):
    experiment = PLANE_MIXTURE
    name = "wall-clock"
    title = "Likelihood against wall-clock time on one core"

    def trials(self, profile: Profile) -> Iterator[Trial]:
        """Those of three tables; it has none of its own."""
        for experiment in (PLANE_MIXTURE, FLOW, PLANE_NETWORK):
            yield from experiment.trials(profile)

    def render(self, results: Results) -> Drawing:
        profile = results.profile
        panels: dict[str, list[TimePath]] = {
            "mixture in the plane": [
                read_path(results, line.label, list_line_trials(PLANE_MIXTURE, line.label, profile), True)
                for line in PLANE_MIXTURE.lines
            ],
            "flow on digits": [
                read_path(results, shorten(line.label), [FLOW.trial(line, profile)], False)
                for line in FLOW.lines
                if line.label != CONTROL
            ],
            "network in the plane, at the end": [
                read_end(results, line.label, list_line_trials(PLANE_NETWORK, line.label, profile))
                for line in PLANE_NETWORK.lines
            ],
        }
        labels = list(dict.fromkeys(path.label for paths in panels.values() for path in paths))
        diverged = [
            f"{title}: {path.name}" for title, paths in panels.items() for path in paths if path.diverged
        ]
        notes = [f"Diverged trials are left out: {'; '.join(diverged)}."] if diverged else []
        text = (
            "Means over seeds and toys; the time at an evaluation is the time of the trial times the share "
            "of its steps."
        )
        return self.drawing(results, text, self.rows(results), partial(draw, panels, labels), notes)


def shorten(label: str) -> str:
    """The label of a line on the flow as that of the same method in the plane."""
    return {
        "VERA λ=1": "VERA",
        "VERA-HMC λ=1, full force": "VERA-HMC",
        "VERA-AR-DAE λ=1": "VERA-AR-DAE",
    }.get(label, label)

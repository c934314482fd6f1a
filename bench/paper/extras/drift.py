"""Drift: the likelihood of Table 10's mixture while it trains, by maximum likelihood and by PCD. Not in the
paper.

Table 10 judges at the end. The published code looks every 10,000 steps and keeps the best of its looks, which
shows a model that does not stay good as it was on its way. Whether PCD makes such models is the question.
Shown is what is lost against the true density, ceiling − likelihood, on 100,000 fresh points at each of a
hundred looks. Every seed is a line; a cross marks the last look at one that diverged. Trap: the two smallest
σ of Table 10 are left out here; they end far below the others.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any, ClassVar

from bench.artifact import Artifact, Drawing
from bench.judging.cell import cell_of
from bench.judging.claims import Claim, Finding, compare
from bench.judging.results import Results, metrics_of
from bench.paper.experiments.mixtures import BEST_PCD, BUDGETS, DATASETS, LIKELIHOOD, REFERENCES, everywhere
from bench.paper.experiments.mixtures import setting as judged_at_the_end
from bench.paper.experiments.mixtures import trained as judged_once
from bench.paper.experiments.toys import HALF_A_NAT, Setting, about, vera_label
from bench.paper.experiments.toys import LOOKS as PAPERS_LOOKS
from bench.paper.values import paper_value
from bench.render.caption import caption_tail
from bench.render.layout import exact, number
from bench.render.plotting import COLOURS, panels
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial

BEST, SIGMAS = 0.1, (0.1, 0.3, 1.0)
"""PCD's best σ on all three sets, and those that are drawn."""
LOOKS: Mapping[Profile, int] = {"smoke": 4, "laptop": 100, "paper": 100}
LEAST = 0.01
"""Nats, where the axis ends: less than that is lost to chance in the test points."""


def setting(profile: Profile, dataset: str) -> Setting:
    return Setting(profile, dataset, "mixture", BUDGETS[profile], LOOKS[profile])


def trained(profile: Profile, dataset: str) -> list[Trial]:
    way = setting(profile, dataset)
    return [way.ml(), *map(way.pcd, SIGMAS)]


@dataclass(frozen=True)
class Path:
    """The likelihood of one trial at each of its looks."""

    label: str
    steps: tuple[int, ...]
    values: tuple[float, ...]
    row: Row

    @classmethod
    def read(cls, results: Results, trial: Trial) -> "list[Path]":
        """Of every seed, also of one that diverged before the first look."""
        return [cls._of(results, trial.label, row) for row in results.like(trial)]

    @classmethod
    def _of(cls, results: Results, label: str, row: Row) -> "Path":
        points = [p for p in results.curves(row) if (p.kind, p.metric) == ("evaluation", LIKELIHOOD)]
        looks = sorted((point.step, point.value) for point in points)
        return cls(label, tuple(step for step, _ in looks), tuple(value for _, value in looks), row)

    @property
    def whole(self) -> bool:
        return self.row.outcome == "ok"

    def at(self, look: int) -> tuple[str, float | None]:
        """How the trial ended, and the likelihood at one of its looks."""
        return self.row.outcome, self.values[look] if self.values else None

    def best(self, every: int = 1) -> tuple[float, int]:
        """(likelihood, step) of the best of its looks, or of those after every so many steps."""
        return max(
            (value, step) for step, value in zip(self.steps, self.values, strict=True) if step % every == 0
        )


def best_paths(results: Results, dataset: str) -> list[Path]:
    """Those of PCD at its best σ."""
    return Path.read(results, setting(results.profile, dataset).pcd(BEST))


def falls(results: Results, dataset: str) -> Finding:
    """The first look against the last."""
    paths = best_paths(results, dataset)
    first, last = (cell_of([path.at(look) for path in paths]) for look in (0, -1))
    return compare("PCD at its first look", first, "at the end", last, comparisons=len(DATASETS))


def does_not_stay(results: Results, dataset: str) -> Finding:
    """The best look against the last. A best is never the worse of the two: it must lie above by half a
    nat."""
    paths = best_paths(results, dataset)
    best = cell_of(
        [(path.row.outcome, path.best()[0] - HALF_A_NAT if path.values else None) for path in paths]
    )
    last = cell_of([path.at(-1) for path in paths])
    return compare(
        f"PCD at its best look less {HALF_A_NAT:g}", best, "at the end", last, comparisons=len(DATASETS)
    )


@dataclass(frozen=True)
class Panel:
    """One data set: the paths of each way to train, the ceiling, and what else they are held against."""

    dataset: str
    paths: Mapping[str, Sequence[Path]]
    ceiling: float | None
    paper: float | None
    """The paper's PCD, where the setting is the paper's."""
    vera: float | None

    @classmethod
    def read(cls, results: Results, dataset: str) -> "Panel":
        paths = {trial.label: Path.read(results, trial) for trial in trained(results.profile, dataset)}
        rows = [path.row for own in paths.values() for path in own]
        measured = [
            metrics_of(row) for row in (*rows, *results.rows_of(judged_once(results.profile, dataset)))
        ]
        ceilings = [metrics["ceiling"] for metrics in measured if "ceiling" in metrics]
        paper = (
            paper_value("Table 10", dataset=dataset, **REFERENCES[BEST_PCD])
            if results.profile == "paper"
            else None
        )
        vera = results.cell(judged_at_the_end(results.profile, dataset).vera(1.0), LIKELIHOOD).mean
        return cls(dataset, paths, fmean(ceilings) if ceilings else None, paper, vera)

    def levels(self) -> Iterator[tuple[str, float, str]]:
        """(name, likelihood, dash) of what the paths are held against."""
        if self.paper is not None:
            yield "PCD in the paper, best of its looks", self.paper, ":"
        if self.vera is not None:
            yield f"{vera_label(1)} at the end (Table 10)", self.vera, "--"

    def why_empty(self) -> str:
        """What stands in a panel without lines; nothing where there are lines."""
        if not any(self.paths.values()):
            return "not run"
        return "no trial ended ok:\nno ceiling yet" if self.ceiling is None else ""

    def notes(self, profile: Profile) -> Iterator[str]:
        """Where PCD was best, and where it ended."""
        every, beside = (
            BUDGETS[profile].steps // PAPERS_LOOKS,
            "" if self.paper is None else f"; the paper has {exact(self.paper)}",
        )
        for path in self.paths[setting(profile, self.dataset).pcd(BEST).label]:
            if path.whole and path.values:
                (top, early), (seen, at), end = path.best(), path.best(every), path.values[-1]
                yield (
                    f"{path.label} on {self.dataset}, seed {path.row.seed}: best after {early:,} steps ({number(top, 2)}), of "
                    f"looks every {every:,} steps after {at:,} ({number(seen, 2)}), at the end {number(end, 2)}{beside}."
                )


def draw(found: Sequence[Panel]) -> Any:
    figure, axes = panels(1, len(found), 2.7, 2.9)
    labels: dict[str, Any] = {}
    for axis, panel in zip(axes[0], found, strict=True):
        axis.set(title=panel.dataset, xlabel="training steps")
        if panel.ceiling is None or panel.why_empty():
            axis.text(0.5, 0.5, panel.why_empty(), ha="center", va="center", transform=axis.transAxes)
            continue
        axis.set(xscale="log", yscale="log")
        draw_paths(axis, panel, panel.ceiling, labels)
        axis.set_ylim(bottom=LEAST)
    axes[0, 0].set_ylabel("nats below the true density")
    if labels:
        figure.legend(labels.values(), labels, loc="outside lower center", ncols=3, frameon=False, fontsize=7)
    return figure


def draw_paths(axis: Any, panel: Panel, ceiling: float, labels: dict[str, Any]) -> None:
    """What lies level with the ceiling, or by chance above it, is drawn along the axis."""
    for (label, paths), colour in zip(panel.paths.items(), COLOURS, strict=False):
        for path in (path for path in paths if path.values):
            lost = [max(ceiling - value, LEAST) for value in path.values]
            (labels[label],) = axis.plot(path.steps, lost, color=colour, linewidth=1)
            if not path.whole:
                axis.plot(path.steps[-1], lost[-1], color=colour, marker="x", markersize=5)
    for label, level, dash in panel.levels():
        labels[label] = axis.axhline(ceiling - level, color="0.4", linestyle=dash, linewidth=1)


class Drift(Artifact):
    name = "drift"
    title = "Drift: the likelihood of a mixture while PCD trains it"
    seeds: ClassVar[Mapping[Profile, tuple[int, ...]]] = {
        "smoke": (0,),
        "laptop": (0, 1, 2),
        "paper": (0, 1, 2),
    }
    claims = (
        Claim(
            "pcd-does-not-stay",
            "PCD passes a better model than it ends with, by more than half a nat.",
            "ours, after Table 10",
            everywhere(does_not_stay),
        ),
        Claim(
            "pcd-falls",
            "PCD makes the mixture worse: at the end its likelihood lies below that of its first look.",
            "ours, after Table 10",
            everywhere(falls),
        ),
    )

    def trials(self, profile: Profile) -> Iterator[Trial]:
        for dataset in DATASETS:
            yield from trained(profile, dataset)

    def render(self, results: Results) -> Drawing:
        profile = results.profile
        found = [Panel.read(results, dataset) for dataset in DATASETS]
        caption = (
            f"What is lost against the true density on 100,000 fresh test points at {LOOKS[profile]} looks, lower is better, on "
            f"logarithmic axes; below {LEAST:g} nats chance decides. Each seed is a line; a cross is the last look at one that "
            f"diverged. {about(BUDGETS, profile)}. {caption_tail(results.rows_of(self.trials(profile)))}"
        )
        notes = [note for panel in found for note in panel.notes(profile)]
        return Drawing(
            self.name, self.title, caption, partial(draw, found), profile, (*notes, *results.notes)
        )

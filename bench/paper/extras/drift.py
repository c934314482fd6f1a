"""Drift: the likelihood of Table 10's mixture during training, by maximum likelihood and by PCD. Not in the
paper.

Table 10 evaluates a model at the end. The published code evaluates it every 10,000 steps and keeps the best
value, which hides that a model may have become worse since. The question is whether PCD produces such models.
The figure shows ceiling − likelihood, the gap to the true density, on 100,000 fresh points at each of a
hundred evaluations. Every seed is a line; a cross marks the last evaluation of a seed that diverged.

Trap: the two smallest σ of Table 10 are left out; they end far below the others.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

from bench.artifact import Drawing, ExperimentArtifact, on_all
from bench.experiment import DataSetting
from bench.judging.cell import make_cell
from bench.judging.claims import Claim, Finding, check_above
from bench.judging.results import Results, list_seeds, read_metrics
from bench.paper.experiments.toy_judging import HALF_A_NAT
from bench.paper.experiments.toys import EVALUATED_MIXTURE, MIXTURE, TOYS, label_pcd, label_vera
from bench.paper.tables.table10_lines import BEST_PCD, EVALUATIONS, LIKELIHOOD, find_paper_value
from bench.render.numbers import format_exact, format_fixed
from bench.render.plotting import COLOURS, create_panels
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial

BEST_SIGMA = label_pcd(0.1)
"""PCD at the σ that is best on all three toys."""
LEAST = 0.01
"""Nats at which the axis ends: smaller gaps are within the noise of the test points."""


@dataclass(frozen=True)
class LikelihoodPath:
    """The likelihood of one trial at each of its evaluations."""

    label: str
    steps: tuple[int, ...]
    values: tuple[float, ...]
    row: Row

    @classmethod
    def read(cls, results: Results, trial: Trial) -> "list[LikelihoodPath]":
        """The path of every seed; it is empty for a seed that diverged before the first evaluation."""
        return [cls._read_row(results, trial.label, row) for row in results.find_rows(trial)]

    @classmethod
    def _read_row(cls, results: Results, label: str, row: Row) -> "LikelihoodPath":
        points = [p for p in results.read_curves(row) if (p.kind, p.metric) == ("evaluation", LIKELIHOOD)]
        evaluations = sorted((point.step, point.value) for point in points)
        return cls(
            label, tuple(step for step, _ in evaluations), tuple(value for _, value in evaluations), row
        )

    @property
    def is_complete(self) -> bool:
        return self.row.outcome == "ok"

    def value_at(self, evaluation: int) -> tuple[str, float | None]:
        """The trial's outcome, and its likelihood at one of the evaluations."""
        return self.row.outcome, self.values[evaluation] if self.values else None

    def best(self, every: int = 1) -> tuple[float, int]:
        """(likelihood, step) of the best evaluation, among those at multiples of `every` steps."""
        return max(
            (value, step) for step, value in zip(self.steps, self.values, strict=True) if step % every == 0
        )


def read_best_sigma(results: Results, toy: DataSetting) -> list[LikelihoodPath]:
    """The paths of PCD at its best σ."""
    return LikelihoodPath.read(results, EVALUATED_MIXTURE.trial(BEST_SIGMA, results.profile, toy))


def list_seeds_of(paths: Sequence[LikelihoodPath]) -> tuple[int, ...]:
    return list_seeds([path.row for path in paths])


def check_falls(results: Results, toy: DataSetting) -> Finding:
    """The first evaluation compared with the last."""
    paths = read_best_sigma(results, toy)
    first, last = (
        make_cell([path.value_at(evaluation) for path in paths], seeds=list_seeds_of(paths))
        for evaluation in (0, -1)
    )
    return check_above("PCD at its first evaluation", first, "at the end", last)


def check_does_not_stay(results: Results, toy: DataSetting) -> Finding:
    """The best evaluation compared with the last. The best is never below the last, so it has to exceed it by
    half a nat."""
    paths = read_best_sigma(results, toy)
    best = make_cell(
        [(path.row.outcome, path.best()[0] - HALF_A_NAT if path.values else None) for path in paths],
        seeds=list_seeds_of(paths),
    )
    last = make_cell([path.value_at(-1) for path in paths], seeds=list_seeds_of(paths))
    name = f"PCD at its best evaluation less {HALF_A_NAT:g}"
    return check_above(name, best, "at the end", last)


@dataclass(frozen=True)
class DriftPanel:
    """One toy: the paths of each line, the ceiling, and the values they are compared with."""

    toy: DataSetting
    paths: Mapping[str, Sequence[LikelihoodPath]]
    ceiling: float | None
    paper: float | None
    """The paper's PCD, at `paper` only."""
    vera: float | None

    @classmethod
    def read(cls, results: Results, toy: DataSetting) -> "DriftPanel":
        profile = results.profile
        trials = EVALUATED_MIXTURE.trials(profile, [toy])
        paths = {trial.label: LikelihoodPath.read(results, trial) for trial in trials}
        rows = [path.row for own in paths.values() for path in own]
        rows += results.find_all_rows(MIXTURE.trials(profile, [toy]))
        ceilings = [metrics["ceiling"] for row in rows if "ceiling" in (metrics := read_metrics(row))]
        paper = find_paper_value(toy, BEST_PCD) if profile == "paper" else None
        vera = results.cell(MIXTURE.trial(label_vera(1), profile, toy), LIKELIHOOD).mean
        return cls(toy, paths, fmean(ceilings) if ceilings else None, paper, vera)

    def list_levels(self) -> Iterator[tuple[str, float, str]]:
        """(name, likelihood, dash) of the values that the paths are compared with."""
        if self.paper is not None:
            yield "PCD in the paper, best of its evaluations", self.paper, ":"
        if self.vera is not None:
            yield f"{label_vera(1)} at the end (Table 10)", self.vera, "--"

    @property
    def reason(self) -> str:
        """Why the panel is empty; nothing if it has lines."""
        if not any(self.paths.values()):
            return "not run"
        return "no trial ended ok:\nno ceiling yet" if self.ceiling is None else ""

    def write_notes(self, profile: Profile) -> Iterator[str]:
        """Where PCD was best and where it ended, for each seed that ended ok."""
        every = (EVALUATED_MIXTURE.scales[profile].steps or 0) // EVALUATIONS
        beside = "" if self.paper is None else f"; the paper has {format_exact(self.paper)}"
        for path in self.paths[BEST_SIGMA]:
            if path.is_complete and path.values:
                (top, early), (seen, at), end = path.best(), path.best(every), path.values[-1]
                yield (
                    f"{path.label} on {self.toy.name}, seed {path.row.seed}: best after {early:,} steps "
                    f"({format_fixed(top, 2)}), of evaluations every {every:,} steps after {at:,} "
                    f"({format_fixed(seen, 2)}), at the end {format_fixed(end, 2)}{beside}."
                )


def draw(found: Sequence[DriftPanel]) -> Any:
    figure, axes = create_panels(1, len(found), 2.7, 2.9)
    labels: dict[str, Any] = {}
    for axis, panel in zip(axes[0], found, strict=True):
        axis.set(title=panel.toy.name, xlabel="training steps")
        if panel.ceiling is None or panel.reason:
            axis.text(0.5, 0.5, panel.reason, ha="center", va="center", transform=axis.transAxes)
            continue
        axis.set(xscale="log", yscale="log")
        draw_paths(axis, panel, panel.ceiling, labels)
        axis.set_ylim(bottom=LEAST)
    axes[0, 0].set_ylabel("nats below the true density")
    if labels:
        figure.legend(labels.values(), labels, loc="outside lower center", ncols=3, frameon=False, fontsize=7)
    return figure


def draw_paths(axis: Any, panel: DriftPanel, ceiling: float, labels: dict[str, Any]) -> None:
    """Likelihoods at the ceiling, or by chance above it, are drawn along the axis."""
    for (label, paths), colour in zip(panel.paths.items(), COLOURS, strict=False):
        for path in (path for path in paths if path.values):
            gaps = [max(ceiling - value, LEAST) for value in path.values]
            (labels[label],) = axis.plot(path.steps, gaps, color=colour, linewidth=1)
            if not path.is_complete:
                axis.plot(path.steps[-1], gaps[-1], color=colour, marker="x", markersize=5)
    for label, level, dash in panel.list_levels():
        labels[label] = axis.axhline(ceiling - level, color="0.4", linestyle=dash, linewidth=1)


class Drift(ExperimentArtifact):
    experiment = EVALUATED_MIXTURE
    name = "drift"
    title = "Drift: the likelihood of a mixture while PCD trains it"
    claims = (
        Claim(
            "pcd-does-not-stay",
            "PCD passes a better model than it ends with, by more than half a nat.",
            "ours, after Table 10",
            on_all(check_does_not_stay, EVALUATED_MIXTURE.data),
        ),
        Claim(
            "pcd-falls",
            "PCD makes the mixture worse: at the end its likelihood lies below that of its first evaluation.",
            "ours, after Table 10",
            on_all(check_falls, EVALUATED_MIXTURE.data),
        ),
    )

    def render(self, results: Results) -> Drawing:
        profile = results.profile
        found = [DriftPanel.read(results, toy) for toy in TOYS]
        text = (
            "Gap to the true density on 100,000 fresh test points at "
            f"{EVALUATED_MIXTURE.scales[profile].evaluations} evaluations, lower is better, on logarithmic "
            f"axes; below {LEAST:g} nats chance decides. Each seed is a line; a cross is the last evaluation "
            f"of one that diverged. {EVALUATED_MIXTURE.about(profile)}."
        )
        notes = [note for panel in found for note in panel.write_notes(profile)]
        return self.drawing(results, text, self.rows(results), partial(draw, found), notes)

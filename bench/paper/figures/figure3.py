"""Figure 3: bias and noise of importance sampling around z0, and of HMC started there, as the burn-in grows.

Bias and standard deviation are per dimension, of estimates given (z0, x). The paper's bias is the *signed*
mean over all entries, in which errors cancel: it is near zero for every estimator. The RMS bias is drawn, and
the signed means stand beside the paper's in a note.

Trap: part of a measured bias is Monte Carlo noise, because each mean is over finitely many estimates, so a
noisier estimator looks more biased. That part is drawn as a floor, and the claims remove it: on average the
squared RMS of independent estimates is that of the bias plus that of the noise, so they use √max(rms² −
noise², 0) of each trial.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

from bench.artifact import Drawing, ExperimentArtifact
from bench.judging.cell import Cell
from bench.judging.claims import Claim, Finding, check_above, require_all
from bench.judging.compared import ComparedValue
from bench.judging.results import Results, read_metrics
from bench.paper.experiments.score_bias import (
    ALL,
    FORCES,
    IMPORTANCE,
    LATENT,
    LONG,
    SCORE_BIAS,
    SHORT,
    Force,
    NoiseReading,
    label_hmc,
)
from bench.paper.values import PAPER
from bench.render.numbers import format_exact, format_significant
from bench.render.plotting import COLOURS, MARKERS, create_panels
from sweeps.store.row import Row
from sweeps.trial.identity import Trial

METRICS = {"rms_bias": "RMS bias", "deviation": "standard deviation"}
BIAS = "rms_bias"
CORRECTED = "RMS bias without noise"
NOISE = "dotted: what its noise alone would show"
SOURCE = "Figure 3 / Sec 5.2 text"
IN_PAPER: Mapping[str, Mapping[str, str]] = {
    IMPORTANCE: {"method": "VERA (importance sampling)"},
    **{
        label_hmc("prior_only", burn_in): {"method": "VERA-HMC", "variant": f"burn-in {burn_in}"}
        for burn_in in (SHORT, LONG)
    },
}
"""Line → the fields of its value in the paper."""
Check = Callable[[str, str, Results], Finding]
"""Compares two lines, by label: whether the first has the larger value."""


def read_noise_free_bias(results: Results, trial: Trial) -> Cell:
    """The RMS bias of each trial without its noise; zero if the noise explains all of it."""
    return results.measure(trial, _subtract_noise)


def _subtract_noise(row: Row) -> float | None:
    metrics = read_metrics(row)
    rms, noise = metrics.get("rms_bias"), metrics.get("rms_noise")
    return None if rms is None or noise is None else math.sqrt(max(rms**2 - noise**2, 0.0))


def check_more_biased(larger: str, smaller: str, results: Results) -> Finding:
    a, b = (SCORE_BIAS.trial(label, results.profile) for label in (larger, smaller))
    cells = [read_noise_free_bias(results, trial) for trial in (a, b)]
    return check_above(f"{CORRECTED} of {a.name}", cells[0], b.name, cells[1], better="lower")


def check_noisier(larger: str, smaller: str, results: Results) -> Finding:
    a, b = (SCORE_BIAS.trial(label, results.profile) for label in (larger, smaller))
    cells = [results.cell(trial, "deviation") for trial in (a, b)]
    return check_above(f"{METRICS['deviation']} of {a.name}", cells[0], b.name, cells[1], better="lower")


def check_signed_order(results: Results) -> Finding:
    """The order of the paper's three numbers by size, with the sampler and the σ of the published code."""
    reading = SCORE_BIAS.reading(results.profile, "variance")
    labels = (label_hmc("prior_only", SHORT), label_hmc("prior_only", LONG), IMPORTANCE)
    trials = [SCORE_BIAS.trial(label, results.profile, reading) for label in labels]
    order = [(trial.name, take_absolute(results.cell(trial, "signed_bias"))) for trial in trials]
    return require_all(
        [
            check_above(f"|signed bias| of {a}", larger, b, smaller, better="lower")
            for (a, larger), (b, smaller) in pairwise(order)
        ]
    )


def take_absolute(cell: Cell) -> Cell:
    return replace(cell, values=tuple(map(abs, cell.values)))


def declare_claims() -> Iterator[Claim]:
    for force, sampler in FORCES.items():
        short, long = (label_hmc(force, burn_in) for burn_in in (SHORT, LONG))
        checks: dict[str, tuple[str, Check, str, str]] = {
            f"hmc-{SHORT}-more-biased": (
                f"With {SHORT} burn-in steps, % is more biased than IS.",
                check_more_biased,
                short,
                IMPORTANCE,
            ),
            f"hmc-{LONG}-more-biased": (
                f"With {LONG} burn-in steps, % is still more biased than IS.",
                check_more_biased,
                long,
                IMPORTANCE,
            ),
            "hmc-bias-falls": ("As its burn-in grows, the bias of % falls.", check_more_biased, short, long),
            "hmc-variance-grows": (
                "As its burn-in grows, the variance of % grows.",
                check_noisier,
                long,
                short,
            ),
            "importance-noisier": (
                f"With {SHORT} burn-in steps, % has a smaller variance than IS.",
                check_noisier,
                IMPORTANCE,
                short,
            ),
        }
        for key, (text, check, larger, smaller) in checks.items():
            yield Claim(
                f"{key}-{force}",
                text.replace("%", sampler),
                "Sec. 5.2, Figure 3",
                partial(check, larger, smaller),
            )
    text = (
        "In the signed mean that the paper reports, bias falls from HMC-2 over HMC-500 to importance "
        "sampling."
    )
    yield Claim("signed-order", text, "Sec. 5.2", check_signed_order)


@dataclass(frozen=True)
class ScoreErrorPanel:
    """One panel: HMC by force as (burn-in, cell), two estimators without a burn-in, and the floors of
    noise."""

    metric: str
    chains: Mapping[Force, Sequence[tuple[int, Cell]]]
    importance: Cell
    latent: Cell
    floors: Mapping[Force, Sequence[tuple[int, Cell]]]
    importance_floor: Cell

    @classmethod
    def read(cls, results: Results, metric: str, reading: NoiseReading) -> "ScoreErrorPanel":
        def measure(label: str) -> Cell:
            return results.cell(SCORE_BIAS.trial(label, results.profile, reading), metric)

        def measure_floor(label: str) -> Cell:
            if metric != BIAS:
                return Cell()
            return results.cell(SCORE_BIAS.trial(label, results.profile, reading), "rms_noise")

        def measure_chains(measure_one: Callable[[str], Cell]) -> dict[Force, list[tuple[int, Cell]]]:
            return {
                force: [(b, measure_one(label_hmc(force, b))) for b in reading.burn_ins] for force in FORCES
            }

        return cls(
            metric,
            measure_chains(measure),
            measure(IMPORTANCE),
            measure(LATENT),
            measure_chains(measure_floor),
            measure_floor(IMPORTANCE),
        )


def scale_cell(cell: Cell, factor: float) -> Cell:
    return replace(cell, values=tuple(factor * value for value in cell.values))


def draw(blocks: Mapping[str, Sequence[ScoreErrorPanel]]) -> Any:
    """One column for each title."""
    figure, axes = create_panels(len(METRICS), len(blocks), 3.4, 2.1)
    for column, (title, shown) in enumerate(blocks.items()):
        axes[0, column].set_title(title)
        axes[-1, column].set_xlabel("burn-in steps")
        for axis, panel in zip(axes[:, column], shown, strict=True):
            draw_panel(axis, panel)
            axis.set_ylabel(METRICS[panel.metric] if column == 0 else "")
    named = {
        label: handle
        for axis in axes.flat
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        named.values(), named.keys(), loc="outside lower center", ncols=3, fontsize=7, frameon=False
    )
    return figure


def draw_panel(axis: Any, panel: ScoreErrorPanel) -> None:
    axis.set_xscale("log")
    axis.set_yscale("log" if panel.metric == BIAS else "linear")
    axis.set_xticks(ALL, list(map(str, ALL)))
    axis.minorticks_off()
    for (force, points), colour, marker in zip(panel.chains.items(), COLOURS, MARKERS, strict=False):
        draw_line(axis, points, color=colour, marker=marker, markersize=4, label=FORCES[force])
        draw_line(
            axis,
            panel.floors[force],
            color=colour,
            linestyle=":",
            linewidth=1,
            label=NOISE,
        )
    draw_level(axis, panel.importance, color=COLOURS[2], linestyle="--", label=IMPORTANCE)
    draw_level(axis, panel.importance_floor, color=COLOURS[2], linestyle=":", linewidth=1, label=NOISE)
    if panel.metric == BIAS:
        draw_level(axis, panel.latent, color=COLOURS[4], linestyle="-.", label=LATENT)


def draw_line(axis: Any, points: Sequence[tuple[int, Cell]], **style: Any) -> None:
    """Means by burn-in, and every seed as a faint dot."""
    means = [(burn_in, cell.mean) for burn_in, cell in points if cell.mean is not None]
    if means:
        axis.plot(*zip(*means, strict=True), **style)
        seeds = [(burn_in, value) for burn_in, cell in points for value in cell.values]
        axis.scatter(*zip(*seeds, strict=True), s=6, color=style["color"], alpha=0.4, linewidth=0)


def draw_level(axis: Any, cell: Cell, **style: Any) -> None:
    """A mean that does not depend on the burn-in, and every seed as a faint line."""
    if cell.mean is not None:
        axis.axhline(cell.mean, **style)
        for value in cell.values:
            axis.axhline(value, color=style["color"], linewidth=0.5, alpha=0.4)


def describe_signed_means(results: Results, reading: NoiseReading) -> str:
    """The signed means, which the paper reports, with the paper's."""
    cells = {
        label: results.cell(SCORE_BIAS.trial(label, results.profile, reading), "signed_bias")
        for label in IN_PAPER
    }
    texts = [
        f"{label} {format_significant(cells[label].mean, 2)} "
        f"(paper {format_exact(PAPER.read_value(SOURCE, **fields))})"
        for label, fields in IN_PAPER.items()
    ]
    return f"Signed mean of the bias, in which errors cancel, {title_reading(reading)}: {', '.join(texts)}."


class Figure3(ExperimentArtifact):
    experiment = SCORE_BIAS
    name = "figure3"
    title = "Figure 3: bias and standard deviation of score estimators"
    shows_variants = False
    claims = tuple(declare_claims())

    def list_compared(self, results: Results) -> Iterator[ComparedValue]:
        """The signed bias, with the sampler and the σ of the published code."""
        reading = SCORE_BIAS.reading(results.profile, "variance")
        for label, fields in IN_PAPER.items():
            paper = PAPER.read_value(SOURCE, **fields)
            trial = SCORE_BIAS.trial(label, results.profile, reading)
            cell = take_absolute(results.cell(trial, "signed_bias", paper))
            yield ComparedValue(paper.number, trial.label, cell)

    def render(self, results: Results) -> Drawing:
        profile = results.profile
        blocks = {
            title_reading(reading): [ScoreErrorPanel.read(results, metric, reading) for metric in METRICS]
            for reading in SCORE_BIAS.data(profile)
        }
        text = (
            "Error of score estimates per dimension, given (z0, x), for probabilistic PCA of MNIST, against "
            f"the exact score ({SCORE_BIAS.about(profile)}). Lines are means over seeds, faint marks the "
            "seeds; dotted is the bias that the same noise would show without any."
        )
        signed = [describe_signed_means(results, reading) for reading in SCORE_BIAS.data(profile)]
        notes = [*signed, *describe_missing(results)]
        return self.drawing(results, text, self.rows(results), partial(draw, blocks), notes)


def title_reading(reading: NoiseReading) -> str:
    return reading.name if reading.noise == "deviation" else f"{reading.name} (published script)"


def describe_missing(results: Results) -> Iterator[str]:
    """A note for each estimator of which some seeds have no value, which the panels do not show."""
    for trial in SCORE_BIAS.trials(results.profile):
        cell = results.cell(trial, "rms_bias")
        if not cell.n:
            yield f"{trial.name}: {cell.reason}."
        elif cell.n < cell.total:
            yield f"{trial.name}: {cell.diverged} of {cell.total} diverged, {cell.failed} failed."

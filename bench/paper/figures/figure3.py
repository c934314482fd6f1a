"""Figure 3: how biased, and how noisy, is importance sampling round z0, and HMC started there, as its burn-in
grows?

Bias and standard deviation are per dimension, of estimates given (z0, x). The paper's bias is the *signed*
mean over all entries, in which errors cancel; the mean absolute bias and the RMS are drawn beside it.

Trap: part of a measured bias is Monte Carlo noise, because each mean is one of finitely many estimates, and
an estimator that is noisier looks more biased. That part is drawn as a floor, and the claims take it out: the
squared RMS of independent estimates is that of the bias plus that of the noise on average, so they judge
√max(rms² − noise², 0) of each trial.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

from bench.artifact import Artifact, Drawing
from bench.judging.cell import Cell, cell_of
from bench.judging.claims import Claim, Finding, all_of, compare
from bench.judging.results import Results, metrics_of
from bench.paper.experiments.score_bias import (
    ALL,
    BUDGETS,
    FORCES,
    LONG,
    SHORT,
    Force,
    Noise,
    hmc,
    importance,
    latent,
    trials,
)
from bench.paper.values import paper_value
from bench.render.caption import caption_tail
from bench.render.plotting import COLOURS, MARKERS, panels
from sweeps.trial.identity import Profile, Trial

METRICS = {
    "signed_bias": "signed bias",
    "absolute_bias": "absolute bias",
    "rms_bias": "RMS bias",
    "deviation": "standard deviation",
}
FLOORS = {"absolute_bias": math.sqrt(2 / math.pi), "rms_bias": 1.0}
"""What a metric would show of an estimator without bias, in units of its RMS noise: of Gaussian noise the
mean size is √(2/π) of the RMS (less where some entries are noisier than others)."""
CORRECTED = "RMS bias without noise"
ON_LOG_SCALE = ("absolute_bias", "rms_bias")
NOISES: Mapping[Noise, str] = {
    "deviation": "σ = noise deviation",
    "variance": "σ = noise variance (published script)",
}
SOURCE = "Figure 3 / Sec 5.2 text"
Declare = Callable[[Profile], Trial]
Check = Callable[[Declare, Declare, Results], Finding]


def noise_free(results: Results, trial: Trial) -> Cell:
    """The RMS bias of each trial less the part of it that is noise; zero where the noise explains it all."""
    found = [(row.outcome, metrics_of(row)) for row in results.like(trial)]
    return cell_of(
        [
            (outcome, _without_noise(metrics.get("rms_bias"), metrics.get("rms_noise")))
            for outcome, metrics in found
        ]
    )


def _without_noise(rms: float | None, noise: float | None) -> float | None:
    return None if rms is None or noise is None else math.sqrt(max(rms**2 - noise**2, 0.0))


def more_biased(larger: Declare, smaller: Declare, results: Results) -> Finding:
    a, b = larger(results.profile), smaller(results.profile)
    return compare(
        f"{CORRECTED} of {a.name}", noise_free(results, a), b.name, noise_free(results, b), better="lower"
    )


def noisier(larger: Declare, smaller: Declare, results: Results) -> Finding:
    a, b = larger(results.profile), smaller(results.profile)
    return compare(
        f"{METRICS['deviation']} of {a.name}",
        results.cell(a, "deviation"),
        b.name,
        results.cell(b, "deviation"),
        better="lower",
    )


def signed_order(results: Results) -> Finding:
    """The sizes of the paper's three numbers in their order, for the sampler and the σ of the published
    code."""
    chains = [hmc(results.profile, "prior_only", burn_in, "variance") for burn_in in (SHORT, LONG)]
    order = [
        (trial.name, _size(results.cell(trial, "signed_bias")))
        for trial in (*chains, importance(results.profile, "variance"))
    ]
    pairs = list(pairwise(order))
    return all_of(
        [
            compare(f"|signed bias| of {a}", larger, b, smaller, len(pairs), better="lower")
            for (a, larger), (b, smaller) in pairs
        ]
    )


def _size(cell: Cell) -> Cell:
    return Cell(tuple(map(abs, cell.values)), cell.outcomes, reason=cell.reason)


def claims() -> Iterator[Claim]:
    for force, sampler in FORCES.items():
        short, long = (partial(hmc, force=force, burn_in=burn_in) for burn_in in (SHORT, LONG))
        checks: dict[str, tuple[str, Check, Declare, Declare]] = {
            f"hmc-{SHORT}-more-biased": (
                f"With {SHORT} burn-in steps, % is more biased than IS.",
                more_biased,
                short,
                importance,
            ),
            f"hmc-{LONG}-more-biased": (
                f"With {LONG} burn-in steps, % is still more biased than IS.",
                more_biased,
                long,
                importance,
            ),
            "hmc-bias-falls": ("As its burn-in grows, the bias of % falls.", more_biased, short, long),
            "hmc-variance-grows": ("As its burn-in grows, the variance of % grows.", noisier, long, short),
            "importance-noisier": (
                f"With {SHORT} burn-in steps, % has a smaller variance than IS.",
                noisier,
                importance,
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
    text = "In the signed mean that the paper reports, bias falls from HMC-2 over HMC-500 to importance sampling."
    yield Claim("signed-order", text, "Sec. 5.2", signed_order)


@dataclass(frozen=True)
class Panel:
    """What one panel shows: HMC by force as (burn-in, cell), two estimators that have no burn-in, and the
    floors of noise."""

    metric: str
    chains: Mapping[Force, Sequence[tuple[int, Cell]]]
    importance: Cell
    latent: Cell
    floors: Mapping[Force, Sequence[tuple[int, Cell]]]
    importance_floor: Cell

    @classmethod
    def read(cls, results: Results, metric: str, noise: Noise) -> "Panel":
        profile = results.profile

        def floor(trial: Trial) -> Cell:
            return scaled(results.cell(trial, "rms_noise"), FLOORS[metric]) if metric in FLOORS else Cell()

        def chains(read: Callable[[Trial], Cell]) -> dict[Force, list[tuple[int, Cell]]]:
            burn_ins = BUDGETS[profile].burn_ins[noise]
            return {force: [(b, read(hmc(profile, force, b, noise))) for b in burn_ins] for force in FORCES}

        own, start = importance(profile, noise), latent(profile, noise)
        measured = partial(results.cell, metric=metric)
        return cls(metric, chains(measured), measured(own), measured(start), chains(floor), floor(own))


def scaled(cell: Cell, factor: float) -> Cell:
    return replace(cell, values=tuple(factor * value for value in cell.values))


def draw(read: Mapping[Noise, Sequence[Panel]]) -> Any:
    figure, axes = panels(len(METRICS), len(NOISES), 3.6, 1.8)
    for column, (noise, shown) in enumerate(read.items()):
        axes[0, column].set_title(NOISES[noise], fontsize=9)
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


def draw_panel(axis: Any, panel: Panel) -> None:
    axis.set_xscale("log")
    axis.set_yscale("log" if panel.metric in ON_LOG_SCALE else "linear")
    axis.set_xticks(ALL, list(map(str, ALL)))
    axis.minorticks_off()
    for (force, points), colour, marker in zip(panel.chains.items(), COLOURS, MARKERS, strict=False):
        line(axis, points, color=colour, marker=marker, markersize=4, label=FORCES[force])
        line(
            axis,
            panel.floors[force],
            color=colour,
            linestyle=":",
            linewidth=1,
            label=f"noise of {FORCES[force]}",
        )
    level(axis, panel.importance, color=COLOURS[2], linestyle="--", label="IS, k = 20")
    level(axis, panel.importance_floor, color=COLOURS[2], linestyle=":", linewidth=1, label="noise of IS")
    if panel.metric != "deviation":
        level(axis, panel.latent, color=COLOURS[4], linestyle="-.", label="z = z0")
    if panel.metric == "signed_bias":
        draw_paper(axis)


def line(axis: Any, points: Sequence[tuple[int, Cell]], **style: Any) -> None:
    """Means against burn-in, and every seed as a faint dot."""
    means = [(burn_in, cell.mean) for burn_in, cell in points if cell.mean is not None]
    if means:
        axis.plot(*zip(*means, strict=True), **style)
        seeds = [(burn_in, value) for burn_in, cell in points for value in cell.values]
        axis.scatter(*zip(*seeds, strict=True), s=6, color=style["color"], alpha=0.4, linewidth=0)


def level(axis: Any, cell: Cell, **style: Any) -> None:
    """A mean that no burn-in changes, and every seed as a faint line."""
    if cell.mean is not None:
        axis.axhline(cell.mean, **style)
        for value in cell.values:
            axis.axhline(value, color=style["color"], linewidth=0.5, alpha=0.4)


def draw_paper(axis: Any) -> None:
    chains = [
        paper_value(SOURCE, method="VERA-HMC", variant=f"burn-in {burn_in}") for burn_in in (SHORT, LONG)
    ]
    axis.plot((SHORT, LONG), chains, "k*", label="paper, HMC")
    axis.axhline(
        paper_value(SOURCE, method="VERA (importance sampling)"), color="k", linewidth=0.8, label="paper, IS"
    )


class Figure3(Artifact):
    name = "figure3"
    title = "Figure 3: bias and standard deviation of score estimators"
    claims = tuple(claims())

    def trials(self, profile: Profile) -> Iterator[Trial]:
        return trials(profile)

    def render(self, results: Results) -> Drawing:
        profile = results.profile
        read = {noise: [Panel.read(results, metric, noise) for metric in METRICS] for noise in NOISES}
        caption = (
            "Error of score estimates per dimension, given (z0, x), for probabilistic PCA of MNIST, against the exact score "
            f"({BUDGETS[profile].about}). Lines are means over seeds, faint marks the seeds; dotted is the bias that the "
            "same noise would show without any. In black: the paper's values, of its own setting. "
            f"{caption_tail(results.rows_of(trials(profile)))}"
        )
        return Drawing(self.name, self.title, caption, partial(draw, read), profile, tuple(lost(results)))


def lost(results: Results) -> Iterator[str]:
    """What a reader does not see: trials that left no value."""
    for trial in trials(results.profile):
        cell = results.cell(trial, "rms_bias")
        if not cell.n:
            yield f"{trial.name}: {cell.reason}."
        elif cell.n < cell.total:
            yield f"{trial.name}: {cell.diverged} of {cell.total} diverged, {cell.failed} failed."

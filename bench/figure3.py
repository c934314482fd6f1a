"""Figure 3: how biased, and how noisy, is importance sampling round z0, and HMC started there, as its burn-in grows?

Bias and standard deviation are per dimension, of estimates given (z0, x). The paper's bias is the *signed* mean over all entries,
in which errors cancel; the mean absolute bias and the RMS are drawn beside it. Part of a measured RMS is Monte Carlo noise, because
each mean is one of finitely many estimates: that part is drawn as a floor.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from bench.artifact import Artifact, Drawing, artifacts
from bench.bias import ALL, BUDGETS, FORCES, LONG, SHORT, Force, Noise, hmc, importance, latent, trials
from bench.cell import Cell
from bench.claims import Claim, Finding, all_of, compare
from bench.reference import paper_value
from bench.render.caption import caption_tail
from bench.render.plotting import COLOURS, MARKERS, panels
from bench.results import Results
from sweeps.trial import Profile, Trial

METRICS = {
    "signed_bias": "signed bias",
    "absolute_bias": "absolute bias",
    "rms_bias": "RMS bias",
    "deviation": "standard deviation",
}
FLOORS = {"rms_bias": "rms_noise"}
"""What a metric would show of an estimator without bias."""
ON_LOG_SCALE = ("absolute_bias", "rms_bias")
NOISES: Mapping[Noise, str] = {"deviation": "σ = noise deviation", "variance": "σ = noise variance (published script)"}
SOURCE = "Figure 3 / Sec 5.2 text"
Declare = Callable[[Profile], Trial]


def exceeds(metric: str, larger: Declare, smaller: Declare, results: Results) -> Finding:
    """Whether a metric of one trial lies above that of another."""
    a, b = larger(results.profile), smaller(results.profile)
    return compare(f"{METRICS[metric]} of {a.name}", results.cell(a, metric), b.name, results.cell(b, metric))


def signed_order(results: Results) -> Finding:
    """The sizes of the paper's three numbers in their order, for the sampler and the σ of the published code."""
    chains = [hmc(results.profile, "prior_only", burn_in, "variance") for burn_in in (SHORT, LONG)]
    order = [
        (trial.name, _size(results.cell(trial, "signed_bias"))) for trial in (*chains, importance(results.profile, "variance"))
    ]
    return all_of([compare(f"|signed bias| of {a}", larger, b, smaller) for (a, larger), (b, smaller) in pairwise(order)])


def _size(cell: Cell) -> Cell:
    return Cell(tuple(map(abs, cell.values)), cell.outcomes, reason=cell.reason)


def claims() -> Iterator[Claim]:
    for force, sampler in FORCES.items():
        short, long = (partial(hmc, force=force, burn_in=burn_in) for burn_in in (SHORT, LONG))
        for key, text, metric, larger, smaller in (
            (f"hmc-{SHORT}-more-biased", f"With {SHORT} burn-in steps, % is more biased than IS.", "rms_bias", short, importance),
            (
                f"hmc-{LONG}-more-biased",
                f"With {LONG} burn-in steps, % is still more biased than IS.",
                "rms_bias",
                long,
                importance,
            ),
            ("hmc-bias-falls", "As its burn-in grows, the bias of % falls.", "rms_bias", short, long),
            ("hmc-variance-grows", "As its burn-in grows, the variance of % grows.", "deviation", long, short),
            (
                "importance-noisier",
                f"With {SHORT} burn-in steps, % has a smaller variance than IS.",
                "deviation",
                importance,
                short,
            ),
        ):
            check = partial(exceeds, metric, larger, smaller)
            yield Claim(f"{key}-{force}", text.replace("%", sampler), "Sec. 5.2, Figure 3", check)
    text = "In the signed mean that the paper reports, bias falls from HMC-2 over HMC-500 to importance sampling."
    yield Claim("signed-order", text, "Sec. 5.2", signed_order)


@dataclass(frozen=True)
class Panel:
    """What one panel shows: HMC by force as (burn-in, cell), two estimators that have no burn-in, and floors like HMC."""

    metric: str
    chains: Mapping[Force, Sequence[tuple[int, Cell]]]
    importance: Cell
    latent: Cell
    floors: Mapping[Force, Sequence[tuple[int, Cell]]]

    @classmethod
    def read(cls, results: Results, metric: str, noise: Noise) -> "Panel":
        profile = results.profile

        def chains(name: str) -> dict[Force, list[tuple[int, Cell]]]:
            burn_ins = BUDGETS[profile].burn_ins[noise]
            return {force: [(b, results.cell(hmc(profile, force, b, noise), name)) for b in burn_ins] for force in FORCES}

        flat = {trial: results.cell(trial(profile, noise), metric) for trial in (importance, latent)}
        floors = chains(FLOORS[metric]) if metric in FLOORS else {}
        return cls(metric, chains(metric), flat[importance], flat[latent], floors)


def draw(read: Mapping[Noise, Sequence[Panel]]) -> Any:
    figure, axes = panels(len(METRICS), len(NOISES), 3.6, 1.8)
    for column, (noise, shown) in enumerate(read.items()):
        axes[0, column].set_title(NOISES[noise], fontsize=9)
        axes[-1, column].set_xlabel("burn-in steps")
        for axis, panel in zip(axes[:, column], shown, strict=True):
            draw_panel(axis, panel)
            axis.set_ylabel(METRICS[panel.metric] if column == 0 else "")
    named = {label: handle for axis in axes.flat for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=3, fontsize=7, frameon=False)
    return figure


def draw_panel(axis: Any, panel: Panel) -> None:
    axis.set_xscale("log")
    axis.set_yscale("log" if panel.metric in ON_LOG_SCALE else "linear")
    axis.set_xticks(ALL, list(map(str, ALL)))
    axis.minorticks_off()
    for (force, points), colour, marker in zip(panel.chains.items(), COLOURS, MARKERS, strict=False):
        line(axis, points, color=colour, marker=marker, markersize=4, label=FORCES[force])
        line(axis, panel.floors.get(force, ()), color=colour, linestyle=":", linewidth=1, label=f"noise of {FORCES[force]}")
    level(axis, panel.importance, color=COLOURS[2], linestyle="--", label="IS, k = 20")
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
    chains = [paper_value(SOURCE, method="VERA-HMC", variant=f"burn-in {burn_in}") for burn_in in (SHORT, LONG)]
    axis.plot((SHORT, LONG), chains, "k*", label="paper, HMC")
    axis.axhline(paper_value(SOURCE, method="VERA (importance sampling)"), color="k", linewidth=0.8, label="paper, IS")


@artifacts.register
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
            f"({BUDGETS[profile].about}). Lines are means over seeds, faint marks the seeds; dotted is the RMS that an unbiased "
            "estimator would show. In black: the paper's values, of its own setting. "
            f"{caption_tail([row for trial in trials(profile) for row in results.like(trial)])}"
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

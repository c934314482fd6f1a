"""Figure 1: a small network as energy, trained on moons: the density it stands for, and the samples it was
trained with.

Above: VERA with an entropy weight λ of .01, .1 and 1; below: PCD at five σ; which ones the paper shows is not
known. Each as e^f normalised over a 100 × 100 grid on [−4, 4]², and under that 1,000 samples of the generator
or of the replay buffer, which is what f was pitted against. The point is to look at both: samples can follow
the data while the density does not.

Under each density stands the mean log-likelihood of test points: f less its normaliser, by quadrature on
[−10, 10]². Trap: where f is nearly flat, mass lies beyond any grid, the normaliser is too small and the
likelihood an upper bound only; it is shown as one, and no claim takes it for the value.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.artifact import Artifact, Drawing
from bench.judging.claims import Claim, Finding, all_of
from bench.judging.results import Results, metrics_of
from bench.paper.experiments.toys import (
    SIGMAS,
    Budget,
    Likelihood,
    Look,
    Setting,
    about,
    is_bound,
    lies_above,
    samples_hide_density,
)
from bench.render.caption import caption_tail
from bench.render.layout import MINUS, number
from bench.render.plotting import COLOURS, panels
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial

LAMBDAS = (0.01, 0.1, 1.0)
BUDGETS: Mapping[Profile, Budget] = {
    "smoke": Budget(20, 5e-3),
    "laptop": Budget(5_000, 1e-3),
    "paper": Budget(100_000, 1e-3),
}
LIKELIHOOD = "grid_log_likelihood"
LIMIT = 4.0
COLUMNS = 5
"""In which VERA's panels, with the data before them, and PCD's stand below each other: as many as are
readable on a page."""


def setting(profile: Profile) -> Setting:
    return Setting(profile, "moons", "mlp", BUDGETS[profile])


def density_improves(results: Results) -> Finding:
    """At both steps between neighbouring λ."""
    found = [
        Likelihood.read(results, setting(results.profile).vera(weight), LIKELIHOOD) for weight in LAMBDAS
    ]
    return all_of([lies_above(high, low, comparisons=len(found) - 1) for low, high in pairwise(found)])


def samples_look_right(results: Results) -> Finding:
    way = setting(results.profile)
    looks = [Look.read(results, way.pcd(noise), LIKELIHOOD) for noise in SIGMAS]
    return samples_hide_density(looks, Likelihood.read(results, way.vera(1.0), LIKELIHOOD), comparisons=2)


@dataclass(frozen=True)
class Panel:
    """One way to train: a density and samples, or the reason why there are none."""

    title: str
    remark: str
    density: NDArray[Any] | None = None
    samples: NDArray[Any] | None = None

    @classmethod
    def read(cls, results: Results, trial: Trial) -> "Panel":
        """Of the first seed, whatever became of it."""
        rows = results.like(trial)
        if not rows:
            return cls(trial.label, "not run")
        if rows[0].outcome != "ok":
            return cls(trial.label, f"{rows[0].outcome.replace('_', ' ')}\nat step {rows[0].outcome_step:,}")
        arrays = results.arrays(rows[0])
        return cls(
            trial.label, likelihood_text(rows[0]), arrays.get("density_image"), arrays.get("training_samples")
        )


def likelihood_text(row: Row) -> str:
    metrics = metrics_of(row)
    if LIKELIHOOD not in metrics:
        return "likelihood\nnot measured"
    bound = "≤ " if is_bound(row) else ""
    return f"{bound}{metrics[LIKELIHOOD]:,.2f} nats".replace("-", MINUS)


def read_data(results: Results, trials: Sequence[Trial]) -> Panel:
    """The test points that the first trial with any kept to look at, and what no model can exceed on many of
    them."""
    row = next((row for row in results.rows_of(trials) if "ceiling" in metrics_of(row)), None)
    if row is None:
        return Panel("data", "")
    ceiling = number(metrics_of(row)["ceiling"], 2)
    return Panel("data", f"ceiling {ceiling} nats", samples=results.arrays(row).get("data_samples"))


def draw(data: Panel, vera: Sequence[Panel], pcd: Sequence[Panel]) -> Any:
    """Two blocks of two rows, densities above samples. Data stand before VERA and have samples only."""
    figure, axes = panels(4, COLUMNS, 1.3, 1.45)
    axes[0, 0].set_axis_off()
    axes[1, 0].set_title(data.title, fontsize=8)
    draw_samples(axes[1, 0], data.samples)
    axes[1, 0].set_xlabel(data.remark, fontsize=7)
    draw_block(axes[:2, 1:], vera)
    draw_block(axes[2:], pcd)
    for place, text in {(0, 1): "density", (1, 0): "samples", (2, 0): "density", (3, 0): "samples"}.items():
        axes[place].set_ylabel(text, fontsize=8)
    return figure


def draw_block(axes: Any, shown: Sequence[Panel]) -> None:
    for (density, samples), panel in zip(axes.T, shown, strict=False):
        density.set_title(panel.title, fontsize=8)
        draw_density(density, panel)
        draw_samples(samples, panel.samples)
    for axis in axes[:, len(shown) :].flat:
        axis.set_axis_off()


def draw_density(axis: Any, panel: Panel) -> None:
    frame(axis)
    if panel.density is None:
        axis.text(0, 0, panel.remark, ha="center", va="center", fontsize=7)
        return
    axis.imshow(
        panel.density,
        cmap="viridis",
        extent=(-LIMIT, LIMIT, -LIMIT, LIMIT),
        origin="upper",
        interpolation="nearest",
    )
    axis.set_xlabel(panel.remark, fontsize=7)


def draw_samples(axis: Any, samples: NDArray[Any] | None) -> None:
    frame(axis)
    if samples is None:
        return
    axis.scatter(samples[:, 0], samples[:, 1], s=1, color=COLOURS[0], linewidths=0)
    outside = int(np.any(np.abs(samples) > LIMIT, axis=1).sum())
    if outside:
        axis.set_xlabel(f"{outside} of {len(samples):,} outside", fontsize=7)


def frame(axis: Any) -> None:
    """[−4, 4]² as a square without ticks."""
    axis.set(xlim=(-LIMIT, LIMIT), ylim=(-LIMIT, LIMIT), xticks=(), yticks=(), aspect="equal")
    axis.spines[:].set(visible=True, linewidth=0.5)


class Figure1(Artifact):
    name = "figure1"
    title = "Figure 1: densities and samples of VERA and PCD on moons"
    claims = (
        Claim(
            "density-improves",
            "As λ goes to 1, VERA's density becomes more accurate.",
            "Figure 1",
            density_improves,
        ),
        Claim(
            "pcd-samples-look-right",
            "PCD's samples look right while its density is wrong.",
            "Sec. 5.1, Figure 1",
            samples_look_right,
        ),
    )

    def trials(self, profile: Profile) -> Iterator[Trial]:
        way = setting(profile)
        yield from map(way.vera, LAMBDAS)
        yield from map(way.pcd, SIGMAS)

    def render(self, results: Results) -> Drawing:
        profile = results.profile
        trials = list(self.trials(profile))
        shown = [Panel.read(results, trial) for trial in trials]
        blocks = shown[: len(LAMBDAS)], shown[len(LAMBDAS) :]
        drawing: Callable[[], Any] = partial(draw, read_data(results, trials), *blocks)
        caption = (
            "Density on [−4, 4]², each on its own colour scale, with the mean log-likelihood of 100,000 test points under it "
            "(quadrature on a grid; ≤ where mass lies beyond the grid), and below it samples that it was trained with. First seed; "
            f"{about(BUDGETS, profile)}. {caption_tail(results.rows_of(trials))}"
        )
        return Drawing(self.name, self.title, caption, drawing, profile, tuple(results.notes))

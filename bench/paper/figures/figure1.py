"""Figure 1: the density of a small network trained on moons, and the samples it was trained with.

The upper block shows VERA with an entropy weight λ of .01, .1 and 1, the lower block PCD at five σ; the paper
does not say which σ it shows. Each panel is e^f normalised over a 100 × 100 grid on [−4, 4]². Below it are
1,000 samples of the generator or of the replay buffer, the model samples that f was trained with. The
comparison of the two is the point: samples can follow the data while the density does not.

The mean log-likelihood of test points is printed under each density: f minus its log-normaliser, by
quadrature on [−10, 10]². Trap: if f is nearly flat, mass lies beyond any grid, the normaliser is too small
and the likelihood is only an upper bound. It is shown as a bound, and no claim uses it as the value.
"""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from bench.artifact import Drawing, ExperimentArtifact
from bench.judging.claims import Claim, Finding, require_all
from bench.judging.results import Results, find_first_seed, read_metrics
from bench.paper.experiments.toy_judging import (
    ModelLikelihood,
    SampleEvaluation,
    check_hidden_density,
    compare_likelihoods,
    is_upper_bound,
)
from bench.paper.experiments.toys import (
    SIGMAS,
    SMALL_NETWORK,
    SMALL_NETWORK_LAMBDAS,
    label_pcd,
    label_vera,
)
from bench.render.density_panels import DensityPanel, draw_density, draw_samples
from bench.render.numbers import format_fixed
from bench.render.plotting import create_panels
from sweeps.store.row import Row
from sweeps.trial.identity import Trial

LIKELIHOOD = "grid_log_likelihood"
COLUMNS = 5
"""Columns of the figure: the data and VERA's panels above PCD's, as many as are readable on a page."""


def read_likelihood(results: Results, label: str) -> ModelLikelihood:
    return ModelLikelihood.read(results, SMALL_NETWORK.trial(label, results.profile), LIKELIHOOD)


def check_density_improves(results: Results) -> Finding:
    """At both steps between neighbouring λ."""
    found = [read_likelihood(results, label_vera(weight)) for weight in SMALL_NETWORK_LAMBDAS]
    return require_all([compare_likelihoods(high, low) for low, high in pairwise(found)])


def check_samples_look_right(results: Results) -> Finding:
    pcd = [SMALL_NETWORK.trial(label_pcd(noise), results.profile) for noise in SIGMAS]
    evaluations = [SampleEvaluation.read(results, trial, LIKELIHOOD) for trial in pcd]
    return check_hidden_density(evaluations, read_likelihood(results, label_vera(1)))


def read_panel(results: Results, trial: Trial) -> DensityPanel:
    """Shows the first seed, whatever its outcome."""
    first = find_first_seed(results, trial)
    if first.row is None or not first.is_ok:
        return DensityPanel(trial.label, first.failure.replace(" at step", "\nat step"))
    density, samples = (first.arrays.get(name) for name in ("density_image", "training_samples"))
    return DensityPanel(trial.label, format_likelihood(first.row), density, samples)


def format_likelihood(row: Row) -> str:
    metrics = read_metrics(row)
    if LIKELIHOOD not in metrics:
        return "likelihood\nnot measured"
    bound = "≤ " if is_upper_bound(row) else ""
    return f"{bound}{format_fixed(metrics[LIKELIHOOD], 2, separator=',')} nats"


def read_data(results: Results, trials: Sequence[Trial]) -> DensityPanel:
    """The test points that the first trial stored, and the ceiling, which no model exceeds on many points."""
    row = next((row for row in results.find_all_rows(trials) if "ceiling" in read_metrics(row)), None)
    if row is None:
        return DensityPanel("data", "")
    ceiling = format_fixed(read_metrics(row)["ceiling"], 2)
    return DensityPanel(
        "data", f"ceiling {ceiling} nats", samples=results.read_arrays(row).get("data_samples")
    )


def draw(data: DensityPanel, vera: Sequence[DensityPanel], pcd: Sequence[DensityPanel]) -> Any:
    """Two blocks of two rows, densities above samples. The data are left of VERA and have samples only."""
    figure, axes = create_panels(4, COLUMNS, 1.3, 1.45)
    axes[0, 0].set_axis_off()
    axes[1, 0].set_title(data.title, fontsize=8)
    draw_samples(axes[1, 0], data.samples)
    axes[1, 0].set_xlabel(data.remark, fontsize=7)
    draw_block(axes[:2, 1:], vera)
    draw_block(axes[2:], pcd)
    for place, text in {(0, 1): "density", (1, 0): "samples", (2, 0): "density", (3, 0): "samples"}.items():
        axes[place].set_ylabel(text, fontsize=8)
    return figure


def draw_block(axes: Any, shown: Sequence[DensityPanel]) -> None:
    for (density, samples), panel in zip(axes.T, shown, strict=False):
        density.set_title(panel.title, fontsize=8)
        draw_density(density, panel)
        draw_samples(samples, panel.samples)
    for axis in axes[:, len(shown) :].flat:
        axis.set_axis_off()


class Figure1(ExperimentArtifact):
    experiment = SMALL_NETWORK
    name = "figure1"
    title = "Figure 1: densities and samples of VERA and PCD on moons"
    shows_variants = False
    claims = (
        Claim(
            "density-improves",
            "As λ goes to 1, VERA's density becomes more accurate.",
            "Figure 1",
            check_density_improves,
        ),
        Claim(
            "pcd-samples-look-right",
            "PCD's samples look right while its density is wrong.",
            "Sec. 5.1, Figure 1",
            check_samples_look_right,
        ),
    )

    def render(self, results: Results) -> Drawing:
        trials = list(self.trials(results.profile))
        shown = [read_panel(results, trial) for trial in trials]
        vera, pcd = shown[: len(SMALL_NETWORK_LAMBDAS)], shown[len(SMALL_NETWORK_LAMBDAS) :]
        text = (
            "Density on [−4, 4]², each on its own colour scale, with the mean log-likelihood of 100,000 test "
            "points under it (quadrature on a grid; ≤ where mass lies beyond the grid), and below it samples "
            f"that it was trained with. First seed; {SMALL_NETWORK.about(results.profile)}."
        )
        drawing = partial(draw, read_data(results, trials), vera, pcd)
        return self.drawing(results, text, self.rows(results), drawing)

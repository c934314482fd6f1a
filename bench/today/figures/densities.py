"""Densities of the small network and the samples it was trained with: a row for each method, a column for
each toy.

Each density is e^f normalised on [−4, 4]², on its own colour scale, with the nats by which its likelihood
lies below that of the true density (≥ where mass lies beyond the grid). The samples are those that training
used, so a method without samples has none. The first row shows data. First seed.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from bench.artifact import Drawing
from bench.judging.results import Results, find_first_rows, find_first_seed, read_metrics
from bench.render.density_panels import DensityPanel, draw_density, draw_samples
from bench.render.numbers import format_fixed
from bench.render.plotting import create_panels
from bench.today.experiments.plane import PLANE_NETWORK
from bench.today.plane_results import BY_QUADRATURE, lies_beyond_grid
from bench.today.tables.density import list_line_trials
from bench.today.today_artifact import TodayArtifact
from sweeps.store.row import Row
from sweeps.trial.identity import Trial

Panels = Mapping[str, Sequence[DensityPanel]]
"""By method: one panel for each toy."""


def read_panel(results: Results, trial: Trial) -> DensityPanel:
    """Shows the first seed, whatever its outcome."""
    first = find_first_seed(results, trial)
    if first.row is None or not first.is_ok:
        return DensityPanel(trial.label, first.failure.replace(" at step", "\nat step"))
    density, samples = (first.arrays.get(name) for name in ("density_image", "training_samples"))
    return DensityPanel(trial.label, format_gap(first.row), density, samples)


def format_gap(row: Row) -> str:
    metrics = read_metrics(row)
    if BY_QUADRATURE not in metrics or "ceiling" not in metrics:
        return ""
    bound = "≥ " if lies_beyond_grid(row) else ""
    return f"{bound}{format_fixed(metrics['ceiling'] - metrics[BY_QUADRATURE], 2)}"


def read_data(results: Results, trials: Sequence[Trial]) -> DensityPanel:
    """The test points that the first trial on a toy stored."""
    rows = find_first_rows(results, trials)
    arrays = (results.read_arrays(row).get("data_samples") for row in rows)
    return DensityPanel("data", "", samples=next((found for found in arrays if found is not None), None))


def draw(data: Mapping[str, DensityPanel], panels: Panels) -> Any:
    """Densities in the left half, samples in the right half."""
    count = len(data)
    figure, axes = create_panels(1 + len(panels), 2 * count, 0.72, 0.8)
    for column, (name, panel) in enumerate(data.items()):
        axes[0, column].set_axis_off()
        axes[0, count + column].set_title(name, fontsize=6)
        axes[1, column].set_title(name, fontsize=6)
        draw_samples(axes[0, count + column], panel.samples)
    axes[0, count].set_ylabel("data", fontsize=6)
    for row, (label, shown) in enumerate(panels.items(), start=1):
        axes[row, 0].set_ylabel(label, fontsize=6)
        for column, panel in enumerate(shown):
            draw_density(axes[row, column], panel)
            draw_samples(axes[row, count + column], panel.samples)
    for axis in axes.flat:
        axis.xaxis.label.set_fontsize(6)
    return figure


class Densities(TodayArtifact):
    experiment = PLANE_NETWORK
    name = "densities"
    title = "Densities and training samples of a small network, by method"

    def render(self, results: Results) -> Drawing:
        profile = results.profile
        labels = [line.label for line in self.experiment.lines]
        trials = {label: list_line_trials(self.experiment, label, profile) for label in labels}
        panels = {label: [read_panel(results, trial) for trial in own] for label, own in trials.items()}
        data = {
            toy.name: read_data(results, [own[column] for own in trials.values()])
            for column, toy in enumerate(self.experiment.data(profile))
        }
        text = (
            "Left: densities on [−4, 4]², each on its own colour scale, with the nats by which the "
            "likelihood lies below that of the true density. Right: samples that the model was trained "
            "with. First seed; "
            f"{self.experiment.about(profile)}."
        )
        return self.drawing(results, text, self.rows(results), partial(draw, data, panels))

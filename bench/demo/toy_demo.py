"""The demo: a mixture of 100 Gaussians trained by maximum likelihood, VERA, PCD and the methods of plug-ins.

`toy-demo` is a table of test log-likelihoods, `toy-demo-density` a figure of the densities and samples of the
first seed. Both take other points with `--dataset`; densities are drawn for points in the plane only.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import fmean
from typing import Any

from bench.artifact import Artifact, Column, Drawing, Sheet, Value
from bench.data_names import describe_data, slugify_data
from bench.judging.results import Results, find_first_rows, find_first_seed, read_metrics
from bench.render.caption import describe_origin
from bench.render.density_panels import DensityPanel, draw_density, draw_samples
from bench.render.numbers import format_fixed
from bench.render.plotting import create_panels
from bench.shown_variants import list_shown_variants
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial
from sweeps.trial.sweep import DEMO_STEPS, MOONS, Sweep, find_sweep, list_demo_trials
from sweeps.trial.variant import get_base_name
from vera.spec.trial_spec import Component

LIKELIHOOD, DISTANCE = "test_log_likelihood", "sample_energy_distance"
SEEDS = (0, 1, 2)


class DemoArtifact(Artifact):
    """A table or figure of the demo, on moons or on other points."""

    takes = "points"
    optional = True
    seeds = dict.fromkeys(DEMO_STEPS, SEEDS)

    def __init__(self, dataset: Component | None = None) -> None:
        self.dataset = MOONS if dataset is None else dataset

    def on(self, dataset: Component) -> "DemoArtifact":
        return type(self)(dataset)

    def trials(self, profile: Profile) -> Iterator[Trial]:
        declared = list(list_demo_trials(profile, SEEDS[:1], self.dataset))
        yield from (*declared, *list_shown_variants(declared))

    def is_in(self, results: Results) -> bool:
        """Whether the demo itself was run: Table 10 shares some of its trials and does not count."""
        return any(get_base_name(row.sweep) == DemoTable.name for row in self.rows(results))

    def sweep(self) -> Sweep:
        about = find_sweep("toy-demo").about
        return Sweep(self.name, about, SEEDS, partial(list_demo_trials, data=self.dataset))

    @property
    def data_name(self) -> str:
        return describe_data(str(self.dataset["name"]), self.dataset, {})

    @property
    def file_name(self) -> str:
        return self.name if self.dataset == MOONS else f"{self.name}-{slugify_data(self.data_name)}"


class DemoTable(DemoArtifact):
    name = "toy-demo"
    title = "Demo: test log-likelihood of a mixture of 100 Gaussians"
    companions = ("toy-demo-density",)
    columns = (
        Column("method", "method"),
        Column(LIKELIHOOD, "test log-likelihood", 3),
        Column(DISTANCE, "energy distance of training samples", 4),
    )

    def render(self, results: Results) -> Sheet:
        trials = list(self.trials(results.profile))
        lines, rows = [self.make_line(results, trial) for trial in trials], self.rows(results)
        caption = (
            f"Nats, higher is better; {DEMO_STEPS[results.profile]:,} steps of 200 points. "
            f"{describe_origin(rows)}"
        )
        title, notes = f"{self.title} on {self.data_name}", tuple(describe_ceiling(rows))
        return Sheet(self.file_name, title, caption, self.columns, tuple(lines), results.profile, notes)

    def make_line(self, results: Results, trial: Trial) -> dict[str, Value]:
        """The line of one trial. A method without training samples has no energy distance."""
        distance = results.cell(trial, DISTANCE)
        measured = distance if distance.values else ""
        return {"method": trial.name, LIKELIHOOD: results.cell(trial, LIKELIHOOD), DISTANCE: measured}


def describe_ceiling(rows: Sequence[Row]) -> Iterator[str]:
    """The mean log-density of the test points under the true density, where it is known."""
    found = [read_metrics(row)["ceiling"] for row in rows if "ceiling" in read_metrics(row)]
    if found:
        ceiling = format_fixed(fmean(found), 3)
        yield f"Ceiling: {ceiling} nats under the true density. No model exceeds it on many points."


class DemoFigure(DemoArtifact):
    name = "toy-demo-density"
    title = "Demo: densities and samples"
    listed = False

    @property
    def command(self) -> str:
        return f"vera run {DemoTable.name}"

    def render(self, results: Results) -> Drawing:
        trials = list(self.trials(results.profile))
        panels = [read_panel(results, trial) for trial in trials]
        rows = find_first_rows(results, trials)
        text = (
            "Density on [−4, 4]², each on its own colour scale, with the test log-likelihood below it. "
            "Second row: samples that the model was trained with or, if there are none, of the model. "
            f"First seed. {describe_origin(rows)}"
        )
        drawing = partial(draw, [read_data(results, rows), *panels])
        title = f"{self.title} on {self.data_name}"
        return Drawing(self.file_name, title, text, drawing, results.profile)


def read_panel(results: Results, trial: Trial) -> DensityPanel:
    """Shows the first seed, whatever its outcome."""
    first = find_first_seed(results, trial)
    if not first.is_ok:
        return DensityPanel(trial.name, first.failure.replace(" at step", "\nat step"))
    density = first.arrays.get("density_image")
    if density is None:
        return DensityPanel(trial.name, "not in the plane")
    samples = first.arrays.get("training_samples", first.arrays.get("exact_samples"))
    value = first.metrics.get(LIKELIHOOD)
    return DensityPanel(
        trial.name, "" if value is None else f"{format_fixed(value, 2)} nats", density, samples
    )


def read_data(results: Results, rows: Sequence[Row]) -> DensityPanel:
    """The test points that the first trial stored."""
    arrays = (results.read_arrays(row).get("data_samples") for row in rows)
    return DensityPanel("data", "", samples=next((found for found in arrays if found is not None), None))


def draw(panels: Sequence[DensityPanel]) -> Any:
    """Densities above samples. The data come first and have samples only."""
    figure, axes = create_panels(2, len(panels), 1.5, 1.65)
    for column, panel in enumerate(panels):
        axes[0, column].set_title(panel.title, fontsize=8)
        draw_density(axes[0, column], panel)
        draw_samples(axes[1, column], panel.samples)
    axes[0, 0].set_axis_off()
    for row, text in ((0, 1), "density"), ((1, 0), "samples"):
        axes[row].set_ylabel(text, fontsize=8)
    return figure

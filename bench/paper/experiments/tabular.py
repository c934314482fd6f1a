"""Semi-supervised learning on tabular data: a classifier that is an energy model, trained with ten labels for
each class (Tables 6, 8 and 9, Figure 8).

`paper` is the paper's protocol: four data sets, a classifier with six hidden layers, a generator with three
of 500, and for each data set the settings of Table 9. `laptop` has four data sets that install with the
package, smaller networks and fewer steps; the settings of every line on each data set are chosen on tuning
seeds (tabular_tuning.py). "Supervised" sees the labelled points only, "Full-label" sees every label.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bench.experiment import Experiment, GridPoint, Line, Scale, change_networks, spell_setting
from bench.paper.experiments.tabular_data import (
    LONGEST,
    PAPER_TABLES,
    TableSetting,
    change_paper_table,
    make_embedded_tables,
    make_other_table,
)
from bench.paper.experiments.tabular_tuning import SCHEDULES, list_configurations
from sweeps.trial.identity import Profile, Trial, reseed
from sweeps.trial.matching import TUNING_SEED
from vera.spec.registry import joint_methods
from vera.spec.trial_spec import Component

BATCH = 64
DECAY = 0.3
RATES = (1e-3, 1e-4, 1e-5)
"""Learning rates of the tuning grid of every line at `paper`."""
LENGTHS = (1.0, 0.1, 0.01)
"""Steps of the tuning grid of the supervised lines at `paper`, as factors of Table 9's."""
OF_TRAINING = ("length", "schedule")
"""Varied settings that are no settings of a method."""


def _make_networks(energy: list[int], generator: list[int]) -> dict[str, Component]:
    return {
        "energy": {"name": "mlp-classifier", "hidden": energy},
        "generator": {"name": "mlp-generator", "hidden": generator, "activation": "softplus"},
        "statistics": {"name": "statistics", "hidden": generator},
    }


SCALES: Mapping[Profile, Scale[TableSetting]] = {
    "smoke": Scale(
        about="20 steps of tiny networks: shows that everything runs, and nothing else",
        data=make_embedded_tables("smoke"),
        networks=_make_networks([32] * 6, [32] * 3),
        steps=None,
        batch_size=BATCH,
        evaluations=2,
        task="joint",
        seeds=(0,),
    ),
    "laptop": Scale(
        about=f"up to {LONGEST:,} steps of {BATCH}, energy 256-128-128-64-64-64, generator 3 × 128",
        data=make_embedded_tables("laptop"),
        networks=_make_networks([256, 128, 128, 64, 64, 64], [128] * 3),
        steps=None,
        batch_size=BATCH,
        evaluations=10,
        task="joint",
        seeds=(0, 1, 2, 3, 4),
    ),
    "paper": Scale(
        about=f"energy 1000-500-500-250-250-250, generator 3 × 500, settings of Table 9, batches of {BATCH}",
        data=PAPER_TABLES,
        networks=_make_networks([1000, 500, 500, 250, 250, 250], [500] * 3),
        steps=None,
        batch_size=BATCH,
        evaluations=20,
        task="joint",
        seeds=(0, 1, 2),
    ),
}

LINES = (
    Line(
        "Supervised",
        method={"name": "supervised"},
        grid={"length": LENGTHS},
        reference={"method": "Supervised"},
        gflop={"hepmass": 0.12, "crop": 0.43, "human": 0.49, "mnist-table": 0.59},
    ),
    Line(
        "VAT",
        method={"name": "vat"},
        grid={"epsilon": (0.01, 0.1, 1.0, 3.0, 10.0)},
        reference={"method": "VAT"},
        gflop={"hepmass": 1.16, "crop": 1.59, "human": 1.91, "mnist-table": 2.21},
    ),
    Line(
        "MEG",
        method={"name": "meg"},
        roles=("energy", "generator", "statistics"),
        reference={"method": "MEG"},
        gflop={"hepmass": 2.14, "crop": 2.78, "human": 3.44, "mnist-table": 3.99},
    ),
    Line(
        "JEM",
        method={"name": "jem", "gamma": 0.0},
        grid={"sampler_steps": (20, 40, 80), "gamma": (0.0, 0.1)},
        reference={"method": "JEM"},
        gflop={"hepmass": 6.10, "crop": 7.31, "human": 17.13, "mnist-table": 38.34},
    ),
    Line(
        "VERA",
        method={"name": "vera", "gamma": 0.1},
        roles=("energy", "generator"),
        grid={
            "entropy_weight": (1.0, 0.1, 0.01, 1e-3, 1e-4),
            "alpha": (1.0, 10.0, 30.0, 100.0),
            "gamma": (0.1, 1.0),
        },
        reference={"method": "VERA"},
        gflop={"hepmass": 3.19, "crop": 4.12, "human": 5.13, "mnist-table": 5.95},
    ),
    Line(
        "Full-label",
        method={"name": "supervised"},
        grid={"length": LENGTHS},
        dataset={"labels_per_class": None},
        reference={"method": "Full-label"},
        gflop={"hepmass": 0.39, "crop": 0.43, "human": 0.52, "mnist-table": 0.59},
    ),
)
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "supervised": (),
    "vat": ("alpha", "beta", "epsilon"),
    "meg": ("alpha", "beta", "entropy_weight"),
    "jem": ("alpha", "beta", "sampler_steps"),
    "vera": ("alpha", "beta", "entropy_weight"),
    "hdge": (),
}
"""The settings that each method takes from the data set, besides the learning rate and its decay."""


class TabularExperiment(Experiment[TableSetting]):
    """Every line takes its settings from the column of Table 9, or has its own on the data set."""

    def settings(self, line: Line, profile: Profile, data: TableSetting) -> dict[str, Any]:
        rates = dict.fromkeys(_list_rates(line), data.lr)
        columns = {name: getattr(data, name) for name in COLUMNS[line.method["name"]]}
        decays = data.list_decays(line.label, self.steps(line, profile, data))
        own = {name: v for name, v in data.lines.get(line.label, {}).items() if name not in OF_TRAINING}
        return {**line.settings(profile), **rates, "decay_at": decays, "decay": DECAY, **columns, **own}

    def steps(self, line: Line | None, profile: Profile, data: TableSetting) -> int:
        steps = super().steps(line, profile, data)
        own = data.lines.get(line.label, {}) if line else {}
        return max(1, round(own.get("length", 1) * steps))

    def networks(self, profile: Profile, data: TableSetting, line: Line | None) -> Mapping[str, Component]:
        changes: dict[str, Component] = {
            "energy": {"weight_normalised": data.weight_normalised},
            "generator": {"latent_dim": data.latent_dim, "output": "tanh" if data.image else "identity"},
        }
        return change_networks(super().networks(profile, data, line), changes)

    def grid_points(self, line: Line, profile: Profile, data: TableSetting) -> Iterator[GridPoint]:
        """What is tried: at `laptop` the declared configurations; at `paper` the settings as they are, then
        each of them varied on its own, where VERA's β follows Table 7."""
        if profile != "paper":
            for changes in list_configurations(line.label, data.name):
                yield spell_configuration(line.label, changes), dict(changes)
            return
        chosen = self.trial(line, profile, data)
        axes: dict[str, Sequence[Any]] = {"lr": RATES, **line.grid_at(profile), "schedule": [*SCHEDULES]}
        if line.label == "VERA":
            axes["beta"] = sorted({1.0, 0.1 * data.alpha, data.alpha})
        yield f"{line.label} as chosen", {}
        for name, values in axes.items():
            varied = _list_rates(line) if name == "lr" else [name]
            for value in values:
                changes = dict.fromkeys(varied, value)
                if self.trial(line, profile, data.change_line(line.label, changes)).spec != chosen.spec:
                    yield f"{line.label} {spell_setting((name, value))}", changes

    def grid_trials(self, line: Line, profile: Profile, data: TableSetting | None = None) -> list[Trial]:
        data = self.data(profile)[0] if data is None else data
        base = data if profile == "paper" else data.begin_search(line.label)
        points = self.grid_points(line, profile, data)
        declared = [
            replace(self.trial(line, profile, base.change_line(line.label, changes)), label=label)
            for label, changes in points
        ]
        return [reseed(trial, TUNING_SEED) for trial in declared]

    def other_data(self, dataset: Component, profile: Profile) -> TableSetting:
        return change_paper_table(dataset) if profile == "paper" else make_other_table(dataset, profile)


def spell_configuration(line: str, changes: Mapping[str, Any]) -> str:
    """The label of a configuration: VERA alpha=3 gamma=1."""
    return " ".join([line, *map(spell_setting, changes.items())]) if changes else f"{line} start"


def _list_rates(line: Line) -> list[str]:
    """The learning rates of a line, which are always equal."""
    return ["lr", "generator_lr"] if "generator" in line.roles else ["lr"]


TABULAR = TabularExperiment("tabular", LINES, SCALES, joint_methods)

table6_grid = TABULAR.grid_sweep(
    "table6-grid",
    "what is tried for each line of Table 6: learning rates, their decay, steps, ε, κ, λ, β, α, γ; at laptop "
    "the same number of configurations for every line",
)

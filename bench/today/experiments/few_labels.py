"""Ten labels a class on small tables, as in Table 6: its lines, HDGE, and VERA with averaged weights.

Data, networks, steps and settings of the lines of Table 6 are those of `bench/paper/experiments/tabular.py`,
whose trials these are. "VERA, averaged weights" is VERA's trial with an average of the weights beside the
trained ones, which are the same as without it. HDGE has as many configurations on each set of digits as the
other lines have there: twelve on 8 × 8, seven on MNIST, each on two tuning seeds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bench.experiment import TUNING_SEEDS, GridPoint, Line, Scale
from bench.paper.experiments.tabular import TABULAR, TabularExperiment, spell_configuration
from bench.paper.experiments.tabular_data import TableSetting
from bench.paper.experiments.tabular_tuning import COMMON, Settings
from sweeps.trial.identity import Profile, Trial, reseed
from sweeps.trial.matching import TUNING_SEED
from vera.spec.trial_spec import Component

HDGE, VERA, AVERAGED = "HDGE", "VERA", "VERA, averaged weights"
EMA = 0.999
HDGE_START: Settings = {**COMMON, "length": 0.5, "alpha": 1.0, "beta": 0.0, "temperature": 0.1}
HDGE_MOVES: tuple[Settings, ...] = (
    {"lr": 3e-4},
    {"lr": 3e-3},
    {"beta": 0.3},
    {"beta": 1.0},
    {"lr": 1e-2, "length": 0.25},
    {"temperature": 0.3},
    {"alpha": 0.3},
    {"alpha": 3.0},
    {"schedule": "none"},
    {"schedule": "middle"},
    {"length": 1.0},
)
TRIED: Mapping[str, int] = {"digits 8 × 8": 11, "MNIST 5k, 14 × 14": 6}
"""By data set: how many of the moves are tried, beside the start."""
CHOSEN: Mapping[str, Settings] = {}
"""By data set: the configuration of HDGE that was chosen, as changes of the start; the start if none."""


def _add_lines(data: TableSetting) -> TableSetting:
    own = {HDGE: {**HDGE_START, **CHOSEN.get(data.name, {})}, AVERAGED: data.lines[VERA]}
    return replace(data, lines={**data.lines, **own})


class FewLabels(TabularExperiment):
    """The lines of Table 6 and two more."""

    def grid_points(self, line: Line, profile: Profile, data: TableSetting) -> Iterator[GridPoint]:
        if line.label != HDGE:
            yield from super().grid_points(line, profile, data)
        elif data.name in TRIED:
            for changes in ({}, *HDGE_MOVES[: TRIED[data.name]]):
                yield spell_configuration(HDGE, changes), dict(changes)

    def grid_trials(self, line: Line, profile: Profile, data: TableSetting | None = None) -> list[Trial]:
        if line.label != HDGE:
            return super().grid_trials(line, profile, data)
        base = (self.data(profile)[0] if data is None else data).change_line(HDGE, HDGE_START)
        return [
            reseed(
                replace(self.trial(line, profile, base.change_line(HDGE, changes)), label=label), TUNING_SEED
            )
            for label, changes in self.grid_points(line, profile, base)
        ]

    def _build(
        self,
        profile: Profile,
        data: TableSetting,
        label: str,
        method: Component,
        roles: Sequence[str],
        line: Line | None,
    ) -> Trial:
        trial = super()._build(profile, data, label, method, roles, line)
        is_averaged = line is not None and line.label == AVERAGED
        return replace(trial, spec=replace(trial.spec, ema=EMA)) if is_averaged else trial


def _make_scale(scale: Scale[Any], seeds: tuple[int, ...]) -> Scale[Any]:
    return replace(scale, data=tuple(map(_add_lines, scale.data)), seeds=seeds)


FEW_LABELS = FewLabels(
    "few-labels",
    (
        *TABULAR.lines,
        Line(HDGE, {"name": "hdge", "density_weight": 0.0}),
        replace(TABULAR.line(VERA), label=AVERAGED),
    ),
    {
        "smoke": _make_scale(TABULAR.scales["smoke"], (0,)),
        "laptop": _make_scale(TABULAR.scales["laptop"], (0, 1, 2)),
    },
    None,
)


def search_hdge(*names: str) -> FewLabels:
    """The line whose settings are tuned here, on these data sets."""
    scales = {
        profile: replace(scale, data=tuple(data for data in scale.data if data.name in names))
        for profile, scale in FEW_LABELS.scales.items()
    }
    return FewLabels("few-labels-hdge", (FEW_LABELS.line(HDGE),), scales, None)


few_labels_grid = search_hdge(*TRIED).grid_sweep(
    "few-labels-grid",
    "what is tried for HDGE with ten labels a class: as many configurations as Table 6's lines",
    TUNING_SEEDS,
)

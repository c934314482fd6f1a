"""Experiment, Line and Scale: what the experiment families of a paper share.

An experiment trains one kind of model in several ways. Each way is a `Line`: a label, a method with its
settings, the networks it uses, its tuning grid, and the fields that select the paper's value. What `smoke`,
`laptop` and `paper` mean is a `Scale`: data, networks, steps, batch size, seeds. From these an experiment
enumerates its trials, the trials of its tuning grids and of plug-in methods, and counts their cost.

A family whose trials depend on more than that subclasses `DataSetting` for what belongs to a data set, and
overrides one of the hooks: `settings`, `networks`, `dataset`, `task`, `steps`, `lines_for`, `trial_label`,
`grid_points`, `other_data`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, ClassVar, Generic, TypeVar

from bench.shown_variants import list_shown_variants
from sweeps.trial.identity import Profile, Trial, find_plugin_methods, reseed
from sweeps.trial.matching import TUNING_SEED
from sweeps.trial.sweep import Sweep
from vera.errors import SettingError, UnknownName
from vera.spec.registry import Registry, methods
from vera.spec.trial_spec import Component, TrialSpec

Grid = Mapping[str, Sequence[Any]]
"""Settings of a method, and the values to try for each."""
Points = Sequence[Mapping[str, Any]]
"""Settings of a method that are tried together."""
TUNING_SEEDS = (TUNING_SEED, TUNING_SEED + 1)
"""The seeds whose mean chooses settings."""
GridPoint = tuple[str, dict[str, Any]]
"""A label, and the settings that differ from the line's."""


@dataclass(frozen=True)
class DataSetting:
    """One data set of an experiment at one scale."""

    name: str
    """As it is printed."""
    dataset: Component
    reference: str | None = None
    """Its name in the paper's values; None if the paper has none for it."""
    steps: int | None = None
    """Training steps on this data set, if they differ from the scale's."""
    evaluations: int | None = None
    """Evaluations during training, if they differ from the scale's."""
    epoch: int = 1
    """Training steps in an epoch; 1 if all settings are counted in steps."""


D = TypeVar("D", bound=DataSetting)


@dataclass(frozen=True)
class Scale(Generic[D]):
    """What one profile means for an experiment."""

    about: str
    """One line for captions."""
    data: tuple[D, ...]
    networks: Mapping[str, Component]
    """By role: energy, generator, statistics."""
    steps: int | None
    """Training steps; None if every data set has its own number."""
    batch_size: int
    evaluations: int = 0
    """Evaluations during training, evenly spaced, the last at the end; 0 for the final measurement only."""
    task: str | Component = "density"
    seeds: tuple[int, ...] = (0, 1, 2)
    ema: float | None = None
    """Decay of an average of the weights that is measured too; None for no average."""


@dataclass(frozen=True)
class Line:
    """One way to train the model of an experiment."""

    label: str
    method: Component
    """The method with the settings of the paper."""
    laptop: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the method that differ at `laptop` and `smoke`."""
    roles: tuple[str, ...] = ("energy",)
    """The networks it uses."""
    grid: Grid = field(default_factory=dict)
    """The paper's tuning grid."""
    grid_extras: Points = ()
    """Points of the paper's tuning grid that do not belong to its product."""
    laptop_grid: Grid | None = None
    """The tuning grid at `laptop` and `smoke`; None if it is the paper's."""
    laptop_points: Points | None = None
    """What is tried at `laptop` and `smoke`, if it is not the full product of a grid."""
    reference: Mapping[str, str] | None = None
    """The fields that select the paper's value; None if it has none."""
    copied: bool = False
    """Whether the paper copied its value from another paper, with another protocol."""
    gflop: float | Mapping[str, float] | None = None
    """Billions of operations of one step at `paper`, or the same by data set; None if not counted."""
    restarts: int = 0
    """How often a trial at `paper` may start again after divergence."""
    epochs: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Settings of the method at `paper` that are counted in epochs, such as {"decay_at": (150, 175)}."""
    networks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Settings of networks that differ from the scale's, by role."""
    dataset: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the data that differ from the data set's."""

    def settings(self, profile: Profile, epoch: int = 1) -> dict[str, Any]:
        """The method with its settings on data with this number of steps in an epoch."""
        if profile != "paper":
            return {**self.method, **self.laptop}
        counted = {name: [int(each * epoch) for each in values] for name, values in self.epochs.items()}
        return {**self.method, **counted}

    def grid_at(self, profile: Profile) -> Grid:
        return self.grid if profile == "paper" or self.laptop_grid is None else self.laptop_grid

    def points_at(self, profile: Profile) -> list[dict[str, Any]]:
        """Every point of the tuning grid."""
        if profile != "paper" and self.laptop_points is not None:
            return [dict(point) for point in self.laptop_points]
        grid = self.grid_at(profile)
        points = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
        return points + [dict(point) for point in self.grid_extras] if profile == "paper" else points


@dataclass(frozen=True)
class Experiment(Generic[D]):
    """Lines and scales, and the trials that follow from them."""

    name: str
    lines: tuple[Line, ...]
    scales: Mapping[Profile, Scale[D]]
    registry: Registry[Any] | None = methods
    """Where plug-ins register methods for this experiment; None if it takes no plug-in lines."""

    plugin_roles: ClassVar[tuple[str, ...] | None] = None
    """Networks that a plug-in's method may use; None for all roles of the scale."""

    def line(self, label: str) -> Line:
        """The line with this label; `UnknownName` if there is none."""
        found = self.find_line(label)
        if found is None:
            labels = ", ".join(line.label for line in self.lines)
            raise UnknownName(f"The experiment {self.name} has no line '{label}'; its lines are {labels}.")
        return found

    def find_line(self, label: str) -> Line | None:
        """The line with this label; None for the label of a plug-in's method."""
        return next((line for line in self.lines if line.label == label), None)

    def data(self, profile: Profile) -> tuple[D, ...]:
        """The data sets of a profile; none if the experiment has no such scale."""
        return self.scales[profile].data if profile in self.scales else ()

    def about(self, profile: Profile) -> str:
        """The profile in one line, for captions."""
        return self.scales[profile].about

    def seeds(self) -> dict[Profile, tuple[int, ...]]:
        """Of each profile, for the sweep of an artifact."""
        return {profile: scale.seeds for profile, scale in self.scales.items()}

    # ---- hooks: what a family may decide differently

    def settings(self, line: Line, profile: Profile, data: D) -> dict[str, Any]:
        """The line's method with all settings that it declares at this profile."""
        return line.settings(profile, data.epoch)

    def networks(self, profile: Profile, data: D, line: Line | None) -> Mapping[str, Component]:
        """The networks by role; `line` is None for a plug-in's method."""
        networks = self.scales[profile].networks
        return networks if line is None else change_networks(networks, line.networks)

    def dataset(self, data: D, line: Line | None) -> Component:
        return data.dataset if line is None else {**data.dataset, **line.dataset}

    def task(self, profile: Profile, data: D) -> str | Component:
        return self.scales[profile].task

    def steps(self, line: Line | None, profile: Profile, data: D) -> int:
        steps = self.scales[profile].steps if data.steps is None else data.steps
        if steps is None:
            raise SettingError(f"{self.name} has no steps for {data.name} at {profile}: give it some.")
        return steps

    def lines_for(self, profile: Profile, data: D) -> Iterable[Line]:
        """The lines that are trained on this data set at this profile."""
        return self.lines

    def trial_label(self, line: Line, data: D) -> str:
        return line.label

    def grid_points(self, line: Line, profile: Profile, data: D) -> Iterator[GridPoint]:
        """Every point of the line's tuning grid."""
        for point in line.points_at(profile):
            yield " ".join([line.label, *map(spell_setting, point.items())]), point

    def other_data(self, dataset: Component, profile: Profile) -> D:
        """The setting of another data set, for `--dataset`; `SettingError` if there is none."""
        raise SettingError(f"The experiment {self.name} has settings for its own data only.")

    # ---- trials

    def trial(self, label: str | Line, profile: Profile, data: D | None = None, **changes: Any) -> Trial:
        """The trial of a line on one data set (default: the first), with some of its settings changed."""
        line = self.line(label) if isinstance(label, str) else label
        data = self.data(profile)[0] if data is None else data
        method = {**self.settings(line, profile, data), **changes}
        return self._build(profile, data, self.trial_label(line, data), method, line.roles, line)

    def trials(
        self,
        profile: Profile,
        data: Sequence[D] | None = None,
        include: Callable[[Line], bool] = lambda line: True,
    ) -> Iterator[Trial]:
        """Every line on every data set, followed by the methods of plug-ins with their defaults and by the
        variants that `vera render --set` asks for."""
        for each in self.data(profile) if data is None else data:
            lines = (line for line in self.lines_for(profile, each) if include(line))
            declared = [*(self.trial(line, profile, each) for line in lines)]
            declared += self.plugin_trials(profile, each)
            yield from (*declared, *list_shown_variants(declared))

    def plugin_trials(self, profile: Profile, data: D | None = None) -> Iterator[Trial]:
        """Methods that plug-ins add, if the networks of this experiment are all they need."""
        if self.registry is None:
            return
        data = self.data(profile)[0] if data is None else data
        roles = self.plugin_roles or tuple(self.networks(profile, data, None))
        for name, own, method in find_plugin_methods(self.registry, roles):
            yield self._build(profile, data, name, method, own, None)

    def grid_trials(self, line: Line, profile: Profile, data: D | None = None) -> list[Trial]:
        """The line's tuning grid on the first tuning seed; each label names the settings that were varied."""
        data = self.data(profile)[0] if data is None else data
        points = self.grid_points(line, profile, data)
        declared = [replace(self.trial(line, profile, data, **point), label=label) for label, point in points]
        return [reseed(trial, TUNING_SEED) for trial in declared]

    def grid_sweep(self, name: str, about: str, seeds: tuple[int, ...] = (TUNING_SEED,)) -> Sweep:
        """The tuning grids of all lines as a sweep. `--seeds 2` means the first two tuning seeds."""

        def enumerate_trials(profile: Profile, seeds: Sequence[int]) -> Iterator[Trial]:
            for seed in seeds:
                tuning_seed = max(seed, TUNING_SEED + seed % TUNING_SEED)
                for data in self.data(profile):
                    for line in self.lines_for(profile, data):
                        yield from (reseed(t, tuning_seed) for t in self.grid_trials(line, profile, data))

        return Sweep(name, about, seeds, enumerate_trials, self.flop)

    def flop(self, trial: Trial) -> float | None:
        """Floating-point operations of a whole trial at `paper`; None if they were not counted.

        A method's operations are proportional to its sampler steps. The label of a grid trial begins with the
        label of its line.
        """
        fitting = [line for line in self.lines if f"{trial.label} ".startswith(f"{line.label} ")]
        line = max(fitting, key=lambda line: len(line.label), default=None)  # "HDGE + log p(x)" is not "HDGE"
        if line is None or line.gflop is None or trial.profile != "paper":
            return None
        dataset = trial.spec.dataset["name"]
        per_step = line.gflop.get(dataset) if isinstance(line.gflop, Mapping) else line.gflop
        data = next((data for data in self.data("paper") if data.dataset["name"] == dataset), None)
        if per_step is None or data is None:
            return None
        declared = self.settings(line, "paper", data).get("sampler_steps")
        own = trial.spec.method.get("sampler_steps")
        growth = own / declared if declared and own else 1.0
        return 1e9 * per_step * growth * trial.spec.steps

    def _build(
        self,
        profile: Profile,
        data: D,
        label: str,
        method: Component,
        roles: Sequence[str],
        line: Line | None,
    ) -> Trial:
        scale, steps = self.scales[profile], self.steps(line, profile, data)
        evaluations = scale.evaluations if data.evaluations is None else data.evaluations
        networks = self.networks(profile, data, line)
        spec = TrialSpec(
            self.dataset(data, line),
            {role: networks[role] for role in roles},
            method,
            steps,
            scale.batch_size,
            evaluate_every=max(1, steps // evaluations) if evaluations else None,
            restarts=line.restarts if line and profile == "paper" else 0,
            task=self.task(profile, data),
            ema=scale.ema,
        )
        return Trial(spec, profile, label=label)


def vary(settings: Mapping[str, Any], **values: Sequence[Any]) -> list[dict[str, Any]]:
    """The settings, and all that differ from them in one of these values."""
    changed = [{**settings, name: value} for name, others in values.items() for value in others]
    return [dict(settings), *changed]


def change_networks(
    networks: Mapping[str, Component], changes: Mapping[str, Mapping[str, Any]]
) -> dict[str, Component]:
    """The networks with some settings changed, by role."""
    return {role: {**network, **changes.get(role, {})} for role, network in networks.items()}


def spell_setting(setting: tuple[str, Any]) -> str:
    """As in labels and on the command line: lr=0.0003."""
    name, value = setting
    return f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"

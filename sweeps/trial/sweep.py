"""Sweeps: named functions that enumerate trials. There are no configuration files."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial, find_plugin_methods, reseed
from sweeps.trial.plan import deduplicate
from vera.errors import PluginError, SettingError, UnknownName
from vera.spec.registry import Registry, find_plugin_file, methods, wrap_plugin_errors
from vera.spec.settings import check_value, suggest
from vera.spec.trial_spec import Component, TrialSpec

Enumerate = Callable[[Profile, Sequence[int]], Iterable[Trial]]
"""Enumerates the trials of a profile for these seeds."""
Flop = Callable[[Trial], float | None]
"""Floating-point operations of a whole trial; None if unknown."""
Seeds = tuple[int, ...] | Mapping[Profile, tuple[int, ...]]
"""The same for all profiles, or for each profile its own."""

WRITTEN = ("label", "profile", "spec")
"""The keys of a trial file as `vera search` writes it."""


@dataclass(frozen=True)
class Sweep:
    """A named enumeration of trials, with its default seeds."""

    name: str
    about: str
    seeds: Seeds
    enumerate: Enumerate
    flop: Flop | None = None

    def trials(self, profile: Profile, seeds: Sequence[int] | None = None) -> list[Trial]:
        """The trials of a profile, for its default seeds if none are given. A profile without seeds has
        none."""
        own = self.seeds.get(profile, ()) if isinstance(self.seeds, Mapping) else self.seeds
        with wrap_plugin_errors(f"listing the trials of '{self.name}'"):
            return [
                replace(trial, sweep=self.name)
                for trial in self._enumerate_checked(profile, own if seeds is None else seeds)
            ]

    def _enumerate_checked(self, profile: Profile, seeds: Sequence[int]) -> Iterator[Trial]:
        """The trials; PluginError if the function returns anything else."""
        path = find_plugin_file(self.enumerate)
        who = f"The sweep '{self.name}'{f' of the plug-in {path}' if path else ''}"
        returned = self.enumerate(profile, seeds)
        if not isinstance(returned, Iterable):
            raise PluginError(
                f"{who} returns {_describe(returned)}, no trials; write: yield Trial(spec, profile)"
            )
        for trial in returned:
            if not isinstance(trial, Trial):
                raise PluginError(
                    f"{who} yields {_describe(trial)}, not a Trial; wrap it: Trial(spec, profile)"
                )
            yield trial


@dataclass(frozen=True)
class JoinedSweep(Sweep):
    """Several sweeps as one. The trials keep the names of their sweeps; a trial of several sweeps belongs to
    the one with the most trials, of equal ones to the last."""

    parts: tuple[Sweep, ...] = ()

    def trials(self, profile: Profile, seeds: Sequence[int] | None = None) -> list[Trial]:
        """The trials of all parts, each once, for the default seeds of its part if none are given."""
        found = sorted((part.trials(profile, seeds) for part in self.parts), key=len)
        return deduplicate(trial for trials in reversed(found) for trial in trials)


def join_sweeps(name: str, about: str, parts: Sequence[Sweep]) -> JoinedSweep:
    """The sweeps as one; operations are counted by the sweep that a trial belongs to."""
    flops = {part.name: part.flop for part in parts}

    def count(trial: Trial) -> float | None:
        flop = flops.get(trial.sweep)
        return flop(trial) if flop else None

    return JoinedSweep(name, about, (), lambda profile, seeds: (), count, tuple(parts))


def _describe(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


sweeps: Registry[Any] = Registry("sweep", home=__name__, listing="vera list")


def sweep(
    name: str, about: str, seeds: Seeds = (0, 1, 2), flop: Flop | None = None
) -> Callable[[Enumerate], Enumerate]:
    """Register a function that enumerates trials."""

    def add(enumerate_trials: Enumerate) -> Enumerate:
        created = Sweep(name, about, seeds, enumerate_trials, flop)

        def get_sweep() -> Sweep:
            return created

        # The registry tells two entries of one name apart by where they are defined.
        get_sweep.__module__ = enumerate_trials.__module__
        get_sweep.__qualname__ = enumerate_trials.__qualname__
        sweeps.register(name)(get_sweep)
        return enumerate_trials

    return add


def find_sweep(name: str) -> Sweep:
    """A registered sweep, or for `spec:FILE` the one trial that a JSON file describes, such as the best one
    of a search."""
    kind, colon, path = name.partition(":")
    return _read_sweep_file(Path(path)) if colon and kind == "spec" else sweeps.create(name)


def _read_sweep_file(path: Path) -> Sweep:
    if not path.is_file():
        wrong = f"{path} is a directory" if path.is_dir() else f"There is no file {path}"
        raise SettingError(f"{wrong}. vera search writes files for spec: to results/local/searches.")
    try:
        trial = _parse_trial(json.loads(path.read_text()))
    except json.JSONDecodeError as error:
        raise SettingError(f"{path} is not JSON: {error.msg} in line {error.lineno}.") from error
    except (OSError, ValueError, TypeError, UnknownName) as error:
        raise SettingError(f"{path} does not hold a trial as `vera search` writes it: {error}") from error
    return _make_sweep(f"spec-{path.stem}", f"the trial of {path.name}", trial)


def _parse_trial(content: Any) -> Trial:
    """The trial of a file that `vera search` wrote; SettingError if it holds none."""
    if not isinstance(content, dict):
        raise SettingError(f"it is {_describe(content)}, not an object with profile and spec.")
    unknown = next((key for key in content if key not in WRITTEN), None)
    if unknown is not None:
        raise SettingError(
            f"it has '{unknown}', which is none of {', '.join(WRITTEN)}.{suggest(unknown, WRITTEN)}"
        )
    missing = [key for key in ("profile", "spec") if key not in content]
    if missing:
        raise SettingError(f"it has no {' and no '.join(missing)}.")
    profile = check_value("a trial", "profile", content["profile"], Profile)
    label = check_value("a trial", "label", content.get("label", ""), str)
    return Trial(TrialSpec.from_dict(content["spec"]), profile, label=label)


def make_sweep_from_row(row: Row) -> Sweep:
    """A sweep of a stored trial with other seeds."""
    name = row.trial_id[:8]
    trial = Trial.from_facts(json.loads(row.spec), label=row.label)
    return _make_sweep(f"trial-{name}", f"the stored trial {name}", trial)


def _make_sweep(name: str, about: str, trial: Trial) -> Sweep:
    """A sweep of one trial, which keeps its profile whatever profile is asked for."""
    return Sweep(name, about, (0, 1, 2), lambda _, seeds: (reseed(trial, seed) for seed in seeds))


DEMO_STEPS: dict[Profile, int] = {"smoke": 60, "laptop": 1_500, "paper": 100_000}
MOONS = {"name": "moons"}


def list_demo_trials(profile: Profile, seeds: Sequence[int], data: Component = MOONS) -> Iterator[Trial]:
    """A mixture trained by maximum likelihood, VERA, PCD and the methods of plug-ins."""
    both = {"energy": {"name": "mixture"}, "generator": {"name": "mlp-generator"}}
    lines: list[tuple[str, Sequence[str], Component]] = [
        ("ML", ["energy"], {"name": "ml", "lr": 1e-3}),
        # The rate of η is declared, so that rows of other sweeps, with another one, do not match.
        (
            "VERA",
            [*both],
            {"name": "vera", "entropy_weight": 1.0, "lr": 1e-3, "generator_lr": 1e-3, "posterior_lr": None},
        ),
        ("PCD", ["energy"], {"name": "pcd", "lr": 1e-3, "noise": 0.1}),
        *find_plugin_methods(methods, both),
    ]
    for label, roles, method in lines:
        networks = {role: both[role] for role in roles}
        for seed in seeds:
            spec = TrialSpec(data, networks, method, DEMO_STEPS[profile], batch_size=200, seed=seed)
            yield Trial(spec, profile, label=label)


@sweep("toy-demo", "a 100-component mixture on moons by VERA, maximum likelihood and PCD")
def toy_demo(profile: Profile, seeds: Sequence[int]) -> Iterator[Trial]:
    """The demo on moons, a minute on two cores."""
    return list_demo_trials(profile, seeds)

"""A sweep: a small program that enumerates trials, by name. Nothing else is written down, least of all a
folder of config files."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial, with_seed
from vera.errors import PluginError, SettingError, UnknownName
from vera.spec.registry import Registry, find_plugin_file, wrap_plugin_errors
from vera.spec.settings import check_value, suggest
from vera.spec.trial_spec import TrialSpec

Enumerate = Callable[[Profile, Sequence[int]], Iterable[Trial]]
"""From a profile and seeds to trials."""
Flop = Callable[[Trial], float | None]
"""Floating-point operations of a whole trial, None where they are not known."""
Seeds = tuple[int, ...] | Mapping[Profile, tuple[int, ...]]
"""The same for every profile, or of each its own."""

WRITTEN = ("label", "profile", "spec")
"""What `vera search` writes of a trial."""


@dataclass(frozen=True)
class Sweep:
    """What is compared, with how many seeds, and the trials of a profile."""

    name: str
    about: str
    seeds: Seeds
    enumerate: Enumerate
    flop: Flop | None = None

    def trials(self, profile: Profile, seeds: Sequence[int] | None = None) -> list[Trial]:
        own = self.seeds[profile] if isinstance(self.seeds, Mapping) else self.seeds
        with wrap_plugin_errors(f"listing the trials of '{self.name}'"):
            return [
                replace(trial, sweep=self.name)
                for trial in self._listed(profile, own if seeds is None else seeds)
            ]

    def _listed(self, profile: Profile, seeds: Sequence[int]) -> Iterator[Trial]:
        """As they come, each looked at: a plug-in's function may give anything."""
        path = find_plugin_file(self.enumerate)
        who = f"The sweep '{self.name}'{f' of the plug-in {path}' if path else ''}"
        given = self.enumerate(profile, seeds)
        if not isinstance(given, Iterable):
            raise PluginError(f"{who} gives {_a(given)}, no trials; write: yield Trial(spec, profile)")
        for trial in given:
            if not isinstance(trial, Trial):
                raise PluginError(f"{who} gives {_a(trial)}, not a Trial; wrap it: Trial(spec, profile)")
            yield trial


def _a(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


sweeps: Registry[Any] = Registry("sweep", home="sweeps.trial.demo", listing="vera list")


def sweep(
    name: str, about: str, seeds: Seeds = (0, 1, 2), flop: Flop | None = None
) -> Callable[[Enumerate], Enumerate]:
    """Register a function that enumerates trials."""

    def add(enumerate_trials: Enumerate) -> Enumerate:
        made = Sweep(name, about, seeds, enumerate_trials, flop)

        def made_already() -> Sweep:
            return made

        # Known as what it enumerates, so that two of one name are told apart.
        made_already.__module__, made_already.__qualname__ = (
            enumerate_trials.__module__,
            enumerate_trials.__qualname__,
        )
        sweeps.register(name)(made_already)
        return enumerate_trials

    return add


def find_sweep(name: str) -> Sweep:
    """A registered one, or `spec:FILE`: the one trial that a JSON file describes, such as the best of a
    search."""
    kind, colon, path = name.partition(":")
    return _of_file(Path(path)) if colon and kind == "spec" else sweeps.create(name)


def _of_file(path: Path) -> Sweep:
    if not path.is_file():
        wrong = f"{path} is a directory" if path.is_dir() else f"There is no file {path}"
        raise SettingError(f"{wrong}. vera search writes files for spec: to results/local/searches.")
    try:
        trial = _written_trial(json.loads(path.read_text()))
    except json.JSONDecodeError as error:
        raise SettingError(f"{path} is no JSON: {error.msg} in line {error.lineno}.") from error
    except (OSError, ValueError, TypeError, UnknownName) as error:
        raise SettingError(f"{path} does not hold a trial as `vera search` writes it: {error}") from error
    return _of_trial(f"spec-{path.stem}", f"the trial of {path.name}", trial)


def _written_trial(content: Any) -> Trial:
    """From what `vera search` writes."""
    if not isinstance(content, dict):
        raise SettingError(f"it is {_a(content)}, not an object with profile and spec.")
    unknown = next((key for key in content if key not in WRITTEN), None)
    if unknown is not None:
        raise SettingError(
            f"it has '{unknown}', which is none of {', '.join(WRITTEN)}.{suggest(unknown, WRITTEN)}"
        )
    lacking = [key for key in ("profile", "spec") if key not in content]
    if lacking:
        raise SettingError(f"it has no {' and no '.join(lacking)}.")
    profile = check_value("a trial", "profile", content["profile"], Profile)
    label = check_value("a trial", "label", content.get("label", ""), str)
    return Trial(TrialSpec.from_dict(content["spec"]), profile, label=label)


def of_row(row: Row) -> Sweep:
    """A stored trial with other seeds."""
    name = f"trial-{row.trial_id[:8]}"
    return _of_trial(
        name, f"the stored trial {row.trial_id[:8]}", Trial.from_facts(json.loads(row.spec), label=row.label)
    )


def _of_trial(name: str, about: str, trial: Trial) -> Sweep:
    """It has one profile, whichever is asked for."""
    return Sweep(name, about, (0, 1, 2), lambda _, seeds: (with_seed(trial, seed) for seed in seeds))

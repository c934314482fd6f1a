"""The artifact contract: a table or a figure of the paper, declared. Loads neither torch nor ray.

An artifact names its trials for each profile, the paper's values, the claims it decides, and how it is read
off the store: as a `Sheet` for a table, as a `Drawing` for a figure. It is also a sweep of the same name, so
that `vera run table2` runs it, unless nobody can list its trials beforehand, as those of a search.
"""

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from bench.experiment import Experiment
from bench.judging.cell import Cell
from bench.judging.claims import Claim
from bench.judging.results import Results
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial
from sweeps.trial.sweep import Sweep
from vera.errors import SettingError
from vera.spec.trial_spec import Component

OPTIONS = r"( \([a-z_]+=[a-z0-9.]+(, [a-z_]+=[a-z0-9.]+)*\))?"
OWN_FILE = re.compile(rf"[a-z0-9]+(-[a-z0-9]+)*\.(csv|parquet){OPTIONS}")
DATA_SET = re.compile(rf"[A-Za-z0-9]+(-[A-Za-z0-9]+)*{OPTIONS}")
"""Names that are plain enough to be part of a file's as they are: my.csv; CIFAR10 (batches=1). Data sets of
one name but for its case, which only plug-ins could bring, would share a file."""
DEFAULT_SEEDS: Mapping[Profile, tuple[int, ...]] = {"smoke": (0,), "laptop": (0, 1), "paper": (0, 1, 2)}
Value = Cell | float | str | None


@dataclass(frozen=True)
class Column:
    """A column of a sheet. `key` names it in CSV, `digits` are those after the point."""

    key: str
    header: str
    digits: int = 2


@dataclass(frozen=True)
class Sheet:
    """A table as data: what every writer (Markdown, LaTeX, CSV, terminal) is given.

    A line maps column keys to values; a `Cell` under a key spreads into mean, interval, n, diverged, paper,
    difference, verdict.
    """

    name: str
    title: str
    caption: str
    columns: tuple[Column, ...]
    lines: tuple[Mapping[str, Value], ...]
    profile: Profile
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Drawing:
    """A figure: `draw()` makes a matplotlib Figure from data already read from the store."""

    name: str
    title: str
    caption: str
    draw: Callable[[], Any]
    profile: Profile
    notes: tuple[str, ...] = ()


class Artifact(ABC):
    """One table or figure."""

    name: ClassVar[str]
    """As it is typed: table2, figure1."""
    title: ClassVar[str]
    """As it is printed: Table 2: ..."""
    experiment: ClassVar[Experiment | None] = None
    """Whose trials it shows; None if it enumerates trials of its own."""
    seeds: ClassVar[Mapping[Profile, tuple[int, ...]]] = DEFAULT_SEEDS
    """Seeds by profile; an artifact that names an experiment has those of its scales."""
    claims: tuple[Claim, ...] = ()
    needs_rows: ClassVar[bool] = True
    """Whether there is nothing to show before a trial of it was run."""
    listed: ClassVar[bool] = True
    """Whether its trials can be listed. If not, it finds its rows by other means."""
    companions: ClassVar[tuple[str, ...]] = ()
    """Artifacts that are rendered whenever it is."""

    takes: ClassVar[str] = ""
    """The kind of data that `on` takes: tables or images."""

    def __init_subclass__(cls) -> None:
        if "experiment" in vars(cls) and "seeds" not in vars(cls) and cls.experiment is not None:
            cls.seeds = cls.experiment.seeds()

    def trials(self, profile: Profile) -> Iterator[Trial]:
        """One trial for each thing that is trained, whatever its seed."""
        if self.experiment is None:
            raise NotImplementedError(f"{self.name} names neither an experiment nor its trials")
        return self.experiment.trials(profile)

    @property
    def command(self) -> str:
        """What makes its trials."""
        return f"vera run {self.name}"

    def rows(self, results: Results) -> list[Row]:
        """What the store has of it."""
        return results.rows_of(self.trials(results.profile))

    def is_in(self, results: Results) -> bool:
        """Whether there is something to show."""
        if not self.listed:
            return bool(self.rows(results))
        return not self.needs_rows or any(map(results.like, self.trials(results.profile)))

    def flop(self, trial: Trial) -> float | None:
        """Floating-point operations of one trial, if they were counted; for a plan before any trial was timed."""
        return None if self.experiment is None else self.experiment.flop(trial)

    def sweep(self) -> Sweep:
        """Its trials as a sweep of its name."""
        return Sweep(
            self.name,
            self.title,
            self.seeds,
            lambda profile, seeds: seeded(self.trials(profile), seeds),
            self.flop,
        )

    def on(self, dataset: Component) -> "Artifact":
        """The same experiment on other data, where it can be had."""
        raise SettingError(f"{self.name} has data of its own; it takes no --dataset.")

    @property
    def accepts_other_data(self) -> bool:
        """Whether `on` is defined."""
        return type(self).on is not Artifact.on

    @abstractmethod
    def render(self, results: Results) -> Sheet | Drawing:
        """Reads the store only; a cell that has no trial says so."""


def names_on(artifact: Artifact, data: str) -> tuple[str, str]:
    """Of an artifact's files, such as table6-wine, and its title, where it is on other data than its own."""
    return f"{artifact.name}-{file_name(data)}", f"{artifact.title} on {data}"


def data_name(name: str, part: Component, usual: Mapping[str, Any]) -> str:
    """With what of its settings is not as usual: iris.csv (label=species, labels_per_class=5)."""
    unusual = sorted(key for key in part if key not in ("name", "file") and part[key] != usual.get(key))
    options = ", ".join(f"{key}={_spelled(part[key])}" for key in unusual)
    return f"{name} ({options})" if options else name


def _spelled(value: Any) -> str:
    """As on the command line."""
    if isinstance(value, list | tuple):
        return "+".join(map(str, value))
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def file_name(data: str) -> str:
    """The data's name as part of a file's; with a hash where another name would give the same: a_b.csv is not
    a-b.csv."""
    words = re.sub(r"[^a-z0-9]+", "-", data.lower()).strip("-")
    if OWN_FILE.fullmatch(data) or (DATA_SET.fullmatch(data) and not re.search("-(csv|parquet)(-|$)", words)):
        return words
    return "-".join(
        filter(None, (words, hashlib.sha256(data.encode(errors="surrogateescape")).hexdigest()[:6]))
    )


def seeded(trials: Iterator[Trial], seeds: Sequence[int]) -> Iterator[Trial]:
    """Every trial under every seed; all trials of the first seed come first, so that an early look shows a
    whole table."""
    from sweeps.trial.identity import with_seed

    declared = list(trials)
    for seed in seeds:
        yield from (with_seed(trial, seed) for trial in declared)


def rendered(artifact: Artifact, results: Results) -> Sheet | Drawing:
    """With the notes on the choice of rows, which arise while the artifact reads them."""
    made = artifact.render(results)
    return replace(made, notes=(*made.notes, *(note for note in results.notes if note not in made.notes)))

"""The artifact contract: one table or figure of a paper. Loads neither torch nor ray.

An artifact declares its trials at each profile and the claims it decides, and reads the store: a table
becomes a `Sheet`, a figure a `Drawing`. Each artifact is also a sweep of the same name, so `vera run table2`
runs its trials. The exception are searches, whose trials cannot be listed in advance.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from bench.data_names import slugify_data
from bench.experiment import Experiment
from bench.judging.cell import Cell
from bench.judging.claims import Claim
from bench.judging.results import Results
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial, reseed
from sweeps.trial.sweep import Sweep
from vera.errors import SettingError
from vera.spec.trial_spec import Component

DEFAULT_SEEDS: Mapping[Profile, tuple[int, ...]] = {"smoke": (0,), "laptop": (0, 1), "paper": (0, 1, 2)}
Value = Cell | float | str | None


@dataclass(frozen=True)
class Column:
    """A column of a sheet. `key` is its name in CSV, `digits` the number of decimals."""

    key: str
    header: str
    digits: int = 2


@dataclass(frozen=True)
class Sheet:
    """A table as data, the input of every writer (Markdown, LaTeX, CSV, terminal).

    Each line maps column keys to values. A `Cell` becomes several columns: mean, interval, n, diverged,
    paper, difference, verdict.
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
    """A figure. `draw()` returns a matplotlib Figure of data that was already read from the store."""

    name: str
    title: str
    caption: str
    draw: Callable[[], Any]
    profile: Profile
    notes: tuple[str, ...] = ()


class Artifact(ABC):
    """One table or figure."""

    name: ClassVar[str]
    """The name on the command line: table2, figure1. The catalogue qualifies it, as in other/table2."""
    title: ClassVar[str]
    """The printed title: "Table 2: ..."."""
    experiment: ClassVar[Experiment[Any] | None] = None
    """The experiment whose trials it shows; None if it overrides `trials`."""
    seeds: ClassVar[Mapping[Profile, tuple[int, ...]]] = DEFAULT_SEEDS
    """Seeds by profile. An artifact with an experiment takes them from the scales of the experiment."""
    claims: tuple[Claim, ...] = ()
    needs_rows: ClassVar[bool] = True
    """False if it can be rendered before any trial was run."""
    listed: ClassVar[bool] = True
    """False if its trials cannot be listed in advance; it then overrides `rows`."""
    companions: ClassVar[tuple[str, ...]] = ()
    """Names of artifacts that are rendered together with this one."""
    takes: ClassVar[str] = ""
    """The kind of data that `on` takes: tables or images."""

    def __init_subclass__(cls) -> None:
        if "experiment" in vars(cls) and "seeds" not in vars(cls) and cls.experiment is not None:
            cls.seeds = cls.experiment.seeds()

    def trials(self, profile: Profile) -> Iterator[Trial]:
        """Every trial of the artifact, once for all seeds."""
        if self.experiment is None:
            raise NotImplementedError(f"{self.name} declares neither an experiment nor trials")
        return self.experiment.trials(profile)

    @property
    def command(self) -> str:
        """The command that runs its trials."""
        return f"vera run {self.name}"

    def rows(self, results: Results) -> list[Row]:
        """The stored rows of its trials."""
        return results.find_all_rows(self.trials(results.profile))

    def is_in(self, results: Results) -> bool:
        """Whether the results hold anything to render."""
        if not self.listed:
            return bool(self.rows(results))
        return not self.needs_rows or any(map(results.find_rows, self.trials(results.profile)))

    def flop(self, trial: Trial) -> float | None:
        """Floating-point operations of one trial; None if they were not counted. Used to estimate costs."""
        return None if self.experiment is None else self.experiment.flop(trial)

    def sweep(self) -> Sweep:
        """Its trials as a sweep of the same name."""
        return Sweep(
            self.name,
            self.title,
            self.seeds,
            lambda profile, seeds: _repeat_for_seeds(self.trials(profile), seeds),
            self.flop,
        )

    def on(self, dataset: Component) -> "Artifact":
        """The same artifact on other data; SettingError unless the artifact overrides this."""
        raise SettingError(f"{self.name} has data of its own; it takes no --dataset.")

    @property
    def accepts_other_data(self) -> bool:
        """Whether `on` is overridden."""
        return type(self).on is not Artifact.on

    def name_variant(self, data: str) -> tuple[str, str]:
        """(name, title) of this artifact on other data: table6-wine, "Table 6: ... on wine"."""
        return f"{self.name}-{slugify_data(data)}", f"{self.title} on {data}"

    @abstractmethod
    def render(self, results: Results) -> Sheet | Drawing:
        """Read the store. A cell without trials shows the reason."""

    def render_with_notes(self, results: Results) -> Sheet | Drawing:
        """The rendering with all notes on the choice of rows, which `results` collects while they are read,
        and under the qualified name of the artifact: it never overwrites the files of another paper."""
        made = self.render(results)
        notes = (*made.notes, *(note for note in results.notes if note not in made.notes))
        is_own = made.name == self.name or made.name.startswith(f"{self.name}-")
        return replace(made, name=made.name if is_own else self.name, notes=notes)


def _repeat_for_seeds(trials: Iterable[Trial], seeds: Sequence[int]) -> Iterator[Trial]:
    """Every trial with every seed. The trials of the first seed come first, so an interrupted run leaves
    complete tables."""
    declared = list(trials)
    for seed in seeds:
        yield from (reseed(trial, seed) for trial in declared)

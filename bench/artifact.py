"""The artifact contract: one table or figure of a paper. Loads neither torch nor ray.

An artifact declares its trials at each profile and the claims it decides, and reads the store: a table
becomes a `Sheet`, a figure a `Drawing`. Each artifact is also a sweep of the same name, so `vera run table2`
runs its trials. The exception are searches, whose trials cannot be listed in advance.

Most artifacts read the trials of one experiment, on its own data or on other data. On other data an artifact
has its own trials, claims and files; they are not mixed with those of the profile's data.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from bench.data_names import slugify_data
from bench.experiment import D, Experiment, Line
from bench.judging.cell import Cell
from bench.judging.claims import Claim, Finding, require_all
from bench.judging.compared import ComparedValue, list_compared_cells
from bench.judging.results import Results
from bench.render.caption import describe_origin
from bench.shown_variants import extend_names
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial, reseed
from sweeps.trial.sweep import Sweep
from vera.errors import SettingError
from vera.spec.trial_spec import Component

DEFAULT_SEEDS: Mapping[Profile, tuple[int, ...]] = {"smoke": (0,), "laptop": (0, 1), "paper": (0, 1, 2)}
Value = Cell | float | str | None
DataSets = Callable[[Profile], Sequence[D]]
"""The data sets of a claim at a profile."""


@dataclass(frozen=True)
class Column:
    """A column of a sheet. `key` is its name in CSV, `digits` the number of decimals."""

    key: str
    header: str
    digits: int = 2
    only_in_csv: bool = False
    """Whether readers of the printed table do not need it."""


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
    seeds: ClassVar[Mapping[Profile, tuple[int, ...]]] = DEFAULT_SEEDS
    claims: tuple[Claim, ...] = ()
    needs_rows: ClassVar[bool] = True
    """False if it can be rendered before any trial was run."""
    listed: ClassVar[bool] = True
    """False if its trials cannot be listed in advance; it then overrides `rows`."""
    companions: ClassVar[tuple[str, ...]] = ()
    """Names of artifacts that are rendered together with this one."""
    optional: ClassVar[bool] = False
    """Whether `vera render all` says nothing about it where it was not run, as for a demo."""
    shows_variants: ClassVar[bool] = True
    """Whether it has room for the variants of `vera render --set`, if its experiment lists them."""
    takes: ClassVar[str] = ""
    """The kind of data that `on` takes, tables, images or points; empty if it takes none."""

    @abstractmethod
    def trials(self, profile: Profile) -> Iterator[Trial]:
        """Every trial of the artifact, once for all seeds."""

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
        return None

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

    @abstractmethod
    def render(self, results: Results) -> Sheet | Drawing:
        """Read the store. A cell without trials shows the reason."""

    def list_compared(self, results: Results) -> Iterator[ComparedValue]:
        """The paper's values that it compares with ours. A figure that shows some overrides this."""
        made = self.render(results)
        if isinstance(made, Sheet):
            yield from list_compared_cells(made.lines)

    def render_with_notes(self, results: Results) -> Sheet | Drawing:
        """The rendering with all notes on the choice of rows, which `results` collects while they are read,
        and under the qualified name of the artifact: it never overwrites the files of another paper."""
        made = self.render(results)
        notes = (*made.notes, *(note for note in results.notes if note not in made.notes))
        is_own = made.name == self.name or made.name.startswith(f"{self.name}-")
        name, title = extend_names(made.name if is_own else self.name, made.title)
        return replace(made, name=name, title=title, notes=notes)


class ExperimentArtifact(Artifact):
    """A table or figure of one experiment, with the seeds of its scales."""

    experiment: ClassVar[Experiment[Any]]

    def __init_subclass__(cls) -> None:
        if "experiment" in vars(cls) and "seeds" not in vars(cls):
            cls.seeds = cls.experiment.seeds()

    def trials(self, profile: Profile) -> Iterator[Trial]:
        return self.trials_on(profile, self.data(profile))

    def trials_on(self, profile: Profile, data: Sequence[Any]) -> Iterator[Trial]:
        """The trials on these data sets."""
        return self.experiment.trials(profile, data, self.is_shown)

    def flop(self, trial: Trial) -> float | None:
        return self.experiment.flop(trial)

    def data(self, profile: Profile) -> Sequence[Any]:
        """The data sets that it shows."""
        return self.experiment.data(profile)

    def is_shown(self, line: Line) -> bool:
        """Whether it shows this line of the experiment."""
        return True

    def names(self, profile: Profile) -> tuple[str, str]:
        """The name of its files and its title."""
        return self.name, self.title

    def sheet(
        self,
        results: Results,
        text: str,
        columns: Sequence[Column],
        lines: Sequence[Mapping[str, Value]],
        notes: Sequence[str] = (),
    ) -> Sheet:
        """The table with these lines. `text` opens its caption."""
        profile, rows = results.profile, self.rows(results)
        name, title = self.names(profile)
        caption = f"{text}; {self.experiment.about(profile)}. {describe_origin(rows)}"
        return Sheet(name, title, caption, tuple(columns), tuple(lines), profile, (*notes, *results.notes))

    def drawing(
        self,
        results: Results,
        text: str,
        rows: Sequence[Row],
        draw: Callable[[], Any],
        notes: Sequence[str] = (),
    ) -> Drawing:
        """The figure that `draw` makes from these rows. `text` is its caption up to the rows' provenance."""
        name, title = self.names(results.profile)
        notes = (*notes, *results.notes)
        return Drawing(name, title, f"{text} {describe_origin(rows)}", draw, results.profile, notes)


class DataArtifact(ExperimentArtifact):
    """A table or figure of one experiment that can be made on other data, with `--dataset`."""

    def __init__(self, dataset: Component | None = None) -> None:
        self.dataset = dataset
        self.claims = tuple(self.claims_on(self.data))

    def claims_on(self, data: DataSets[Any]) -> Iterator[Claim]:
        """Its claims about these data sets."""
        yield from ()

    def on(self, dataset: Component) -> "DataArtifact":
        return type(self)(dataset)

    def data(self, profile: Profile) -> Sequence[Any]:
        if self.dataset is None:
            return self.experiment.data(profile)
        return [self.experiment.other_data(self.dataset, profile)]

    def names(self, profile: Profile) -> tuple[str, str]:
        """The name of its files and its title; both name the data if they are not the profile's."""
        if self.dataset is None:
            return super().names(profile)
        data = self.data(profile)[0].name
        return f"{self.name}-{slugify_data(data)}", f"{self.title} on {data}"


def on_all(
    check: Callable[[Results, D], Finding],
    data: DataSets[D],
    explain_untestable: Callable[[Results, D], str] = lambda results, data: "",
) -> Callable[[Results], Finding]:
    """A claim about one data set, on every data set. A data set that could not support it is left out:
    `explain_untestable` gives the reason, or an empty text. Not testable if all are left out."""

    def judge(results: Results) -> Finding:
        sets = data(results.profile)
        reasons = {each.name: explain_untestable(results, each) for each in sets}
        found = {each.name: check(results, each) for each in sets if not reasons[each.name]}
        left_out = [f"{name} is left out: {reason}" for name, reason in reasons.items() if reason]
        if left_out and not found:
            return Finding("not testable", "; ".join(left_out))
        named = [replace(each, evidence=f"{name}: {each.evidence}") for name, each in found.items()]
        finding = require_all(named)
        return replace(finding, evidence="; ".join([finding.evidence, *left_out]))

    return judge


def on_first(check: Callable[[Results, D], Finding], data: DataSets[D]) -> Callable[[Results], Finding]:
    """A claim about the first data set."""
    return lambda results: check(results, data(results.profile)[0])


def _repeat_for_seeds(trials: Iterable[Trial], seeds: Sequence[int]) -> Iterator[Trial]:
    """Every trial with every seed. The trials of the first seed come first, so an interrupted run leaves
    complete tables."""
    declared = list(trials)
    for seed in seeds:
        yield from (reseed(trial, seed) for trial in declared)

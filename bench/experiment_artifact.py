"""Artifacts of an experiment: tables and figures that read its trials, on its own data or on other data.

On other data an artifact has its own trials, claims and files; they are not mixed with those of the profile's
data.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from bench.artifact import Artifact, Column, Drawing, Sheet, Value
from bench.experiment import D, Experiment, Line
from bench.judging.claims import Claim, Finding, require_all
from bench.judging.results import Results
from bench.render.caption import describe_origin
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial
from vera.spec.trial_spec import Component

DataSets = Callable[[Profile], Sequence[D]]
"""The data sets of a claim at a profile."""


class ExperimentArtifact(Artifact):
    """A table or figure of one experiment."""

    experiment: ClassVar[Experiment[Any]]

    def trials(self, profile: Profile) -> Iterator[Trial]:
        return self.trials_on(profile, self.data(profile))

    def trials_on(self, profile: Profile, data: Sequence[Any]) -> Iterator[Trial]:
        """The trials on these data sets."""
        return self.experiment.trials(profile, data, self.is_shown)

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
        return self.name_variant(self.data(profile)[0].name)


def on_all(check: Callable[[Results, D, int], Finding], data: DataSets[D]) -> Callable[[Results], Finding]:
    """A claim about one data set, on every data set. `check` is given the number of data sets."""

    def judge(results: Results) -> Finding:
        sets = data(results.profile)
        found = {each.name: check(results, each, len(sets)) for each in sets}
        named = [Finding(each.judgement, f"{name}: {each.evidence}") for name, each in found.items()]
        return require_all(named)

    return judge


def on_first(check: Callable[[Results, D], Finding], data: DataSets[D]) -> Callable[[Results], Finding]:
    """A claim about the first data set."""
    return lambda results: check(results, data(results.profile)[0])

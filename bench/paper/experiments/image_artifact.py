"""What the tables and figures of images have in common: data sets, which may be others than the profile's
own, and names.

On other data an artifact has trials, claims and files of its own; nothing of it mixes with those of the
profile's data.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from bench.artifact import Artifact, Column, Drawing, Sheet, Value, names_on
from bench.judging.claims import Claim, Finding
from bench.judging.results import Results
from bench.paper.experiments.images import SETS, SIZES, Pictures, flop, own_pictures, trials
from bench.render.caption import caption_tail
from sweeps.trial.identity import Profile, Trial
from vera.spec.trial_spec import Component

Sets = Callable[[Profile], Sequence[Pictures]]
Check = Callable[[Results, Pictures], Finding]


class PictureArtifact(Artifact):
    """A table or figure of this experiment, on the profile's own data or on other images."""

    seeds: ClassVar[Mapping[Profile, tuple[int, ...]]] = {"smoke": (0,), "laptop": (0, 1), "paper": (0, 1, 2)}
    takes = "images"
    labels: ClassVar[tuple[str, ...] | None] = None
    """The lines that it shows; None for all, and those of plug-ins."""

    def __init__(self, dataset: Component | None = None) -> None:
        self.dataset = dataset
        self.claims = tuple(self.claims_on(self.sets))

    def claims_on(self, sets: Sets) -> Iterator[Claim]:
        """What it decides, of the data sets that it is about."""
        yield from ()

    def on(self, dataset: Component) -> "PictureArtifact":
        return type(self)(dataset)

    def sets(self, profile: Profile) -> Sequence[Pictures]:
        return SETS[profile] if self.dataset is None else [own_pictures(self.dataset, profile)]

    def trials(self, profile: Profile) -> Iterator[Trial]:
        declared = trials(profile, self.sets(profile))
        return (trial for trial in declared if self.labels is None or trial.label in self.labels)

    def flop(self, trial: Trial) -> float | None:
        return flop(trial)

    def sheet(
        self,
        results: Results,
        text: str,
        columns: Sequence[Column],
        lines: Sequence[Mapping[str, Value]],
        notes: Sequence[str] = (),
    ) -> Sheet:
        rows = results.rows_of(self.trials(results.profile))
        caption = f"{text}; {SIZES[results.profile].about}. {caption_tail(rows)}"
        name, title = self.names(results.profile)
        return Sheet(
            name, title, caption, tuple(columns), tuple(lines), results.profile, (*notes, *results.notes)
        )

    def drawing(self, results: Results, caption: str, draw: Callable[[], Any]) -> Drawing:
        name, title = self.names(results.profile)
        return Drawing(name, title, caption, draw, results.profile, tuple(results.notes))

    def names(self, profile: Profile) -> tuple[str, str]:
        """Of its files, and as it is printed: those on other data have their own."""
        data = self.sets(profile)[0].name
        return (self.name, self.title) if self.dataset is None else names_on(self, data)


def on_first(check: Check, sets: Sets) -> Callable[[Results], Finding]:
    """A claim about the first data set, CIFAR10 in the paper."""
    return lambda results: check(results, sets(results.profile)[0])

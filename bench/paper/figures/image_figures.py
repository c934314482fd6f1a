"""Figures 4, 7 and 9 to 27: what VERA's trials of Table 3 have drawn. Unconditional samples, chains, before
and after, by class.

All show the first seed of VERA with α = 100; the paper does not say which model its figures are of. A figure
of CIFAR100 or SVHN shows the profile's last data set where it has no such one: at `laptop` all show digits,
and each panel says what it shows.

Samples by class are unconditional ones that the classifier puts there, the surest first. Trap: a class that
the model never shows has none, and a data set with fewer classes than the figure asks for has none to ask: an
empty place says which of the two.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bench.artifact import Drawing
from bench.judging.results import Results, read_metrics
from bench.paper.experiments.image_artifact import PictureArtifact
from bench.paper.experiments.images import SIZES, Pictures, line, trial_of
from bench.paper.figures.figure2 import draw_tile
from bench.render.caption import caption_tail
from bench.render.plotting import colour_mosaic, panels
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial

LABEL = "VERA α=100"
NAMES = {
    "cifar10": ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
    "cifar100": ("apple", "aquarium fish", "baby", "bear", "beaver", "bed", "bee", "beetle", "bicycle", "bottle", "bowl", "boy",
                 "bridge", "bus"),
}  # fmt: skip
"""Of the classes that are shown, in the order of the data set's labels."""
WIDE = 10
"""Images in a row."""


@dataclass(frozen=True)
class Panel:
    """A sheet of images; None where there is none, and `reason` says why."""

    title: str
    image: NDArray[Any] | None
    reason: str = ""


@dataclass(frozen=True)
class Shown:
    """What the first seed of a trial left: its arrays, how many classes its data have, and how it ended."""

    pictures: Pictures
    arrays: Mapping[str, NDArray[Any]]
    classes: int | None
    ended: str

    @classmethod
    def read(cls, results: Results, trial: Trial, pictures: Pictures) -> "Shown":
        rows = results.find_rows(trial)[:1]
        if not rows:
            return cls(pictures, {}, None, "not run")
        classes = read_metrics(rows[0]).get("classes")
        ended = "kept no such samples" if rows[0].outcome == "ok" else rows[0].outcome.replace("_", " ")
        return cls(pictures, results.arrays(rows[0]), None if classes is None else int(classes), ended)

    def sheet(self, array: str, title: str) -> Panel:
        found = self.arrays.get(array)
        return Panel(
            title, None if found is None or not len(found) else colour_mosaic(found, WIDE), self.ended
        )

    def chains(self) -> Iterator[Panel]:
        """One panel each, every consecutive step in reading order."""
        found = self.arrays.get("chain_images")
        if found is None:
            yield Panel(f"{self.pictures.name}: chains", None, self.ended)
        for number, chain in enumerate(() if found is None else found, 1):
            yield Panel(f"{self.pictures.name}: chain {number}", colour_mosaic(chain, WIDE))

    def of_class(self, label: int) -> Panel:
        title = f"{self.pictures.name}: {class_name(self.pictures, label)}"
        if "class_samples" not in self.arrays:
            return Panel(title, None, self.ended)
        if self.classes is not None and label >= self.classes:
            return Panel(title, None, f"the data have {self.classes} classes: none is left")
        chosen = self.arrays["class_samples"][self.arrays["class_labels"] == label]
        return Panel(
            title, colour_mosaic(chosen, WIDE) if len(chosen) else None, "no sample was put into this class"
        )

    def all_classes(self) -> Panel:
        """A row for each class, the surest first; where there are too few, the rest of the row is white."""
        title = f"{self.pictures.name}, a row for each class"
        samples, labels = (self.arrays.get(name) for name in ("class_samples", "class_labels"))
        if samples is None or labels is None or not len(samples):
            return Panel(title, None, self.ended)
        counts = np.bincount(labels, minlength=self.classes or 0)
        sheet = np.full((len(counts), counts.max(), *samples.shape[1:]), 255, samples.dtype)
        for label, count in enumerate(counts):
            sheet[label, :count] = samples[labels == label]
        return Panel(title, colour_mosaic(sheet.reshape(-1, *samples.shape[1:]), int(counts.max())))


def class_name(pictures: Pictures, label: int) -> str:
    dataset = str(pictures.dataset["name"])
    known = NAMES.get(dataset, ())
    return known[label] if label < len(known) else f"{'digit' if dataset == 'digits32' else 'class'} {label}"


def draw(shown: Sequence[Panel]) -> Any:
    figure, axes = panels(1, len(shown), 3.4, 3.4)
    for axis, panel in zip(axes[0], shown, strict=True):
        axis.set_title(panel.title)
        draw_tile(axis, panel.image, panel.reason)
    return figure


class ImageFigure(PictureArtifact):
    """A figure of samples. `places` are the paper's data sets that it shows: 0 CIFAR10, 1 CIFAR100, 2
    SVHN."""

    seeds: ClassVar[Mapping[Profile, tuple[int, ...]]] = {"smoke": (0,), "laptop": (0,), "paper": (0,)}
    labels: ClassVar[tuple[str, ...] | None] = (LABEL,)
    places: ClassVar[tuple[int, ...]] = (0,)
    text: ClassVar[str]

    @abstractmethod
    def content(self, shown: Shown) -> Sequence[Panel]:
        """Its panels of one data set."""

    def sets(self, profile: Profile) -> Sequence[Pictures]:
        known = super().sets(profile)
        return [known[place] for place in sorted({min(place, len(known) - 1) for place in self.places})]

    def render(self, results: Results) -> Drawing:
        pairs = [
            (trial_of(line(LABEL), pictures, results.profile), pictures)
            for pictures in self.sets(results.profile)
        ]
        found = [
            panel for trial, pictures in pairs for panel in self.content(Shown.read(results, trial, pictures))
        ]
        rows = [row for trial, _ in pairs for row in results.find_rows(trial)[:1]]
        caption = f"{self.text} First seed of {LABEL}; {SIZES[results.profile].about}.{acceptance(rows)} {caption_tail(rows)}"
        return self.drawing(results, caption, partial(draw, found))


def acceptance(rows: Sequence[Row]) -> str:
    found = [read_metrics(row).get("refinement_acceptance") for row in rows]
    shares = [f"{100 * value:.0f} %" for value in found if value is not None]
    return f" Of the MALA proposals {' and '.join(shares)} were accepted." if shares else ""


IMAGE_FIGURES: dict[str, type[ImageFigure]] = {}
"""By the artifact's name."""


def declare(
    number: int | str, heading: str, says: str, shows: Callable[[Shown], Sequence[Panel]], *where: int
) -> None:
    """One figure, under its number or its name."""

    class Declared(ImageFigure):
        name = f"figure{number}" if isinstance(number, int) else number
        title = (
            f"Figure {number}: {heading}" if isinstance(number, int) else f"{heading[0].upper()}{heading[1:]}"
        )
        text, places = says, where

        def content(self, shown: Shown) -> Sequence[Panel]:
            return shows(shown)

    IMAGE_FIGURES[Declared.name] = Declared


def unconditional(shown: Shown) -> list[Panel]:
    return [shown.sheet("refined_samples", shown.pictures.name)]


def chains(shown: Shown) -> list[Panel]:
    return list(shown.chains())


def before_and_after(shown: Shown) -> list[Panel]:
    titles = {"generated_samples": "generator", "refined_samples": "after MALA"}
    return [shown.sheet(array, f"{shown.pictures.name}: {title}") for array, title in titles.items()]


def by_class(labels: Sequence[int], shown: Shown) -> list[Panel]:
    return [shown.of_class(label) for label in labels]


def sheet_of_classes(shown: Shown) -> list[Panel]:
    return [shown.all_classes()]


SORTED = "Refined samples that the classifier puts into a class, the surest first."
declare(4, "unconditional samples", "Samples after MALA refinement.", unconditional, 0, 1)
declare(7, "two MALA chains", "Every consecutive step of two chains, right, then down.", chains, 2)
declare(9, "samples before and after MALA, first data set", "The generator's samples, and the same chains refined.",
        before_and_after, 0)  # fmt: skip
declare(10, "samples before and after MALA, second data set", "The generator's samples, and the same chains refined.",
        before_and_after, 1)  # fmt: skip
for place in range(10):
    declare(
        11 + place, f"samples by class, first data set, class {place}", SORTED, partial(by_class, (place,)), 0
    )
for place in range(7):
    pair = (2 * place, 2 * place + 1)
    declare(
        21 + place,
        f"samples by class, second data set, classes {pair[0]} and {pair[1]}",
        SORTED,
        partial(by_class, pair),
        1,
    )
declare("classes", "samples of every class", SORTED, sheet_of_classes, 0)

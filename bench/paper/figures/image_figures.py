"""Figures 4, 7 and 9 to 27: samples of VERA's trials of Table 3. Unconditional samples, chains, samples
before and after refinement, samples by class.

All show the first seed of VERA with α = 100; the paper does not say which model its figures are of. A
figure of CIFAR100 or SVHN shows the profile's last data set if the profile has no such data set. At
`laptop` all figures show digits, and the title of each panel names its data: MNIST takes the place of
CIFAR10, the 8 × 8 digits of scikit-learn that of CIFAR100 and SVHN.

Samples by class are unconditional samples that the classifier puts into a class, the most certain first.
Figures 21 to 27 share the first fourteen classes of the second data set, two in each figure; if it has fewer
classes, some figures show one. Trap: a class that the model never generates has no samples; its panel is
empty and gives the reason.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bench.artifact import DataArtifact, Drawing
from bench.judging.results import ONE_SEED, FirstSeed, Results, find_first_rows, find_first_seed, read_metrics
from bench.paper.experiments.images import IMAGES, ImageSetting
from bench.paper.image_artifact import ImageArtifact
from bench.render.plotting import create_panels, draw_image, tile_colour_images
from sweeps.store.row import Row
from sweeps.trial.identity import Profile, Trial

LABEL = "VERA α=100"
CIFAR10 = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
CIFAR100 = (
    *("apple", "aquarium fish", "baby", "bear", "beaver", "bed", "bee", "beetle", "bicycle", "bottle"),
    *("bowl", "boy", "bridge", "bus"),
)
CLASS_NAMES = {"cifar10": CIFAR10, "cifar10-16x16": CIFAR10, "cifar100": CIFAR100}
"""The classes that are shown, in the order of the data set's labels."""
DIGITS = ("mnist5k-images", "digits-images", "digits32")
"""Data sets whose classes are the digits."""
SECOND_SET_FIGURES = range(21, 28)
COLUMNS = 10
"""Images in a row."""
WIDTH, TITLE_HEIGHT = 3.4, 0.35
"""Of a panel, in inches."""


@dataclass(frozen=True)
class ImagePanel:
    """An image with its title. If the image is None, `reason` says why."""

    title: str
    image: NDArray[Any] | None
    reason: str = ""


@dataclass(frozen=True)
class StoredSamples:
    """The samples that the first seed of a trial stored."""

    data: ImageSetting
    first: FirstSeed

    @property
    def classes(self) -> int | None:
        """The number of classes of the data; None if the trial did not store it."""
        classes = self.first.metrics.get("classes")
        return None if classes is None else int(classes)

    @property
    def reason(self) -> str:
        """Why there is no such array."""
        return "kept no such samples" if self.first.is_ok else self.first.outcome

    def show_sheet(self, array: str, title: str) -> ImagePanel:
        found = self.first.arrays.get(array)
        image = None if found is None or not len(found) else tile_samples(found)
        return ImagePanel(title, image, self.reason)

    def show_chains(self) -> Iterator[ImagePanel]:
        """One panel for each chain, with every step in reading order."""
        found = self.first.arrays.get("chain_images")
        if found is None:
            yield ImagePanel(f"{self.data.name}: chains", None, self.reason)
        for number, chain in enumerate(() if found is None else found, 1):
            yield ImagePanel(f"{self.data.name}: chain {number}", tile_samples(chain))

    def show_class(self, label: int) -> ImagePanel:
        title = f"{self.data.name}: {name_class(self.data, label)}"
        if "class_samples" not in self.first.arrays:
            return ImagePanel(title, None, self.reason)
        chosen = self.first.arrays["class_samples"][self.first.arrays["class_labels"] == label]
        image = tile_samples(chosen) if len(chosen) else None
        return ImagePanel(title, image, "no sample was put into this class")

    def show_all_classes(self) -> ImagePanel:
        """A row for each class, the most certain samples first. The rest of a short row is white."""
        title = f"{self.data.name}, a row for each class"
        samples, labels = (self.first.arrays.get(name) for name in ("class_samples", "class_labels"))
        if samples is None or labels is None or not len(samples):
            return ImagePanel(title, None, self.reason)
        counts, samples = np.bincount(labels, minlength=self.classes or 0), add_margin(samples)
        sheet: NDArray[Any] = np.full((len(counts), counts.max(), *samples.shape[1:]), 255, samples.dtype)
        for label, count in enumerate(counts):
            sheet[label, :count] = samples[labels == label]
        return ImagePanel(title, tile_colour_images(sheet.reshape(-1, *samples.shape[1:]), int(counts.max())))


def add_margin(images: NDArray[Any]) -> NDArray[Any]:
    """Grey images with a black margin, because digits of 8 × 8 reach the edge; colour images as they are."""
    margin = [(0, 0), (0, 0), (1, 1), (1, 1)]
    return np.pad(images, margin) if images.shape[1] == 1 else images


def tile_samples(images: NDArray[Any]) -> NDArray[Any]:
    return tile_colour_images(add_margin(images), COLUMNS)


def describe_acceptance(rows: Sequence[Row]) -> str:
    """The share of MALA proposals that were accepted, for a caption; empty if no row has it."""
    found = [read_metrics(row).get("refinement_acceptance") for row in rows]
    shares = [f"{100 * value:.0f} %" for value in found if value is not None]
    return f" Of the MALA proposals {' and '.join(shares)} were accepted." if shares else ""


def name_class(data: ImageSetting, label: int) -> str:
    dataset = str(data.dataset["name"])
    known = CLASS_NAMES.get(dataset, ())
    return known[label] if label < len(known) else f"{'digit' if dataset in DIGITS else 'class'} {label}"


def draw(shown: Sequence[ImagePanel]) -> Any:
    """The panels side by side, as high as the highest image needs."""
    heights = [panel.image.shape[0] / panel.image.shape[1] for panel in shown if panel.image is not None]
    figure, axes = create_panels(1, len(shown), WIDTH, TITLE_HEIGHT + WIDTH * max(heights, default=0.2))
    for axis, panel in zip(axes[0], shown, strict=True):
        axis.set_title(panel.title)
        draw_image(axis, panel.image, panel.reason)
    return figure


class ImageFigure(ImageArtifact):
    """A figure of samples. `places` are the data sets that it shows: 0 CIFAR10, 1 CIFAR100, 2 SVHN."""

    seeds = ONE_SEED
    places: ClassVar[tuple[int, ...]] = (0,)
    text: ClassVar[str]

    @abstractmethod
    def show(self, samples: StoredSamples) -> Sequence[ImagePanel]:
        """The panels of one data set."""

    def data(self, profile: Profile) -> Sequence[ImageSetting]:
        known = DataArtifact.data(self, profile)
        return [known[place] for place in sorted({min(place, len(known) - 1) for place in self.places})]

    def trials_on(self, profile: Profile, data: Sequence[ImageSetting]) -> Iterator[Trial]:
        return (IMAGES.trial(LABEL, profile, each) for each in data)

    def render(self, results: Results) -> Drawing:
        profile, trials = results.profile, list(self.trials(results.profile))
        stored = [
            StoredSamples(data, find_first_seed(results, trial))
            for data, trial in zip(self.data(profile), trials, strict=True)
        ]
        shown = [panel for samples in stored for panel in self.show(samples)]
        rows = find_first_rows(results, trials)
        acceptance = describe_acceptance(rows)
        text = f"{self.text} First seed of {LABEL}; {IMAGES.about(profile)}.{acceptance}"
        return self.drawing(results, text, rows, partial(draw, shown))


IMAGE_FIGURES: dict[str, type[ImageFigure]] = {}
"""By the artifact's name."""


def declare(
    number: int | str,
    heading: str,
    caption: str,
    content: Callable[[StoredSamples], Sequence[ImagePanel]],
    *sets: int,
) -> None:
    """Declare one figure, under its number or its name."""

    class DeclaredFigure(ImageFigure):
        name = f"figure{number}" if isinstance(number, int) else number
        title = (
            f"Figure {number}: {heading}" if isinstance(number, int) else f"{heading[0].upper()}{heading[1:]}"
        )
        text, places = caption, sets

        def show(self, samples: StoredSamples) -> Sequence[ImagePanel]:
            return content(samples)

    IMAGE_FIGURES[DeclaredFigure.name] = DeclaredFigure


def show_unconditional(samples: StoredSamples) -> list[ImagePanel]:
    return [samples.show_sheet("refined_samples", samples.data.name)]


def show_chains(samples: StoredSamples) -> list[ImagePanel]:
    return list(samples.show_chains())


def show_before_and_after(samples: StoredSamples) -> list[ImagePanel]:
    titles = {"generated_samples": "generator", "refined_samples": "after MALA"}
    return [samples.show_sheet(array, f"{samples.data.name}: {title}") for array, title in titles.items()]


def show_class(label: int, samples: StoredSamples) -> list[ImagePanel]:
    return [samples.show_class(label)]


def show_share_of_classes(part: int, samples: StoredSamples) -> list[ImagePanel]:
    """This part of the first classes, which the figures of the second data set share."""
    count = min(samples.classes or len(CIFAR100), len(CIFAR100))
    share = np.array_split(np.arange(count), len(SECOND_SET_FIGURES))[part]
    return [samples.show_class(int(label)) for label in share]


def show_all_classes(samples: StoredSamples) -> list[ImagePanel]:
    return [samples.show_all_classes()]


BY_CLASS = (
    "Refined samples that the classifier puts into a class, the surest first: all should show that class."
)
TWICE = (
    "The generator's samples, and the same chains refined. The same place in both sheets is one chain: "
    "refinement should keep what it shows and make it clearer."
)
CHAINS = (
    "Every consecutive step of two chains, right, then down. A chain that mixes passes from image to image; "
    "one that refines stays with its own."
)
declare(4, "unconditional samples", "Samples after MALA refinement, of any class.", show_unconditional, 0, 1)
declare(7, "two MALA chains", CHAINS, show_chains, 2)
declare(9, "samples before and after MALA, first data set", TWICE, show_before_and_after, 0)
declare(10, "samples before and after MALA, second data set", TWICE, show_before_and_after, 1)
for k in range(10):
    declare(11 + k, f"samples by class, first data set, class {k}", BY_CLASS, partial(show_class, k), 0)
for part, number in enumerate(SECOND_SET_FIGURES):
    text = f"samples by class, second data set, part {part + 1} of {len(SECOND_SET_FIGURES)}"
    declare(number, text, BY_CLASS, partial(show_share_of_classes, part), 1)
declare("classes", "samples of every class", BY_CLASS, show_all_classes, 0)

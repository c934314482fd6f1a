"""MNIST as a table: rows of pixels in [-1, 1], and the digit as the class.

The paper's code trains on all 60,000 digits and evaluates on the official test set after every epoch; its
text says that a tenth of the training data is held out for that. `validation` offers both. Trap: with "test"
the training points are the same for every seed, so trials differ only in the labelled rows, the order and the
initialisation.
"""

from pathlib import Path
from typing import Literal

import torch

from vera.data.contract import compute_fingerprint
from vera.data.digits import mnist_files
from vera.data.digits.mnist_files import LabelledDigits
from vera.data.digits.points import Side, scale_pixels
from vera.data.files.locations import DataDir, resolve_data_dir
from vera.data.labelled import LabelledData, Split, choose_labelled_rows, draw_permutation
from vera.spec.registry import datasets
from vera.spec.settings import Count, validate_arguments


class DigitTable(LabelledData):
    """Digits as rows of pixels; files are read at the first split."""

    version = 1
    classes = 10
    side: Side

    def __init__(self, name: str, side: Side, labels_per_class: int | None) -> None:
        self.side, self.data_dim, self.labels_per_class = side, side**2, labels_per_class
        self.name = name if side == 28 else f"{name}-{side}x{side}"

    def build_split(self, train: LabelledDigits, held_out: LabelledDigits, seed: int) -> Split:
        labelled = choose_labelled_rows(train[1], self.labels_per_class, seed)
        return Split(
            self, (scale_pixels(train[0]), train[1]), (scale_pixels(held_out[0]), held_out[1]), labelled
        )


@datasets.register("mnist-table")
class MNISTTable(DigitTable):
    """MNIST as rows of pixels: evaluated on the 10,000 test digits or on a tenth of the 60,000 others."""

    @validate_arguments
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
        return compute_fingerprint(
            form="table",
            version=self.version,
            side=self.side,
            held_out=self.validation,
            files=mnist_files.SHA256,
        )

    def split(self, seed: int) -> Split:
        directory = resolve_data_dir(self.data_dir)
        images = mnist_files.read_full_rows(directory, self.side)
        labels = mnist_files.read_full_labels(directory)
        if self.validation == "test":
            return self.build_split((images[0], labels[0]), (images[1], labels[1]), seed)
        order = torch.from_numpy(draw_permutation(len(labels[0]), seed))
        cut = len(order) - int(0.1 * len(order))
        train, held_out = ((images[0][rows], labels[0][rows]) for rows in (order[:cut], order[cut:]))
        return self.build_split(train, held_out, seed)

    @staticmethod
    def locate(data_dir: DataDir = None) -> Path:
        """Return the folder of the files, or raise `DataMissing`."""
        return mnist_files.find_folder(data_dir)

    @staticmethod
    def verify(data_dir: DataDir = None) -> None:
        """Raise `DataCorrupt` unless the files are the published ones."""
        mnist_files.verify_digits(data_dir)


@datasets.register("mnist5k-table")
class EmbeddedMNISTTable(DigitTable):
    """5,000 MNIST digits as rows of pixels, installed with this package: 4,000 train, 1,000 held out."""

    @validate_arguments
    def __init__(self, labels_per_class: Count | None = 10, side: Side = 28) -> None:
        super().__init__("mnist5k-table", side, labels_per_class)

    @property
    def fingerprint(self) -> str:
        files = mnist_files.EMBEDDED_SOURCE
        return compute_fingerprint(form="table", version=self.version, side=self.side, files=files)

    def split(self, seed: int) -> Split:
        train, held_out = mnist_files.read_embedded_rows(self.side)
        train_labels, held_out_labels = (mnist_files.label_embedded_rows(rows) for rows in (train, held_out))
        return self.build_split((train, train_labels), (held_out, held_out_labels), seed)

    @staticmethod
    def locate(data_dir: DataDir = None) -> Path:
        """Return the folder of the file inside the installed package, or raise `DataMissing`."""
        return mnist_files.find_embedded().parent

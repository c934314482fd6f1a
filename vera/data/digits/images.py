"""Embedded digits as images, to train image networks without a download.

The 5,000 digits of MNIST get a black border of two pixels, which makes 32 × 32, and are averaged down to 16 ×
16 on request. `digits32` repeats them in three channels, for networks that need colour images;
`mnist5k-images` is grey. `digits-images` are the 8 × 8 digits of scikit-learn, another set by other writers.
In training those of `digits32` are shifted like CIFAR images; the grey ones are not, because their digits are
centred in the test set too. None is mirrored. Trap: digits are far easier than CIFAR10, so every name and
label says that the data are digits.
"""

from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, pad

from vera.data.contract import compute_fingerprint
from vera.data.digits import mnist_files
from vera.data.files.locations import DataDir
from vera.data.images.contract import ImageData, Images
from vera.data.tables.contract import hold_out_last
from vera.data.tables.embedded import DigitsTable
from vera.spec.registry import datasets
from vera.spec.settings import Count, validate_arguments


class EmbeddedImages(ImageData):
    """The 5,000 embedded digits of MNIST as images: 4,000 train, 1,000 held out."""

    classes = 10

    def read_images(self) -> tuple[Images, Images]:
        train, held_out = (self._build_images(rows) for rows in mnist_files.read_embedded_rows(28))
        return train, held_out

    def _build_images(self, rows: Tensor) -> Images:
        """Return rows of the embedded digits as images with their classes."""
        images = pad(rows.view(-1, 1, 28, 28), (2, 2, 2, 2))
        if self.side == 16:
            images = avg_pool2d(images.float(), 2).round().to(torch.uint8)
        return images.repeat(1, self.channels, 1, 1), mnist_files.label_embedded_rows(rows)

    @staticmethod
    def locate(data_dir: DataDir = None) -> Path:
        """Return the folder of the file inside the installed package, or raise `DataMissing`."""
        return mnist_files.find_embedded().parent


@datasets.register("digits32")
class Digits32(EmbeddedImages):
    """5,000 MNIST digits as colour images, installed with this package: 4,000 train, 1,000 held out."""

    @validate_arguments
    def __init__(self, labels_per_class: Count | None = None, side: Literal[32, 16] = 32) -> None:
        self.side = side
        self.name = "digits32" if side == 32 else f"digits32-{side}x{side}"
        super().__init__(labels_per_class)

    @property
    def fingerprint(self) -> str:
        files = mnist_files.EMBEDDED_SOURCE
        return compute_fingerprint(form="digit images", version=self.version, side=self.side, files=files)


@datasets.register("mnist5k-images")
class EmbeddedMNISTImages(EmbeddedImages):
    """5,000 MNIST digits as grey images, installed with this package: 4,000 train, 1,000 held out."""

    channels, largest_shift = 1, 0.0

    @validate_arguments
    def __init__(self, labels_per_class: Count | None = None, side: Literal[16, 32] = 16) -> None:
        self.side = side
        self.name = f"mnist5k-images-{side}x{side}"
        super().__init__(labels_per_class)

    @property
    def fingerprint(self) -> str:
        files = mnist_files.EMBEDDED_SOURCE
        return compute_fingerprint(form="grey images", version=self.version, side=self.side, files=files)


@datasets.register("digits-images")
class DigitsImages(ImageData):
    """8 × 8 digits of scikit-learn as grey images, installed with this package: 1,438 train, 359 held out.

    The held-out digits are the same for every seed.
    """

    name, classes, channels, side = "digits-images", 10, 1, 8
    largest_shift = 0.0

    @validate_arguments
    def __init__(self, labels_per_class: Count | None = None) -> None:
        super().__init__(labels_per_class)

    @property
    def fingerprint(self) -> str:
        files = {DigitsTable.file: DigitsTable.sha256}
        return compute_fingerprint(form=self.name, version=self.version, files=files)

    def read_images(self) -> tuple[Images, Images]:
        table = DigitsTable().read_table()
        pixels = torch.from_numpy(np.rint(table.x * (255 / 16)).astype(np.uint8)).view(-1, 1, 8, 8)
        labels = torch.from_numpy(table.labels)
        train, held_out = hold_out_last(len(labels), 0.2, seed=0)
        return (pixels[train], labels[train]), (pixels[held_out], labels[held_out])

    locate = DigitsTable.locate

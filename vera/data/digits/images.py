"""MNIST digits as small colour images: what the image networks are tried on where nothing can be downloaded.

The 5,000 digits that install with this package, 28 × 28, get a black border of two pixels and the same grey
in three channels. They are shifted in training as CIFAR's images are, and never mirrored. Trap: this is not
CIFAR10 and far easier; every name says so.
"""

from pathlib import Path
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, pad

from vera.data.digits import sources as digits
from vera.data.files.locations import DataDir
from vera.data.fingerprint import fingerprint_of
from vera.data.images.contract import ImageData, Images
from vera.spec.registry import datasets
from vera.spec.settings import Count, validated


@datasets.register("digits32")
class Digits32(ImageData):
    """5,000 MNIST digits as 32 × 32 images of three equal channels, installed with this package: 4,000 train,
    1,000 held out."""

    classes = 10

    @validated
    def __init__(self, labels_per_class: Count | None = None, side: Literal[32, 16] = 32) -> None:
        self.side = side
        self.name = "digits32" if side == 32 else f"digits32-{side}x{side}"
        super().__init__(labels_per_class)

    @property
    def fingerprint(self) -> str:
        files = {"mnist_5k.csv": digits.EMBEDDED_SHA256}
        return fingerprint_of(form="digit images", version=self.version, side=self.side, files=files)

    def images(self) -> tuple[Images, Images]:
        train, held_out = (self._coloured(rows) for rows in digits.embedded_rows(28))
        return train, held_out

    def _coloured(self, rows: Tensor) -> Images:
        """Rows of the embedded digits, which come sorted by class and equally many of each, as images with
        their classes."""
        images = pad(rows.view(-1, 1, 28, 28), (2, 2, 2, 2))
        if self.side == 16:
            images = avg_pool2d(images.float(), 2).round().to(torch.uint8)
        return images.repeat(1, 3, 1, 1), torch.arange(10).repeat_interleave(len(rows) // 10)

    @staticmethod
    def locate(data_dir: DataDir = None) -> Path:
        """The folder of the file, or `DataMissing`; it lies in the installed package, not in the data
        directory."""
        return digits.find_embedded().parent

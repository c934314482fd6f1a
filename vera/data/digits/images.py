"""MNIST digits as small colour images, to train image networks without a download.

The 5,000 embedded digits of 28 × 28 pixels get a black border of two pixels and three equal channels. In
training they are shifted like CIFAR images, but never mirrored. Trap: this is far easier than CIFAR10, so
every name and label says that the data are digits.
"""

from pathlib import Path
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, pad

from vera.data.contract import compute_fingerprint
from vera.data.digits import mnist_files
from vera.data.files.locations import DataDir
from vera.data.images.contract import ImageData, Images
from vera.spec.registry import datasets
from vera.spec.settings import Count, validate_arguments


@datasets.register("digits32")
class Digits32(ImageData):
    """5,000 MNIST digits as colour images, installed with this package: 4,000 train, 1,000 held out."""

    classes = 10

    @validate_arguments
    def __init__(self, labels_per_class: Count | None = None, side: Literal[32, 16] = 32) -> None:
        self.side = side
        self.name = "digits32" if side == 32 else f"digits32-{side}x{side}"
        super().__init__(labels_per_class)

    @property
    def fingerprint(self) -> str:
        files = {"mnist_5k.csv": mnist_files.EMBEDDED_SHA256}
        return compute_fingerprint(form="digit images", version=self.version, side=self.side, files=files)

    def read_images(self) -> tuple[Images, Images]:
        train, held_out = (self._build_images(rows) for rows in mnist_files.read_embedded_rows(28))
        return train, held_out

    def _build_images(self, rows: Tensor) -> Images:
        """Return rows of the embedded digits as images with their classes."""
        images = pad(rows.view(-1, 1, 28, 28), (2, 2, 2, 2))
        if self.side == 16:
            images = avg_pool2d(images.float(), 2).round().to(torch.uint8)
        return images.repeat(1, 3, 1, 1), mnist_files.label_embedded_rows(rows)

    @staticmethod
    def locate(data_dir: DataDir = None) -> Path:
        """Return the folder of the file inside the installed package, or raise `DataMissing`."""
        return mnist_files.find_embedded().parent

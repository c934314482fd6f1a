"""MNIST as pixels in [-1, 1], the form on which the paper fits its linear generator: x = 2 · pixel/255 - 1,
without noise.

The images and their split are those of the logit sets. Trap: without noise a pixel takes one of 256 values,
mostly the lowest, so the likelihood of these points has no meaning. Models fitted here are evaluated on their
own samples.
"""

from pathlib import Path

import torch
from torch import Tensor

from vera.data.contract import TEST_POINTS, DataSet, Stream, compute_fingerprint
from vera.data.digits.logit import EmbeddedMNISTLogit, LogitDigits, MNISTLogit, Side
from vera.data.epochs import EpochStream, choose_rows
from vera.data.files.locations import DataDir
from vera.spec.registry import datasets
from vera.spec.settings import Count, validate_arguments
from vera.training.random_state import derive_seed


def scale_pixels(pixels: Tensor, rng: torch.Generator | None = None) -> Tensor:
    """Return pixels 0..255 scaled to [-1, 1], in a new tensor; `rng` is not used."""
    return pixels / 127.5 - 1


class PixelDigits(DataSet):
    """The digits of a logit set as pixels; files are read at the first batch."""

    version = 1

    def __init__(self, name: str, source: LogitDigits) -> None:
        self.source = source
        self.data_dim = source.data_dim
        self.name = name if source.side == 28 else f"{name}-{source.side}x{source.side}"

    @property
    def fingerprint(self) -> str:
        return compute_fingerprint(
            form="pixels", version=self.version, side=self.source.side, files=self.source.checksums
        )

    def read_training_points(self) -> Tensor:
        """Return the whole training set in the order of the files, one image per row."""
        return scale_pixels(self.source.read_rows()[0])

    @validate_arguments
    def stream(self, batch_size: Count, seed: int) -> Stream:
        return EpochStream(self.source.read_rows()[0], batch_size, seed, scale_pixels)

    @validate_arguments
    def test_points(self, seed: int, n: Count | None = None) -> Tensor:
        rng = torch.Generator().manual_seed(derive_seed(seed, TEST_POINTS))
        return scale_pixels(choose_rows(self.source.read_rows()[1], n, rng))


@datasets.register("mnist-pixels")
class MNISTPixels(PixelDigits):
    """MNIST as pixels in [-1, 1]: 60,000 train and 10,000 test digits."""

    @validate_arguments
    def __init__(self, data_dir: DataDir = None, side: Side = 28) -> None:
        super().__init__("mnist-pixels", MNISTLogit(data_dir, side))

    @staticmethod
    def locate(data_dir: DataDir = None) -> Path:
        return MNISTLogit.locate(data_dir)


@datasets.register("mnist5k-pixels")
class EmbeddedMNISTPixels(PixelDigits):
    """5,000 MNIST digits as pixels in [-1, 1], installed with this package: 4,000 train, 1,000 test."""

    @validate_arguments
    def __init__(self, side: Side = 28) -> None:
        super().__init__("mnist5k-pixels", EmbeddedMNISTLogit(side))

    @staticmethod
    def locate(data_dir: DataDir = None) -> Path:
        return EmbeddedMNISTLogit.locate(data_dir)

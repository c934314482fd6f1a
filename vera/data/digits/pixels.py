"""MNIST as pixels in [-1, 1], the form on which the paper fits its linear generator: x = 2 · pixel/255 - 1,
without noise.

The images and their split are those of the logit sets. Trap: without noise a pixel takes one of 256 values,
and most of them the lowest, so no density of these points has a meaningful likelihood; what is fitted here is
judged by its own samples.
"""

from pathlib import Path

import torch
from torch import Tensor

from vera.data.contract import TEST_POINTS, DataSet, Stream
from vera.data.digits.logit import EmbeddedMNISTLogit, LogitDigits, MNISTLogit, Side
from vera.data.epochs import EpochStream, choose_rows
from vera.data.files.locations import DataDir
from vera.data.fingerprint import fingerprint_of
from vera.spec.registry import datasets
from vera.spec.settings import Count, validated
from vera.training.random_state import derive_seed


def scaled(pixels: Tensor, rng: torch.Generator | None = None) -> Tensor:
    """Pixels 0..255 to [-1, 1] in a new tensor, for the given ones are kept; nothing about it is random."""
    return pixels / 127.5 - 1


class PixelDigits(DataSet):
    """The digits of another set, as pixels; nothing is read before the first batch."""

    version = 1

    def __init__(self, name: str, source: LogitDigits) -> None:
        self.source = source
        self.data_dim = source.data_dim
        self.name = name if source.side == 28 else f"{name}-{source.side}x{source.side}"

    @property
    def fingerprint(self) -> str:
        return fingerprint_of(
            form="pixels", version=self.version, side=self.source.side, files=self.source.checksums
        )

    def training_points(self) -> Tensor:
        """The whole training set in its own order, one image a row."""
        return scaled(self.source.rows()[0])

    @validated
    def stream(self, batch_size: Count, seed: int) -> Stream:
        return EpochStream(self.source.rows()[0], batch_size, seed, scaled)

    @validated
    def test_points(self, seed: int, n: Count | None = None) -> Tensor:
        rng = torch.Generator().manual_seed(derive_seed(seed, TEST_POINTS))
        return scaled(choose_rows(self.source.rows()[1], n, rng))


@datasets.register("mnist-pixels")
class MNISTPixels(PixelDigits):
    """MNIST as pixels in [-1, 1]: 60,000 train and 10,000 test digits."""

    @validated
    def __init__(self, data_dir: DataDir = None, side: Side = 28) -> None:
        super().__init__("mnist-pixels", MNISTLogit(data_dir, side))

    @staticmethod
    def locate(data_dir: DataDir = None) -> Path:
        return MNISTLogit.locate(data_dir)


@datasets.register("mnist5k-pixels")
class EmbeddedMNISTPixels(PixelDigits):
    """5,000 MNIST digits as pixels in [-1, 1], installed with this package: 4,000 train, 1,000 test."""

    @validated
    def __init__(self, side: Side = 28) -> None:
        super().__init__("mnist5k-pixels", EmbeddedMNISTLogit(side))

    @staticmethod
    def locate(data_dir: DataDir = None) -> Path:
        return EmbeddedMNISTLogit.locate(data_dir)

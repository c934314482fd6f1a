"""MNIST in logit space, the form on which NICE is trained and evaluated:

    x = logit(clamp(pixel/255 + u, .001, .999)),     u ~ U(-1/512, 1/512),

so that -6.907 <= x <= 6.907. The likelihood is that of x, without the Jacobian of the logit and without a
correction for the dequantisation.

Trap: u is redrawn at every access, for the test set as well. With fixed noise, a flow with enough layers
could memorise the 60,000 points; a test set without noise would be evaluated at points where the density was
never trained. Images are stored as bytes and converted to floats one batch at a time.
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
from vera.training.random_state import derive_seed

Side = Literal[28, 14]


def dequantise_to_logit(pixels: Tensor, rng: torch.Generator) -> Tensor:
    """Return x of the equation above for pixels 0..255, with new noise."""
    noise = torch.empty(pixels.shape, dtype=torch.float32).uniform_(-1 / 512, 1 / 512, generator=rng)
    return noise.add_(pixels, alpha=1 / 255).logit_(eps=1e-3)


class LogitDigits(DataSet):
    """Digits in logit space; files are read at the first batch."""

    version = 1
    registered: ClassVar[str]

    def __init__(self, side: Side) -> None:
        self.side = side
        self.data_dim = self.side**2
        self.name = self.registered if self.side == 28 else f"{self.registered}-{self.side}x{self.side}"

    @abstractmethod
    def read_rows(self) -> tuple[Tensor, Tensor]:
        """Return train and test pixels, one image per row."""

    @property
    @abstractmethod
    def checksums(self) -> dict[str, str]:
        """Checksums of the files. Other content is never read, so the checksums identify it."""

    @property
    def fingerprint(self) -> str:
        return compute_fingerprint(form="logit", version=self.version, side=self.side, files=self.checksums)

    @validate_arguments
    def stream(self, batch_size: Count, seed: int) -> Stream:
        return EpochStream(self.read_rows()[0], batch_size, seed, dequantise_to_logit)

    @validate_arguments
    def test_points(self, seed: int, n: Count | None = None) -> Tensor:
        rng = torch.Generator().manual_seed(derive_seed(seed, TEST_POINTS))
        return dequantise_to_logit(choose_rows(self.read_rows()[1], n, rng), rng)


@datasets.register("mnist-logit")
class MNISTLogit(LogitDigits):
    """MNIST in logit space: 60,000 train and 10,000 test digits."""

    registered = "mnist-logit"

    @validate_arguments
    def __init__(self, data_dir: DataDir = None, side: Side = 28) -> None:
        super().__init__(side)
        self.data_dir = data_dir

    def read_rows(self) -> tuple[Tensor, Tensor]:
        return mnist_files.read_full_rows(resolve_data_dir(self.data_dir), self.side)

    @property
    def checksums(self) -> dict[str, str]:
        return {
            name: mnist_files.SHA256[name] for name in (mnist_files.TRAIN_IMAGES, mnist_files.TEST_IMAGES)
        }

    @staticmethod
    def locate(data_dir: DataDir = None) -> Path:
        """Return the folder of the files, or raise `DataMissing`."""
        images, _ = (
            mnist_files.find_digits(name, data_dir)
            for name in (mnist_files.TRAIN_IMAGES, mnist_files.TEST_IMAGES)
        )
        return images.parent


@datasets.register("mnist5k-logit")
class EmbeddedMNISTLogit(LogitDigits):
    """5,000 MNIST digits in logit space, installed with this package: 4,000 train, 1,000 test."""

    registered = "mnist5k-logit"

    @validate_arguments
    def __init__(self, side: Side = 28) -> None:
        super().__init__(side)

    def read_rows(self) -> tuple[Tensor, Tensor]:
        return mnist_files.read_embedded_rows(self.side)

    @property
    def checksums(self) -> dict[str, str]:
        return {"mnist_5k.csv": mnist_files.EMBEDDED_SHA256}

    @staticmethod
    def locate(data_dir: DataDir = None) -> Path:
        """Return the folder of the file inside the installed package, or raise `DataMissing`."""
        return mnist_files.find_embedded().parent

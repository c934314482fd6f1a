"""StackedMNIST: three random digits in the three channels of an image, so the data have 1,000 countable modes
(B.5).

The training set consists of 60,000 triples, drawn with replacement and independently per digit, and is used
in epochs. The mode of a triple is Σ_j digit_j · 10^j. Images are 64 × 64 in [-1, 1]. Bytes are resized by
torch's antialiased bilinear filter, one batch at a time; only the small digits are kept in memory. The filter
equals PIL's bit for bit, and to one grey level at side 16 (tested).

The paper draws the triples from numpy's generator, seeded with the seed of the run. Here a stream gets a seed
derived from that of the run, and another seed gives another set of triples. Trap: the published code reads
the digits of a mode in reverse order.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import interpolate

from vera.data.contract import TEST_POINTS, DataSet, Stream, compute_fingerprint
from vera.data.digits import mnist_files
from vera.data.digits.mnist_files import LabelledDigits
from vera.data.digits.points import scale_pixels
from vera.data.epochs import EpochStream
from vera.data.files.locations import DataDir, resolve_data_dir
from vera.spec.registry import datasets
from vera.spec.settings import Count, validate_arguments
from vera.training.state.random_state import derive_seed

TRIPLES, TEST_TRIPLES = 60_000, 10_000
MODES = 1_000


@datasets.register("stacked-mnist")
class StackedMNIST(DataSet):
    """StackedMNIST, 60,000 images with three digits of MNIST in their channels: 1,000 modes."""

    version: ClassVar[int] = 1
    channels = 3

    @validate_arguments
    def __init__(
        self,
        data_dir: DataDir = None,
        source: Literal["mnist", "mnist5k"] = "mnist",
        side: Literal[64, 32, 16] = 64,
    ) -> None:
        self.data_dir, self.source, self.side = data_dir, source, side
        self.data_dim = 3 * side**2
        self.name = f"stacked-{source}" if side == 64 else f"stacked-{source}-{side}x{side}"

    @property
    def fingerprint(self) -> str:
        files = mnist_files.SHA256 if self.source == "mnist" else mnist_files.EMBEDDED_SOURCE
        return compute_fingerprint(form="stacked", version=self.version, side=self.side, files=files)

    @validate_arguments
    def stream(self, batch_size: Count, seed: int) -> Stream:
        return TripleStream(self, batch_size, seed)

    @validate_arguments
    def test_points(self, seed: int, n: Count | None = None) -> Tensor:
        """Return n triples of digits that no stream trains on (None: 10,000)."""
        triples = draw_triples(len(self.held_out[1]), n or TEST_TRIPLES, derive_seed(seed, TEST_POINTS))
        return self.build_images(self.held_out, triples)

    @property
    def train(self) -> LabelledDigits:
        """The digits from which triples are drawn, pixels as bytes (N, 28, 28)."""
        return _read_digits(self.source, resolve_data_dir(self.data_dir))[0]

    @property
    def held_out(self) -> LabelledDigits:
        return _read_digits(self.source, resolve_data_dir(self.data_dir))[1]

    def build_images(self, digits: LabelledDigits, triples: Tensor) -> Tensor:
        """Return these triples of digits as images (N, 3, side, side) in [-1, 1]."""
        return scale_pixels(resize_images(digits[0][triples], self.side))

    def compute_mode_shares(self) -> Tensor:
        """Return the probability of each of the 1,000 modes: the product of its digits' shares."""
        shares = self.train[1].bincount(minlength=10).double() / len(self.train[1])
        return torch.einsum("a,b,c->cba", shares, shares, shares).reshape(MODES)

    @staticmethod
    def locate(data_dir: DataDir = None, source: str = "mnist") -> Path:
        """Return the folder of the files, or raise `DataMissing`."""
        if source == "mnist5k":
            return mnist_files.find_embedded().parent
        return mnist_files.find_folder(data_dir)

    @staticmethod
    def verify(data_dir: DataDir = None, source: str = "mnist") -> None:
        """Raise `DataCorrupt` unless the files are the published ones."""
        if source == "mnist":
            mnist_files.verify_digits(data_dir)


class TripleStream(EpochStream):
    """Epochs through the triples of a seed; the state holds the seed instead of the triples."""

    def __init__(self, data: StackedMNIST, batch_size: int, seed: int) -> None:
        self.data = data
        super().__init__(
            self._draw(seed), batch_size, derive_seed(seed, "order of triples"), self._build_images
        )

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "triples_seed": self.triples_seed}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.rows = self._draw(state["triples_seed"])
        super().load_state_dict(state)

    def _draw(self, seed: int) -> Tensor:
        self.triples_seed = seed
        return draw_triples(len(self.data.train[1]), TRIPLES, seed)

    def _build_images(self, triples: Tensor, rng: torch.Generator) -> Tensor:
        return self.data.build_images(self.data.train, triples)


def draw_triples(count: int, n: int, seed: int) -> Tensor:
    """Return n × 3 numbers below `count` from numpy's legacy generator, which takes seeds of 32 bits."""
    return torch.from_numpy(np.random.RandomState(seed % 2**32).randint(count, size=(n, 3)))


def resize_images(pixels: Tensor, side: int) -> Tensor:
    """Return bytes (N, C, 28, 28) resized to another side, bilinear as in PIL."""
    return interpolate(pixels, (side, side), mode="bilinear", antialias=True)


@lru_cache(maxsize=2)
def _read_digits(source: str, directory: Path) -> tuple[LabelledDigits, LabelledDigits]:
    """Return train and held-out digits; cached per process."""
    if source == "mnist":
        train, test = mnist_files.read_full_rows(directory, 28)
        labels, test_labels = mnist_files.read_full_labels(directory)
    else:
        train, test = mnist_files.read_embedded_rows(28)
        labels, test_labels = (mnist_files.label_embedded_rows(rows) for rows in (train, test))
    return (train.view(-1, 28, 28), labels), (test.view(-1, 28, 28), test_labels)

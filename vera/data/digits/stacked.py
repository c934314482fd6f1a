"""StackedMNIST: three digits drawn at random, one in each channel, so that the data have 1,000 modes that can
be counted (B.5).

60,000 triples are drawn with replacement, each digit for itself; they are the training set, gone through in
epochs. A triple's mode is Σ_j digit_j · 10^j. Images are 64 × 64 in [-1, 1]: bytes are resized by torch's
antialiased bilinear filter, which is PIL's to the last bit (tested), and a batch at a time, since only the
small digits are kept.

The paper draws the triples from numpy's generator seeded with the run's seed. Here too, but a stream gets a
seed that was derived from the run's: another seed is another set of triples. Trap: the published counting
read the mode's digits in reverse.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import interpolate

from vera.data.contract import TEST_POINTS, DataSet, Stream
from vera.data.digits import sources as digits
from vera.data.digits.pixels import scaled
from vera.data.epochs import EpochStream
from vera.data.files.locations import DataDir, data_directory
from vera.data.fingerprint import fingerprint_of
from vera.spec.registry import datasets
from vera.spec.settings import Count, validated
from vera.training.random_state import derive_seed

TRIPLES, TEST_TRIPLES = 60_000, 10_000
MODES = 1_000
Digits = tuple[Tensor, Tensor]
"""Pixels 0..255 as bytes, (N, 28, 28), and classes."""


@datasets.register("stacked-mnist")
class StackedMNIST(DataSet):
    """StackedMNIST, 60,000 images with three digits of MNIST in their channels: 1,000 modes."""

    version: ClassVar[int] = 1
    channels = 3

    @validated
    def __init__(
        self,
        data_dir: DataDir = None,
        source: Literal["mnist", "mnist5k"] = "mnist",
        side: Literal[64, 32] = 64,
    ) -> None:
        self.data_dir, self.source, self.side = data_dir, source, side
        self.data_dim = 3 * side**2
        self.name = f"stacked-{source}" if side == 64 else f"stacked-{source}-{side}x{side}"

    @property
    def fingerprint(self) -> str:
        files = digits.SHA256 if self.source == "mnist" else {"mnist_5k.csv": digits.EMBEDDED_SHA256}
        return fingerprint_of(form="stacked", version=self.version, side=self.side, files=files)

    @validated
    def stream(self, batch_size: Count, seed: int) -> Stream:
        return TripleStream(self, batch_size, seed)

    @validated
    def test_points(self, seed: int, n: Count | None = None) -> Tensor:
        """Triples of digits that no stream trains on, 10,000 for None."""
        triples = draw_triples(len(self.held_out[1]), n or TEST_TRIPLES, derive_seed(seed, TEST_POINTS))
        return self.images(self.held_out, triples)

    @property
    def train(self) -> Digits:
        """The digits that triples are drawn from."""
        return _digits(self.source, data_directory(self.data_dir))[0]

    @property
    def held_out(self) -> Digits:
        return _digits(self.source, data_directory(self.data_dir))[1]

    def images(self, part: Digits, triples: Tensor) -> Tensor:
        """These triples of digits, (N, 3, side, side) in [-1, 1]."""
        return scaled(resized(part[0][triples], self.side))

    def modes(self, part: Digits, triples: Tensor) -> Tensor:
        """The mode of each triple: its first digit counts ones, its last hundreds."""
        return modes_of(part[1][triples])

    def mode_shares(self) -> Tensor:
        """How often each of the 1,000 modes occurs in the long run: the product of its digits' shares."""
        shares = self.train[1].bincount(minlength=10).double() / len(self.train[1])
        return torch.einsum("a,b,c->cba", shares, shares, shares).reshape(MODES)

    @staticmethod
    def locate(data_dir: DataDir = None, source: str = "mnist") -> Path:
        """The folder of the files, or `DataMissing`."""
        if source == "mnist5k":
            return digits.find_embedded().parent
        images, *_ = (digits.find_digits(name, data_dir) for name in digits.SHA256)
        return images.parent


class TripleStream(EpochStream):
    """Epochs through the triples of a seed; the seed stands for them in its state."""

    def __init__(self, data: StackedMNIST, batch_size: int, seed: int) -> None:
        self.data = data
        super().__init__(self._draw(seed), batch_size, derive_seed(seed, "order of triples"), self._images)

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "triples_seed": self.triples_seed}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.rows = self._draw(state["triples_seed"])
        super().load_state_dict(state)

    def _draw(self, seed: int) -> Tensor:
        self.triples_seed = seed
        return draw_triples(len(self.data.train[1]), TRIPLES, seed)

    def _images(self, triples: Tensor, rng: torch.Generator) -> Tensor:
        return self.data.images(self.data.train, triples)


def draw_triples(digits_in_all: int, n: int, seed: int) -> Tensor:
    """n times three numbers below `digits_in_all` from numpy's classic generator, which takes seeds of 32
    bits."""
    return torch.from_numpy(np.random.RandomState(seed % 2**32).randint(digits_in_all, size=(n, 3)))


def modes_of(classes: Tensor) -> Tensor:
    """Σ_j digit_j · 10^j of digits (N, 3)."""
    return (classes * torch.tensor([1, 10, 100])).sum(1)


def resized(pixels: Tensor, side: int) -> Tensor:
    """Bytes (N, C, 28, 28) at another side, bilinear as PIL does it."""
    return interpolate(pixels, (side, side), mode="bilinear", antialias=True)


@lru_cache(maxsize=2)
def _digits(source: str, directory: Path) -> tuple[Digits, Digits]:
    """Digits to train on and others, once in a process."""
    if source == "mnist":
        train, test = digits.full_rows(directory, 28)
        labels, test_labels = (
            digits.read_digits(name, directory).long() for name in (digits.TRAIN_LABELS, digits.TEST_LABELS)
        )
    else:  # sorted by class, equally many of each
        train, test = digits.embedded_rows(28)
        labels, test_labels = (torch.arange(10).repeat_interleave(len(rows) // 10) for rows in (train, test))
    return (train.view(-1, 28, 28), labels), (test.view(-1, 28, 28), test_labels)

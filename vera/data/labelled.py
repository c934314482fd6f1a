"""Labelled data: points with classes, where a method may see a few labels or all of them.

A registered labelled data set is a *source*: the content of the files. The seed of a trial turns it into a
`Split`: the training points, the rows whose label is available, and the held-out points. As in the paper, a
seed therefore changes the split, the labelled rows and the initialisation together. The fingerprint depends
on the source only.

Trap: labelled points stay in the unlabelled stream as well. Removing them would change the data on which the
paper trains the density.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vera.data.contract import DataSet, Stream, check_finite
from vera.data.epochs import EpochStream, choose_rows
from vera.errors import SettingError, VeraError
from vera.training.state.random_state import derive_seed


@dataclass(frozen=True)
class LabelledBatch:
    """Points for the density, and labelled points for the classifier.

    If all labels are available, `labelled` is `x` itself.
    """

    x: Tensor
    labelled: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.x)

    @property
    def is_shared(self) -> bool:
        """Whether the labelled points are the points themselves, so that one forward pass serves both."""
        return self.labelled is self.x

    def to(self, device: torch.device, dtype: torch.dtype, non_blocking: bool = False) -> "LabelledBatch":
        """Return the batch on the device, with points in the networks' dtype and integer labels."""
        x = self.x.to(device, dtype, non_blocking=non_blocking)
        labelled = x if self.is_shared else self.labelled.to(device, dtype, non_blocking=non_blocking)
        return replace(self, x=x, labelled=labelled, labels=self.labels.to(device, non_blocking=non_blocking))


class LabelledData(ABC):
    """A source of labelled points; `split` returns the training and held-out points of one trial."""

    name: str
    data_dim: int
    classes: int
    side: int | None = None
    """Side of the image if a point is a square image in [−1, 1]; grey and flat if `channels` is None."""
    channels: int | None = None
    """Channels of an image of shape (channels, side, side)."""
    class_names: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A short hash of the content and its preprocessing; never of paths."""

    @abstractmethod
    def split(self, seed: int) -> "Split": ...


class SplitFacts(NamedTuple):
    """The columns of Table 8; `largest_class` is the share of the most frequent class among the training
    points, in percent."""

    features: int
    examples: int
    classes: int
    largest_class: float


class Split(DataSet):
    """Training points with some or all labels, and labelled held-out points (points float32, labels int64).

    `labelled_rows` are the training rows whose label a method may see; None means all of them. Without
    `held_out` all points train, and the split cannot be used to evaluate.
    """

    def __init__(
        self,
        source: LabelledData,
        train: tuple[Tensor, Tensor],
        held_out: tuple[Tensor, Tensor] | None,
        labelled_rows: Tensor | None,
    ) -> None:
        self.name, self.data_dim, self.classes = source.name, source.data_dim, source.classes
        self.side, self.channels = source.side, source.channels
        self.source = source
        self.train, self.train_labels = train
        self.held_out, self.held_out_labels = held_out or (train[0][:0], train[1][:0])
        self.labelled_rows = labelled_rows
        if labelled_rows is not None and not len(labelled_rows):
            raise SettingError(f"The data set '{self.name}' has no labelled rows; a classifier needs some.")
        self._check("training", *train)
        if held_out is not None:
            self._check("held-out", *held_out)

    @property
    def fingerprint(self) -> str:
        return self.source.fingerprint

    @cached_property
    def majority_share(self) -> float:
        """Share of the most frequent class among the held-out points: the accuracy of a constant
        classifier."""
        return float(self.held_out_labels.bincount(minlength=self.classes).max()) / len(self.held_out_labels)

    @property
    def facts(self) -> SplitFacts:
        largest = int(self.train_labels.bincount(minlength=self.classes).max())
        return SplitFacts(self.data_dim, len(self.train), self.classes, 100 * largest / len(self.train))

    def select_points(self, rows: Tensor, rng: torch.Generator) -> Tensor:
        """Return these training points as they enter a batch; augmentation draws from `rng`."""
        return self.train.index_select(0, rows)

    def stream(self, batch_size: int, seed: int) -> Stream:
        return (
            LabelledStream(self, batch_size, seed)
            if self.labelled_rows is None
            else SemiSupervisedStream(self, self.labelled_rows, batch_size, seed)
        )

    def test_points(self, seed: int, n: int | None = None) -> Tensor:
        if not len(self.held_out):
            raise VeraError(f"The data set '{self.name}' has no held-out points; all of its points train.")
        return choose_rows(
            self.held_out, n, torch.Generator().manual_seed(derive_seed(seed, "held-out points"))
        )

    def _check(self, subset: str, x: Tensor, labels: Tensor) -> None:
        """Check labels and points before training.

        An invalid label would fail deep inside a step, and cross entropy silently ignores −100. A point that
        is not finite would look like a divergence of the method.
        """
        owner = f"The data set '{self.name}'"
        if not len(x) or len(x) != len(labels):
            raise SettingError(
                f"{owner} has {len(x) or 'no'} {subset} points and {len(labels)} labels for them."
            )
        if labels.dtype != torch.int64:
            raise SettingError(
                f"{owner}: {subset} labels must be int64, got {str(labels.dtype).removeprefix('torch.')}."
            )
        low, high = (int(end) for end in labels.aminmax())
        if low < 0 or high >= self.classes:
            raise SettingError(
                f"{owner} has {subset} labels from {low} to {high}; "
                f"its {self.classes} classes are 0 to {self.classes - 1}."
            )
        check_finite(x, self.name, subset)


class LabelledStream(Stream):
    """Batches in which every point has its label."""

    def __init__(self, split: Split, batch_size: int, seed: int) -> None:
        super().__init__(seed)
        self.split = split
        self.rows = EpochStream(
            torch.arange(len(split.train)), batch_size, derive_seed(seed, "labelled points")
        )

    def next_batch(self) -> LabelledBatch:
        rows = self.rows.next_batch()
        x = self.split.select_points(rows, self.rng)
        return LabelledBatch(x, x, self.split.train_labels.index_select(0, rows))

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "rows": self.rows.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self.rows.load_state_dict(state["rows"])


class SemiSupervisedStream(Stream):
    """Batches of all points without labels and of the labelled points, each with its own epochs.

    With 100 labels and batches of 64, a labelled epoch has one batch. With 20 labels, a labelled batch has 20
    points.
    """

    def __init__(self, split: Split, labelled_rows: Tensor, batch_size: int, seed: int) -> None:
        super().__init__(seed)
        self.split = split
        self.unlabelled = EpochStream(
            torch.arange(len(split.train)), batch_size, derive_seed(seed, "unlabelled points")
        )
        self.rows = EpochStream(
            labelled_rows, min(batch_size, len(labelled_rows)), derive_seed(seed, "labelled points")
        )

    def next_batch(self) -> LabelledBatch:
        rows = self.rows.next_batch()
        x = self.split.select_points(self.unlabelled.next_batch(), self.rng)
        return LabelledBatch(
            x, self.split.select_points(rows, self.rng), self.split.train_labels.index_select(0, rows)
        )

    def state_dict(self) -> dict[str, Any]:
        return {
            **super().state_dict(),
            "unlabelled": self.unlabelled.state_dict(),
            "rows": self.rows.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self.unlabelled.load_state_dict(state["unlabelled"])
        self.rows.load_state_dict(state["rows"])


def draw_permutation(n: int, seed: int) -> NDArray[np.intp]:
    """Return the numbers below n, permuted by numpy's legacy generator.

    That generator takes seeds of 32 bits; of a longer seed, the last 32 bits are used.
    """
    return np.random.RandomState(seed % 2**32).permutation(n)


def choose_labelled_rows(labels: Tensor, per_class: int | None, seed: int) -> Tensor | None:
    """Return the rows of the first `per_class` points of each class, in an order shuffled by the seed.

    Returns None (all rows) if `per_class` is None. A class with fewer points contributes all of them.
    """
    if per_class is None:
        return None
    order = draw_permutation(len(labels), seed)
    in_order = labels.numpy()[order]
    chosen = [order[np.flatnonzero(in_order == label)[:per_class]] for label in np.unique(in_order)]
    return torch.from_numpy(np.sort(np.concatenate(chosen)))

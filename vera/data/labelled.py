"""Labelled data: points with a class each, of which a method may see few labels or all.

A registered labelled data set is a *source*: what the files hold. A trial's seed makes a `Split` of it: which
points train, which of them show their label, which are held out. So a seed changes split, labelled subset and
initialisation together, as in the paper, and the fingerprint is one of the source alone.

Trap: labelled points stay in the unlabelled stream too; taking them out would show the model other data than
the paper's.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vera.data.contract import DataSet, Stream
from vera.data.epochs import EpochStream, choose_rows
from vera.data.finite import refuse_unfinite
from vera.errors import SettingError
from vera.training.random_state import derive_seed


@dataclass(frozen=True)
class LabelledBatch:
    """Points to model, and labelled points to classify. Where every point shows its label, `labelled` is `x`
    itself."""

    x: Tensor
    labelled: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.x)

    @property
    def shared(self) -> bool:
        return self.labelled is self.x

    def to(self, device: torch.device, dtype: torch.dtype, non_blocking: bool = False) -> "LabelledBatch":
        """On the device; points in the networks' type, labels as the integers they are."""
        x = self.x.to(device, dtype, non_blocking=non_blocking)
        labelled = x if self.shared else self.labelled.to(device, dtype, non_blocking=non_blocking)
        return replace(self, x=x, labelled=labelled, labels=self.labels.to(device, non_blocking=non_blocking))


class LabelledData(ABC):
    """A source of labelled points; `split` makes of it what one trial trains and is judged on."""

    name: str
    data_dim: int
    classes: int
    side: int | None = None
    """Of a square image in [−1, 1], where a point is one; grey and flat, unless `channels` says otherwise."""
    channels: int | None = None
    """Of an image that is kept as one, (channels, side, side)."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A short hash of the content and its preprocessing; never of paths."""

    @abstractmethod
    def split(self, seed: int) -> "Split": ...


class SplitFacts(NamedTuple):
    """What Table 8 says of a data set; the share is that of the most frequent class among training points, in
    percent."""

    features: int
    examples: int
    classes: int
    largest_class: float


class Split(DataSet):
    """Training points of which some show their labels, and held-out points with theirs; points are float32,
    labels int64.

    `shown` are the rows of the training points whose label a method may see; None stands for all of them.
    """

    def __init__(
        self,
        source: LabelledData,
        train: tuple[Tensor, Tensor],
        held_out: tuple[Tensor, Tensor],
        shown: Tensor | None,
    ) -> None:
        self.name, self.data_dim, self.classes = source.name, source.data_dim, source.classes
        self.side, self.channels = source.side, source.channels
        self.source = source
        self.train, self.train_labels = train
        self.held_out, self.held_out_labels = held_out
        self.shown = shown
        if shown is not None and not len(shown):
            raise SettingError(f"The data set '{self.name}' shows no label at all; a classifier needs some.")
        self._check("training", *train)
        self._check("held-out", *held_out)

    @property
    def fingerprint(self) -> str:
        return self.source.fingerprint

    @cached_property
    def majority_share(self) -> float:
        """Of the most frequent class among held-out points: the accuracy of a model that says nothing
        else."""
        return float(self.held_out_labels.bincount(minlength=self.classes).max()) / len(self.held_out_labels)

    @property
    def facts(self) -> SplitFacts:
        largest = int(self.train_labels.bincount(minlength=self.classes).max())
        return SplitFacts(self.data_dim, len(self.train), self.classes, 100 * largest / len(self.train))

    def points(self, rows: Tensor, rng: torch.Generator) -> Tensor:
        """These training points as a batch shows them; what is random about that (augmentation) is drawn from
        `rng`."""
        return self.train.index_select(0, rows)

    def stream(self, batch_size: int, seed: int) -> Stream:
        return (
            LabelledStream(self, batch_size, seed)
            if self.shown is None
            else TwoStreams(self, self.shown, batch_size, seed)
        )

    def test_points(self, seed: int, n: int | None = None) -> Tensor:
        return choose_rows(
            self.held_out, n, torch.Generator().manual_seed(derive_seed(seed, "held-out points"))
        )

    def _check(self, part: str, x: Tensor, labels: Tensor) -> None:
        """A label that is no class would be an error deep inside a step, and −100 would be passed over in
        silence; a point that is not finite would seem to be the method's fault."""
        owner = f"The data set '{self.name}'"
        if not len(x) or len(x) != len(labels):
            raise SettingError(
                f"{owner} has {len(x) or 'no'} {part} points and {len(labels)} labels for them."
            )
        if labels.dtype != torch.int64:
            raise SettingError(
                f"{owner}: {part} labels must be int64, got {str(labels.dtype).removeprefix('torch.')}."
            )
        low, high = (int(end) for end in labels.aminmax())
        if low < 0 or high >= self.classes:
            raise SettingError(
                f"{owner} has {part} labels from {low} to {high}; its {self.classes} classes are 0 to {self.classes - 1}."
            )
        refuse_unfinite(x, self.name, part)


class LabelledStream(Stream):
    """Every point shows its label."""

    def __init__(self, split: Split, batch_size: int, seed: int) -> None:
        super().__init__(seed)
        self.split = split
        self.rows = EpochStream(
            torch.arange(len(split.train)), batch_size, derive_seed(seed, "labelled points")
        )

    def next_batch(self) -> LabelledBatch:
        rows = self.rows.next_batch()
        x = self.split.points(rows, self.rng)
        return LabelledBatch(x, x, self.split.train_labels.index_select(0, rows))

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "rows": self.rows.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self.rows.load_state_dict(state["rows"])


class TwoStreams(Stream):
    """All points without their labels, and beside them the few labelled ones, each in epochs of its own.

    With 100 labels a batch of 64 is all there is in a labelled epoch; with 20 labels a batch has 20.
    """

    def __init__(self, split: Split, shown: Tensor, batch_size: int, seed: int) -> None:
        super().__init__(seed)
        self.split = split
        self.unlabelled = EpochStream(
            torch.arange(len(split.train)), batch_size, derive_seed(seed, "unlabelled points")
        )
        self.rows = EpochStream(shown, min(batch_size, len(shown)), derive_seed(seed, "labelled points"))

    def next_batch(self) -> LabelledBatch:
        rows = self.rows.next_batch()
        x = self.split.points(self.unlabelled.next_batch(), self.rng)
        return LabelledBatch(
            x, self.split.points(rows, self.rng), self.split.train_labels.index_select(0, rows)
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


def shuffled(n: int, seed: int) -> NDArray[np.intp]:
    """The numbers below n in the order of numpy's classic generator, which takes seeds of 32 bits: of a
    longer one the last 32."""
    return np.random.RandomState(seed % 2**32).permutation(n)


def first_of_each_class(labels: Tensor, per_class: int | None, seed: int) -> Tensor | None:
    """Rows of the first `per_class` of each class in an order shuffled by the seed; None (all rows) for None.

    A class with fewer points shows all of them.
    """
    if per_class is None:
        return None
    order = shuffled(len(labels), seed)
    in_order = labels.numpy()[order]
    chosen = [order[np.flatnonzero(in_order == label)[:per_class]] for label in np.unique(in_order)]
    return torch.from_numpy(np.sort(np.concatenate(chosen)))

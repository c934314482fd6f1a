"""Tables: rows of numbers with a class each, standardised by the training rows, with some rows held out.

The paper's code inherited a rule for choosing features: a feature is dropped if its *smallest value* occurs
more than five times, which indicates that it is not continuous. Trap: the rule must be applied to the numbers
as published. In single precision two different values can become equal, and HUMAN would lose 2 of its 523
features.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vera.data.labelled import LabelledData, Split, choose_labelled_rows, draw_permutation
from vera.errors import DataCorrupt

Floats = NDArray[np.floating[Any]]
Rows = slice | NDArray[np.intp]
BLOCK = 5_000
"""Rows per block, for parsing and for computing moments."""
REPEATS = 5
"""Maximum number of times that the smallest value of a continuous feature occurs."""


@dataclass(frozen=True)
class TableContent:
    """Features as published, and classes numbered from 0."""

    x: Floats
    labels: NDArray[np.int64]


class LabelledTable(LabelledData):
    """A table, with the rules for splitting and scaling it."""

    labels_per_class: int | None

    @abstractmethod
    def read_table(self) -> TableContent: ...

    @abstractmethod
    def split_rows(self, n: int, seed: int) -> tuple[Rows, Rows]:
        """Return the training rows and the held-out rows among n rows."""

    def compute_scale(self, train: Floats) -> tuple[Floats, Floats]:
        """Return the centre and the width of each feature; a scaled feature is (x - centre) / width."""
        return compute_moments(train)

    def split(self, seed: int) -> Split:
        table = self.read_table()
        (train, train_labels), (held_out, held_out_labels) = (
            (table.x[rows], torch.from_numpy(table.labels[rows].copy()))
            for rows in self.split_rows(len(table.labels), seed)
        )
        centre, width = self.compute_scale(train)
        labelled_rows = choose_labelled_rows(train_labels, self.labels_per_class, seed)
        split = Split(
            self,
            (scale_points(train, centre, width), train_labels),
            (scale_points(held_out, centre, width), held_out_labels),
            labelled_rows,
        )
        split.scale = (torch.tensor(centre).double(), torch.tensor(width).double())
        return split


def hold_out_last(n: int, share: float, seed: int) -> tuple[Rows, Rows]:
    """Shuffle n rows and return all but the last share of them, and the last share."""
    order, held_out = draw_permutation(n, seed), int(share * n)
    return order[: n - held_out], order[n - held_out :]


def compute_moments(x: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation (ddof 0) of each column in double precision.

    The deviation of a constant column is returned as 1.
    """
    mean = sum(block.sum(0, dtype=np.float64) for block in _iterate_blocks(x)) / len(x)
    variance = sum(np.square(block - mean).sum(0) for block in _iterate_blocks(x)) / len(x)
    constant = np.logical_and.reduce([(block == x[0]).all(0) for block in _iterate_blocks(x)])
    return mean, np.where(constant, 1.0, np.sqrt(variance))


def scale_points(x: NDArray[Any], centre: Floats, width: Floats) -> Tensor:
    """Return (x − centre) / width in single precision, computed in double precision block by block."""
    scaled = np.empty(x.shape, np.float32)
    for block, target in zip(_iterate_blocks(x), _iterate_blocks(scaled), strict=True):
        target[:] = (block - centre) / width
    return torch.from_numpy(scaled)


def _iterate_blocks(x: NDArray[Any]) -> Iterator[NDArray[Any]]:
    return (x[start : start + BLOCK] for start in range(0, len(x), BLOCK))


def parse_blocks(lines: Iterable[str], delimiter: str | None, where: str) -> Iterator[NDArray[np.float64]]:
    """Yield lines of numbers as arrays, `BLOCK` rows at a time; `where` names the file in an error."""
    lines, columns = iter(lines), None
    try:
        while block := list(islice(lines, BLOCK)):
            rows = np.loadtxt(block, delimiter=delimiter, comments=None, ndmin=2)
            if not np.isfinite(rows).all() or rows.shape[1] != (columns or rows.shape[1]):
                raise ValueError("a value is not finite, or rows differ in length")
            columns = rows.shape[1]
            yield rows
        if columns is None:
            raise ValueError("it has no rows")
    except ValueError as error:
        raise DataCorrupt(f"{where} is not a table of numbers ({error}).") from error


def drop_repeated_features(blocks: Iterable[NDArray[np.float64]], exempt: int = 0) -> NDArray[np.float32]:
    """Return all rows in single precision, without the features whose smallest value repeats.

    The first `exempt` columns are always kept.
    """
    smallest, rows = SmallestValues(), []
    for block in blocks:
        smallest.update(block)
        rows.append(block.astype(np.float32))
    keep = smallest.counts <= REPEATS
    keep[:exempt] = True
    table = np.empty((sum(map(len, rows)), int(keep.sum())), np.float32)
    end = len(table)
    while rows:  # from the end, so that each block is freed after it has been copied
        kept = rows.pop()[:, keep]
        table[end - len(kept) : end] = kept
        end -= len(kept)
    return table


class SmallestValues:
    """The smallest value of each column so far, and the number of its occurrences."""

    def __init__(self) -> None:
        self.values: NDArray[np.float64] = np.array(np.inf)
        self.counts: NDArray[np.intp] = np.array(0)

    def update(self, block: NDArray[np.float64]) -> None:
        values = block.min(0)
        counts = (block == values).sum(0)
        self.counts = np.where(
            values > self.values, self.counts, counts + np.where(values == self.values, self.counts, 0)
        )
        self.values = np.minimum(values, self.values)

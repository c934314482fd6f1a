"""Tables: rows of numbers with a class each, standardised by what is trained on, a few rows held out.

The rule that the paper's code inherited for choosing features: a feature goes if its *smallest value* occurs
more than five times, a sign that it is not continuous. Trap: it has to be judged on the numbers as they were
published. In single precision two different values can become one, and HUMAN would lose 2 of its 523
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

from vera.data.labelled import LabelledData, Split, choose_labelled_rows, shuffle_rows
from vera.errors import DataCorrupt

Floats = NDArray[np.floating[Any]]
Rows = slice | NDArray[np.intp]
BLOCK = 5_000
"""Rows that are parsed or computed with at a time."""
REPEATS = 5


@dataclass(frozen=True)
class TableContent:
    """Features as they were published, and classes counted from 0."""

    x: Floats
    labels: NDArray[np.int64]


class LabelledTable(LabelledData):
    """A table, and how it is cut and scaled."""

    labels_per_class: int | None

    @abstractmethod
    def read_table(self) -> TableContent: ...

    @abstractmethod
    def split_rows(self, n: int, seed: int) -> tuple[Rows, Rows]:
        """Which of n rows train, and which are held out."""

    def scale(self, train: Floats) -> tuple[Floats, Floats]:
        """What is subtracted from each feature, and what it is then divided by."""
        return compute_moments(train)

    def split(self, seed: int) -> Split:
        table = self.read_table()
        parts = self.split_rows(len(table.labels), seed)
        (train, train_labels), (held_out, held_out_labels) = (
            (table.x[rows], _labels(table.labels[rows])) for rows in parts
        )
        centre, width = self.scale(train)
        labelled_rows = choose_labelled_rows(train_labels, self.labels_per_class, seed)
        return Split(
            self,
            (_scaled(train, centre, width), train_labels),
            (_scaled(held_out, centre, width), held_out_labels),
            labelled_rows,
        )


def hold_out_last(n: int, share: float, seed: int) -> tuple[Rows, Rows]:
    """n rows, shuffled; the last of them are held out."""
    order, held_out = shuffle_rows(n, seed), int(share * n)
    return order[: n - held_out], order[n - held_out :]


def compute_moments(x: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation (ddof 0) of each column in double precision; 1 in place of the deviation of
    a constant."""
    mean = sum(block.sum(0, dtype=np.float64) for block in _blocks(x)) / len(x)
    variance = sum(np.square(block - mean).sum(0) for block in _blocks(x)) / len(x)
    constant = np.logical_and.reduce([(block == x[0]).all(0) for block in _blocks(x)])
    return mean, np.where(constant, 1.0, np.sqrt(variance))


def _scaled(x: Floats, centre: Floats, width: Floats) -> Tensor:
    scaled = np.empty(x.shape, np.float32)
    for block, target in zip(_blocks(x), _blocks(scaled), strict=True):
        target[:] = (block - centre) / width
    return torch.from_numpy(scaled)


def _labels(labels: NDArray[np.int64]) -> Tensor:
    return torch.from_numpy(labels.copy())


def _blocks(x: Floats) -> Iterator[Floats]:
    return (x[start : start + BLOCK] for start in range(0, len(x), BLOCK))


def parse_blocks(lines: Iterable[str], delimiter: str | None, where: str) -> Iterator[NDArray[np.float64]]:
    """Lines of numbers, some thousand at a time; `where` names the file if a line is not what the first one
    was."""
    lines, columns = iter(lines), None
    try:
        while block := list(islice(lines, BLOCK)):
            rows = np.loadtxt(block, delimiter=delimiter, comments=None, ndmin=2)
            if not np.isfinite(rows).all() or rows.shape[1] != (columns or rows.shape[1]):
                raise ValueError("a value is not finite, or a row is longer or shorter than the first")
            columns = rows.shape[1]
            yield rows
        if columns is None:
            raise ValueError("it has no rows")
    except ValueError as error:
        raise DataCorrupt(f"{where} is not a table of numbers ({error}).") from error


def drop_repeated_features(blocks: Iterable[NDArray[np.float64]], exempt: int = 0) -> NDArray[np.float32]:
    """All rows in single precision without the features whose smallest value repeats; the first `exempt`
    columns stay."""
    smallest, rows = SmallestValues(), []
    for block in blocks:
        smallest.update(block)
        rows.append(block.astype(np.float32))
    keep = smallest.counts <= REPEATS
    keep[:exempt] = True
    table = np.empty((sum(map(len, rows)), int(keep.sum())), np.float32)
    end = len(table)
    while rows:  # from the back, so that each block is freed as it is copied
        part = rows.pop()[:, keep]
        table[end - len(part) : end] = part
        end -= len(part)
    return table


class SmallestValues:
    """Each column's smallest value so far, and how often it has occurred."""

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

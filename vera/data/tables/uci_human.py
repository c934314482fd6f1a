"""HUMAN: activities of people who carry a smartphone (UCI 240), 561 features of which the paper keeps 523,
six activities.

Only the official training file is used: rows are shuffled by the seed of the trial, the last tenth is held
out, and the other rows train and define the standardisation. Trap: there is a copy of the file in which
columns 266 to 561 were recomputed from the inertial signals. It can be used, but it is not the published
data, so results on it carry another name.
"""

from functools import cached_property
from io import TextIOWrapper
from pathlib import Path

import numpy as np

from vera.data.files import uci_archive
from vera.data.files.archives import open_content
from vera.data.files.locations import DataDir
from vera.data.files.npy_cache import Array
from vera.data.tables.contract import Rows, drop_repeated_features, hold_out_last, parse_blocks
from vera.data.tables.uci_table import PublishedCounts, UCITable
from vera.errors import DataCorrupt
from vera.spec.registry import datasets
from vera.spec.settings import Count, validate_arguments

RECOMPUTED = "4db4bed1dcb041af854e2da79d43074426d447a1d1256ae0fa051ce22a915ba0"
FEATURES, LABELS = uci_archive.HUMAN.members


@datasets.register("human")
class Human(UCITable):
    """Smartphone activity recognition (UCI 240): 523 features, 6,617 train and 735 held-out rows, 6
    classes."""

    classes = 6
    file = uci_archive.HUMAN
    official = PublishedCounts(rows=7_352, features=523, examples=6_617)

    @validate_arguments
    def __init__(self, data_dir: DataDir = None, labels_per_class: Count | None = 10) -> None:
        super().__init__(data_dir, labels_per_class)

    @cached_property
    def name(self) -> str:  # type: ignore[override]  # computed on first access
        return "human (columns 266–561 recomputed)" if self.checksum == RECOMPUTED else "human"

    def split_rows(self, n: int, seed: int) -> tuple[Rows, Rows]:
        return hold_out_last(n, 0.1, seed)

    @classmethod
    def read(cls, path: Path, remedy: str) -> Array:
        with open_content(path, FEATURES, remedy) as stream:
            x = drop_repeated_features(
                parse_blocks(TextIOWrapper(stream, "ascii"), None, f"{FEATURES} in {path}")
            )
        with open_content(path, LABELS, remedy) as stream:
            labels = np.concatenate(
                list(parse_blocks(TextIOWrapper(stream, "ascii"), None, f"{LABELS} in {path}"))
            )
        if labels.shape != (len(x), 1):
            raise DataCorrupt(
                f"{path} has {len(x)} rows of features and labels of shape {labels.shape}. {remedy}"
            )
        return np.column_stack([labels.astype(np.float32) - 1, x])

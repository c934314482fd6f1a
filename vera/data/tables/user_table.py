"""A user's table: one file with a column of classes, and numbers in all other columns.

Rows are shuffled by the seed of the trial and the last ones are held out. By default, features are
standardised by the training rows. Constant columns are dropped. Classes are numbered in sorted order. A value
that is missing or not finite is an error that names it, because only the user can decide how to fill it in.

Trap: the name of the file is part of a trial, but its location is not. `file` is therefore relative to the
data directory.
"""

import os
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from vera.data.contract import compute_fingerprint
from vera.data.files.checksums import ABSENT, compute_sha256
from vera.data.files.locations import DataDir, resolve_data_dir
from vera.data.labelled import Split
from vera.data.tables.contract import Floats, LabelledTable, Rows, TableContent, hold_out_last
from vera.errors import DataCorrupt, DataMissing, SettingError
from vera.spec.settings import Bound, Count, validate_arguments

File = Annotated[str, "the table's file, relative to the data directory"]
Label = Annotated[str, "the column that holds the class"]
LabelsPerClass = Annotated[Count | None, "labelled points per class; None for all"]
Share = Annotated[float, Bound(0, strict=True, below=1), "share of the rows to hold out"]
Standardise = Annotated[bool, "scale features to mean 0 and deviation 1"]

LISTED = 30
"""Maximum number of columns listed in an error."""


@dataclass(frozen=True)
class ParsedColumns:
    """A parsed table: feature names, values, the class of each row, and a function that names a row in
    errors."""

    names: list[str]
    x: NDArray[np.float64]
    labels: Sequence[str] | Sequence[int]
    describe_row: Callable[[int], str]


@dataclass(frozen=True)
class UserTableContent:
    """The content of a table after validation."""

    table: TableContent
    features: tuple[str, ...]
    class_names: tuple[str, ...]


class UserTable(LabelledTable):
    """A table in a user's file; read at the first access to its content."""

    version: ClassVar[int] = 1
    form: ClassVar[str]

    @validate_arguments
    def __init__(
        self,
        file: File,
        label: Label,
        data_dir: DataDir = None,
        labels_per_class: LabelsPerClass = 10,
        held_out: Share = 0.1,
        standardise: Standardise = True,
    ) -> None:
        if not file or Path(file).is_absolute() or ".." in Path(file).parts:
            raise SettingError(
                f"file must be a path below the data directory and relative to it, got {file!r}."
            )
        self.path = resolve_data_dir(data_dir) / file
        self.label, self.held_out, self.standardise = label, held_out, standardise
        self.labels_per_class = labels_per_class
        self.name = Path(file).stem

    @classmethod
    @abstractmethod
    def read(cls, path: Path, label: str) -> ParsedColumns: ...

    @cached_property
    def fingerprint(self) -> str:
        checksum = compute_sha256(self.path) if os.path.isfile(self.path) else ABSENT
        return compute_fingerprint(
            form=self.form, version=self.version, label=self.label, held_out=self.held_out,
            standardise=self.standardise, files={"table": checksum},
        )  # fmt: skip

    @property
    def content(self) -> UserTableContent:
        if not os.path.isfile(self.path):  # unlike Path.is_file, False for an unreadable folder
            raise DataMissing(
                f"There is no file {self.path}. "
                f"Set the directory that contains {self.path.name} with --data-dir DIR or VERA_DATA."
            )
        return _load_content(type(self), self.path, self.label, compute_sha256(self.path))

    @cached_property
    def data_dim(self) -> int:  # type: ignore[override]  # computed on first access
        return len(self.content.features)

    @cached_property
    def classes(self) -> int:  # type: ignore[override]
        return len(self.content.class_names)

    @property
    def class_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.content.class_names

    @property
    def feature_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.content.features

    def read_table(self) -> TableContent:
        return self.content.table

    def split_rows(self, n: int, seed: int) -> tuple[Rows, Rows]:
        return hold_out_last(n, self.held_out, seed)

    def compute_scale(self, train: Floats) -> tuple[Floats, Floats]:
        if self.standardise:
            return super().compute_scale(train)
        return np.zeros(self.data_dim), np.ones(self.data_dim)

    def split(self, seed: int) -> Split:
        rows = len(self.read_table().labels)
        if not 0 < int(self.held_out * rows) < rows:
            raise SettingError(
                f"{self.path} has {rows} rows, too few to hold out a share of {self.held_out:g}."
            )
        return super().split(seed)


def find_label_column(columns: Sequence[str], label: str, path: Path) -> int:
    """Return the index of the label column, after `check_column_names`."""
    check_column_names(columns, path)
    if label not in columns:
        names = ", ".join(columns[:LISTED]) + (", …" if len(columns) > LISTED else "")
        raise SettingError(
            f"{path} has no column '{label}' for the class. Its first row names the columns: {names}."
        )
    return columns.index(label)


def check_column_names(columns: Sequence[str], path: Path) -> None:
    """Raise an error if there are no columns, if names repeat, or if a column has no name (such as the index
    that pandas writes)."""
    twice = [name for name, times in Counter(columns).items() if times > 1]
    if twice:
        named = ", ".join(map(repr, twice[:LISTED]))
        raise DataCorrupt(
            f"{path} has repeated column names in its header: {named}. Rename or drop one of each."
        )
    if any(not name or name.startswith("__index_level_") for name in columns):
        raise DataCorrupt(
            f"{path} has a column without a name. If it is a pandas index, write the file with index=False."
        )
    if not columns:
        raise DataCorrupt(f"{path} is empty. The first row must name the columns.")


@lru_cache(maxsize=2)
def _load_content(kind: type[UserTable], path: Path, label: str, checksum: str) -> UserTableContent:
    """Return the validated content of a table; cached per process."""
    columns = kind.read(path, label)
    if not len(columns.x):
        raise DataCorrupt(f"{path} has no rows after the column names. Write one row per point.")
    if not columns.x.shape[1]:
        raise DataCorrupt(f"{path} has no column except '{label}'. Add columns of features.")
    check_values(columns, path)
    varies = (columns.x != columns.x[0]).any(0)
    if not varies.any():
        raise DataCorrupt(f"{path} has only constant features. Add columns that differ between rows.")
    class_names, labels, sizes = np.unique(np.array(columns.labels), return_inverse=True, return_counts=True)
    if len(class_names) < 2:
        raise DataCorrupt(f"{path} has only one class in its column '{label}': {class_names[0]}.")
    if (single := int((sizes == 1).sum())) > len(sizes) / 2:
        raise DataCorrupt(
            f"{path} has {len(sizes)} classes in its column '{label}', {single} of them with a single row. "
            "Choose the column that holds the class, or merge such rows into one class."
        )
    features = tuple(name for name, keep in zip(columns.names, varies, strict=True) if keep)
    return UserTableContent(
        TableContent(columns.x[:, varies], labels.astype(np.int64)), features, tuple(map(str, class_names))
    )


def check_values(columns: ParsedColumns, path: Path) -> None:
    """Raise `DataCorrupt` unless all values are finite in single precision, the precision of the networks."""
    wrong = ~(np.abs(columns.x) <= np.finfo(np.float32).max)
    if wrong.any():
        row, column = (int(index) for index in np.argwhere(wrong)[0])
        value, name = columns.x[row, column], columns.names[column]
        raise DataCorrupt(
            f"{path}, column '{name}', {columns.describe_row(row)}: "
            f"{value:g} is not a finite number in single precision. Fill it in, or drop its row or column."
        )

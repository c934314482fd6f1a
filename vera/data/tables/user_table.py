"""A user's own table: one file, one column that holds the class, numbers in all others.

Rows are shuffled by the trial's seed and the last ones held out; features are standardised by those that
train, unless told otherwise. A column that is the same in every row says nothing and is dropped. Classes are
counted in sorted order. A value that is missing or not finite is refused and named: filling it in is a
decision about the data, and the user's.

Trap: the file's name is part of a trial and its place is not, so `file` is given relative to the data
directory.
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
from vera.spec.settings import Bound, Count

File = Annotated[str, "the table's file, relative to the data directory"]
Label = Annotated[str, "the column that holds the class"]
LabelsPerClass = Annotated[Count | None, "labels that are shown of each class, all for None"]
Share = Annotated[float, Bound(0, strict=True, below=1), "share of the rows that is held out"]
Standardise = Annotated[bool, "scale features to mean 0 and deviation 1"]

LISTED = 30
"""ParsedColumns that an error names at most."""


@dataclass(frozen=True)
class ParsedColumns:
    """A table as it was read: names of features, their values, the class of each row, and how to name a row
    in an error."""

    names: list[str]
    x: NDArray[np.float64]
    labels: Sequence[str] | Sequence[int]
    place: Callable[[int], str]


@dataclass(frozen=True)
class UserTableContent:
    """What a table holds once it has been looked through."""

    table: TableContent
    features: tuple[str, ...]
    class_names: tuple[str, ...]


class UserTable(LabelledTable):
    """A table in a file of the user's; nothing is read before its content is asked for."""

    version: ClassVar[int] = 1
    form: ClassVar[str]

    def __init__(
        self,
        file: str,
        label: str,
        data_dir: DataDir,
        labels_per_class: int | None,
        held_out: float,
        standardise: bool,
    ) -> None:
        if not file or Path(file).is_absolute() or ".." in Path(file).parts:
            raise SettingError(
                f"file must lie under the data directory and be named relative to it, got {file!r}."
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
        if not os.path.isfile(self.path):  # unlike Path.is_file, False for a folder that may not be entered
            raise DataMissing(
                f"There is no file {self.path}; name the directory that holds {self.path.name} with --data-dir DIR or VERA_DATA."
            )
        return _content(type(self), self.path, self.label, compute_sha256(self.path))

    @cached_property
    def data_dim(self) -> int:  # type: ignore[override]  # found out when it is asked for, then an attribute as any other
        return len(self.content.features)

    @cached_property
    def classes(self) -> int:  # type: ignore[override]
        return len(self.content.class_names)

    def read_table(self) -> TableContent:
        return self.content.table

    def split_rows(self, n: int, seed: int) -> tuple[Rows, Rows]:
        return hold_out_last(n, self.held_out, seed)

    def scale(self, train: Floats) -> tuple[Floats, Floats]:
        return super().scale(train) if self.standardise else (np.zeros(self.data_dim), np.ones(self.data_dim))

    def split(self, seed: int) -> Split:
        rows = len(self.read_table().labels)
        if not 0 < int(self.held_out * rows) < rows:
            raise SettingError(
                f"{self.path} has {rows} rows: too few to hold out a share of {self.held_out:g} of them."
            )
        return super().split(seed)


def find_label_column(columns: Sequence[str], label: str, path: Path) -> int:
    """Where the label's column is; every column has a name of its own, and none is pandas' index, which
    numbers the rows."""
    twice = [name for name, times in Counter(columns).items() if times > 1]
    if twice:
        named = ", ".join(map(repr, twice[:LISTED]))
        raise DataCorrupt(
            f"{path} names a column twice in its header: {named}. Rename one of the two, or leave it out."
        )
    if any(not name or name.startswith("__index_level_") for name in columns):
        raise DataCorrupt(
            f"{path} has a column without a name; if pandas wrote its index there, write the file with index=False."
        )
    if not columns:
        raise DataCorrupt(f"{path} is empty. Its first row must name the columns.")
    if label not in columns:
        names = ", ".join(columns[:LISTED]) + (", …" if len(columns) > LISTED else "")
        raise SettingError(
            f"{path} has no column '{label}' to take the class from. Its first row names the columns: {names}."
        )
    return columns.index(label)


@lru_cache(maxsize=2)
def _content(kind: type[UserTable], path: Path, label: str, checksum: str) -> UserTableContent:
    """A table's content, once in a process, and looked through."""
    columns = kind.read(path, label)
    if not len(columns.x):
        raise DataCorrupt(
            f"{path} has no rows: it names its columns and nothing follows. Write a row for each point."
        )
    if not columns.x.shape[1]:
        raise DataCorrupt(f"{path} has no column but '{label}': there is nothing to tell its classes by.")
    _check_values(columns, path)
    varies = (columns.x != columns.x[0]).any(0)
    if not varies.any():
        raise DataCorrupt(f"{path} has no feature that differs between rows.")
    class_names, labels, sizes = np.unique(np.array(columns.labels), return_inverse=True, return_counts=True)
    if len(class_names) < 2:
        raise DataCorrupt(f"{path} has one class only in its column '{label}': {class_names[0]}.")
    if (single := int((sizes == 1).sum())) > len(sizes) / 2:
        raise DataCorrupt(
            f"{path} has {len(sizes)} classes in its column '{label}', {single} of them with a single row: nothing can be "
            "learnt of those. Name the column that holds the class, or put such rows into one class."
        )
    features = tuple(name for name, keep in zip(columns.names, varies, strict=True) if keep)
    return UserTableContent(
        TableContent(columns.x[:, varies], labels.astype(np.int64)), features, tuple(map(str, class_names))
    )


def _check_values(columns: ParsedColumns, path: Path) -> None:
    """All values must be finite in single precision, which the networks compute in."""
    wrong = ~(np.abs(columns.x) <= np.finfo(np.float32).max)
    if wrong.any():
        row, column = (int(index) for index in np.argwhere(wrong)[0])
        value, name = columns.x[row, column], columns.names[column]
        raise DataCorrupt(
            f"{path}, column '{name}', {columns.place(row)}: {value:g} is not a finite number in single precision. "
            "Fill it in, or leave the row or the column out."
        )

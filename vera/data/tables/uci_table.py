"""Tables from the UCI archive: read once, then opened from their converted form (see
vera/data/files/npy_cache.py).

A table that has not the rows and features which the paper counts (Table 8) is refused: another number means
another file, or another reading of it. The checksum in its fingerprint is the published one, where no other
content can be read, else that of the file. Trap: where the converted form is opened, the file itself is not
looked at; it was compared with its recorded checksum when it was converted, and `vera data check` compares it
again.
"""

from abc import abstractmethod
from functools import cached_property, lru_cache
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from vera.data.contract import compute_fingerprint
from vera.data.files.checksums import ABSENT, compare, identify
from vera.data.files.locations import DataDir
from vera.data.files.npy_cache import Array, converted
from vera.data.files.uci_archive import UCIFile
from vera.data.labelled import Split
from vera.data.tables.contract import LabelledTable, TableContent
from vera.errors import DataCorrupt, DataMissing


class PublishedCounts(NamedTuple):
    """Rows of the published file, features that are kept of it, and examples that train (Table 8)."""

    rows: int
    features: int
    examples: int


class UCITable(LabelledTable):
    """A file of the archive as the paper read it; nothing is read before the first split."""

    version: ClassVar[int] = 1
    file: ClassVar[UCIFile]
    official: ClassVar[PublishedCounts]

    def __init__(self, data_dir: DataDir, labels_per_class: int | None) -> None:
        self.data_dir, self.labels_per_class = data_dir, labels_per_class
        self.data_dim = self.official.features

    @classmethod
    @abstractmethod
    def read(cls, path: Path, remedy: str) -> Array:
        """The label, counted from 0, and the features that are kept, row by row; `remedy` for a file that is
        wrong."""

    @classmethod
    def locate(cls, data_dir: DataDir = None) -> Path:
        """The folder of the file, or `DataMissing`."""
        return cls.file.find(data_dir).parent

    @cached_property
    def checksum(self) -> str:
        """Of the file, or the word that stands for a file which is not here."""
        try:
            return identify(self.file.find(self.data_dir))
        except DataMissing:
            return ABSENT

    @property
    def fingerprint(self) -> str:
        files = dict(self.file.published) or {self.file.name: self.checksum}
        return compute_fingerprint(form=self.file.source, version=self.version, files=files)

    def read_table(self) -> TableContent:
        path = self.file.find(self.data_dir)
        content = _content(type(self), path, identify(path), self.file.remedy(self.data_dir))
        return TableContent(content[:, 1:], content[:, 0].astype(np.int64))

    def split(self, seed: int) -> Split:
        split = super().split(seed)
        if len(split.train) != self.official.examples:
            raise DataCorrupt(
                f"{len(split.train)} rows of '{self.name}' train, Table 8 has {self.official.examples}."
            )
        return split


@lru_cache(maxsize=2)
def _content(kind: type[UCITable], path: Path, checksum: str, remedy: str) -> Array:
    """Label and features, once in a process; only what is right is kept converted."""

    def convert() -> Array:
        compare(path, remedy)
        if kind.file.published:
            kind.file.unpack(path, remedy)
        content = kind.read(path, remedy)
        _check(kind, content, path, remedy)
        return content

    return converted(path, checksum, kind.version, convert)


def _check(kind: type[UCITable], content: Array, path: Path, remedy: str) -> None:
    rows, features = content.shape[0], content.shape[1] - 1
    if (rows, features) != kind.official[:2]:
        raise DataCorrupt(
            f"{path} has {rows} rows, of whose features {features} are kept; "
            f"the published file has {kind.official.rows} and {kind.official.features}. {remedy}"
        )
    labels = np.unique(content[:, 0])
    if not np.array_equal(labels, np.arange(kind.classes)):
        raise DataCorrupt(
            f"{path} has the classes {', '.join(f'{label:g}' for label in labels)}, counted from 0. {remedy}"
        )

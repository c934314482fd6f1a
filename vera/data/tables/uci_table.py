"""Tables from the UCI archive: parsed once, then loaded from a .npy file (see vera/data/files/npy_cache.py).

A table must have the numbers of rows and features that the paper reports (Table 8); otherwise the file or its
interpretation is wrong. The fingerprint contains the published checksum if there is one (other content is
never read), otherwise the checksum of the file. Trap: when the .npy file is loaded, the original file is not
read. It was compared with its recorded checksum at conversion; `vera data check` compares it again.
"""

from abc import abstractmethod
from functools import cached_property, lru_cache
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from vera.data.contract import compute_fingerprint
from vera.data.files.checksums import ABSENT, compare_checksum, identify
from vera.data.files.locations import DataDir, format_remedy
from vera.data.files.npy_cache import Array, load_or_convert
from vera.data.files.uci_archive import UCIFile
from vera.data.labelled import Split
from vera.data.tables.contract import LabelledTable, TableContent
from vera.errors import DataCorrupt, DataMissing


class PublishedCounts(NamedTuple):
    """Rows of the published file, features kept of it, and training examples (Table 8)."""

    rows: int
    features: int
    examples: int


class UCITable(LabelledTable):
    """A file of the archive as the paper uses it; read at the first split."""

    version: ClassVar[int] = 1
    file: ClassVar[UCIFile]
    official: ClassVar[PublishedCounts]

    def __init__(self, data_dir: DataDir, labels_per_class: int | None) -> None:
        self.data_dir, self.labels_per_class = data_dir, labels_per_class
        self.data_dim = self.official.features

    @classmethod
    @abstractmethod
    def read(cls, path: Path, remedy: str) -> Array:
        """Return rows of the label, numbered from 0, and the kept features; `remedy` ends an error
        message."""

    @classmethod
    def locate(cls, data_dir: DataDir = None) -> Path:
        """Return the folder of the file, or raise `DataMissing`."""
        return cls.file.find(data_dir).parent

    @cached_property
    def checksum(self) -> str:
        """Checksum of the file, or `ABSENT` if there is no file."""
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
        remedy = format_remedy(self.file.source, self.data_dir)
        content = _load_content(type(self), path, identify(path), remedy)
        return TableContent(content[:, 1:], content[:, 0].astype(np.int64))

    def split(self, seed: int) -> Split:
        split = super().split(seed)
        if len(split.train) != self.official.examples:
            raise DataCorrupt(
                f"'{self.name}' has {len(split.train)} training rows, Table 8 has {self.official.examples}."
            )
        return split


@lru_cache(maxsize=2)
def _load_content(kind: type[UCITable], path: Path, checksum: str, remedy: str) -> Array:
    """Return labels and features, cached per process; only a valid table is saved as .npy."""

    def convert() -> Array:
        compare_checksum(path, remedy)
        if kind.file.published:
            kind.file.verify_members(path, remedy)
        content = kind.read(path, remedy)
        _check(kind, content, path, remedy)
        return content

    return load_or_convert(path, checksum, kind.version, convert)


def _check(kind: type[UCITable], content: Array, path: Path, remedy: str) -> None:
    rows, features = content.shape[0], content.shape[1] - 1
    if (rows, features) != kind.official[:2]:
        raise DataCorrupt(
            f"{path} has {rows} rows and {features} kept features; "
            f"the published file has {kind.official.rows} and {kind.official.features}. {remedy}"
        )
    labels = np.unique(content[:, 0])
    if not np.array_equal(labels, np.arange(kind.classes)):
        raise DataCorrupt(
            f"{path} has the classes {', '.join(f'{label:g}' for label in labels)} (numbered from 0); "
            f"expected 0 to {kind.classes - 1}. {remedy}"
        )

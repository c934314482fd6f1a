"""Small real tables, copies of those of scikit-learn: 8 × 8 digits, breast cancer, wine.

Rows are shuffled by the seed of the trial and the last fifth is held out. Digits are scaled to [-1, 1] and
remain images; the other tables are standardised.
"""

from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import ClassVar

import numpy as np

from vera.data.contract import compute_fingerprint
from vera.data.files.locations import EMBEDDED_REMEDY, DataDir, find_embedded_file, read_verified
from vera.data.tables.contract import Floats, LabelledTable, Rows, TableContent, hold_out_last
from vera.spec.registry import datasets
from vera.spec.settings import Count, validate_arguments


class EmbeddedTable(LabelledTable):
    """A csv file of this package with the class in the last column; read at the first split."""

    version: ClassVar[int] = 1
    file: ClassVar[str]
    sha256: ClassVar[str]
    """Checksum of the decompressed content."""
    header: ClassVar[int] = 1

    @validate_arguments
    def __init__(self, labels_per_class: Count | None = 10) -> None:
        self.labels_per_class = labels_per_class

    @property
    def fingerprint(self) -> str:
        return compute_fingerprint(form=self.name, version=self.version, files={self.file: self.sha256})

    def read_table(self) -> TableContent:
        return _read_table(self.file, self.sha256, self.header)

    def split_rows(self, n: int, seed: int) -> tuple[Rows, Rows]:
        return hold_out_last(n, 0.2, seed)

    @classmethod
    def locate(cls, data_dir: DataDir = None) -> Path:
        """Return the folder of the file, or raise `DataMissing`."""
        return find_embedded_file(cls.file).parent


@datasets.register("digits-table")
class DigitsTable(EmbeddedTable):
    """8 × 8 digits of scikit-learn as rows of 64 pixels: 1,438 train, 359 held out, 10 classes."""

    name, data_dim, classes, side = "digits-table", 64, 10, 8
    file, header = "digits.csv.gz", 0
    sha256 = "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8"

    def compute_scale(self, train: Floats) -> tuple[Floats, Floats]:
        return np.full(64, 8.0), np.full(64, 8.0)  # pixels are 0..16


@datasets.register("breast-cancer")
class BreastCancer(EmbeddedTable):
    """Breast cancer of scikit-learn, malignant or benign: 30 features, 456 train, 113 held out, 2 classes."""

    name, data_dim, classes = "breast-cancer", 30, 2
    file = "breast_cancer.csv"
    sha256 = "fed3eb72d0575ef6192293f5093c6e801b1476b577d0386bf4455504522172ed"


@datasets.register("wine")
class Wine(EmbeddedTable):
    """Wine of scikit-learn, three growers: 13 features, 143 train, 35 held out, 3 classes."""

    name, data_dim, classes = "wine", 13, 3
    file = "wine_data.csv"
    sha256 = "10e8a802908b34f86e5da8ce962f3c806694bc98450a18f61851af59f324bede"


@lru_cache(maxsize=4)
def _read_table(file: str, sha256: str, header: int) -> TableContent:
    content = read_verified(find_embedded_file(file), sha256, EMBEDDED_REMEDY)
    rows = np.loadtxt(BytesIO(content), delimiter=",", skiprows=header)
    return TableContent(rows[:, :-1], rows[:, -1].astype(np.int64))

"""Real tables that install with scikit-learn: 8 × 8 digits, breast cancer, wine. Small enough for a first try
of anything.

Rows are shuffled by the trial's seed and the last fifth is held out. Digits are scale_pixels to [-1, 1] and stay
images; the others are standardised. Trap: scikit-learn's files are read, its code is never imported, because
that takes longer than training on them.
"""

import importlib.util
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import ClassVar

import numpy as np

from vera.data.contract import compute_fingerprint
from vera.data.files.locations import DataDir, read_verified
from vera.data.tables.contract import Floats, LabelledTable, Rows, TableContent, hold_out_last
from vera.errors import DataMissing
from vera.spec.registry import datasets
from vera.spec.settings import Count, validated

REMEDY = "Install it with: pip install --force-reinstall --no-deps 'scikit-learn>=1.7,<2'"


class EmbeddedTable(LabelledTable):
    """A csv file inside scikit-learn, its class in the last column; read when first split."""

    version: ClassVar[int] = 1
    package: ClassVar[str] = "scikit-learn"
    file: ClassVar[str]
    sha256: ClassVar[str]
    """Of the content, unzipped."""
    header: ClassVar[int] = 1

    def __init__(self, labels_per_class: int | None) -> None:
        self.labels_per_class = labels_per_class

    @property
    def fingerprint(self) -> str:
        return compute_fingerprint(form=self.name, version=self.version, files={self.file: self.sha256})

    def read_table(self) -> TableContent:
        return _read(self.file, self.sha256, self.header)

    def split_rows(self, n: int, seed: int) -> tuple[Rows, Rows]:
        return hold_out_last(n, 0.2, seed)

    @classmethod
    def locate(cls, data_dir: DataDir = None) -> Path:
        """The folder of the file, or `DataMissing`; it lies in the installed package, not in the data
        directory."""
        return find_packaged(cls.file).parent


@datasets.register("digits-table")
class DigitsTable(EmbeddedTable):
    """8 × 8 digits of scikit-learn as rows of 64 pixels: 1,438 train, 359 held out, 10 classes."""

    name, data_dim, classes, side = "digits-table", 64, 10, 8
    file, header = "digits.csv.gz", 0
    sha256 = "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8"

    @validated
    def __init__(self, labels_per_class: Count | None = 10) -> None:
        super().__init__(labels_per_class)

    def scale(self, train: Floats) -> tuple[Floats, Floats]:
        return np.full(64, 8.0), np.full(64, 8.0)  # of pixels 0..16


@datasets.register("breast-cancer")
class BreastCancer(EmbeddedTable):
    """Breast cancer of scikit-learn, malignant or benign: 30 features, 456 train, 113 held out, 2 classes."""

    name, data_dim, classes = "breast-cancer", 30, 2
    file = "breast_cancer.csv"
    sha256 = "fed3eb72d0575ef6192293f5093c6e801b1476b577d0386bf4455504522172ed"

    @validated
    def __init__(self, labels_per_class: Count | None = 10) -> None:
        super().__init__(labels_per_class)


@datasets.register("wine")
class Wine(EmbeddedTable):
    """Wine of scikit-learn, three growers: 13 features, 143 train, 35 held out, 3 classes."""

    name, data_dim, classes = "wine", 13, 3
    file = "wine_data.csv"
    sha256 = "10e8a802908b34f86e5da8ce962f3c806694bc98450a18f61851af59f324bede"

    @validated
    def __init__(self, labels_per_class: Count | None = 10) -> None:
        super().__init__(labels_per_class)


def find_packaged(file: str) -> Path:
    """A data file inside scikit-learn."""
    spec = importlib.util.find_spec("sklearn")
    for package in (spec.submodule_search_locations or []) if spec else []:
        path = Path(package) / "datasets" / "data" / file
        if path.is_file():
            return path
    raise DataMissing(f"{file} is not there: it is part of the package scikit-learn. {REMEDY}")


@lru_cache(maxsize=4)
def _read(file: str, sha256: str, header: int) -> TableContent:
    content = read_verified(find_packaged(file), sha256, REMEDY)
    rows = np.loadtxt(BytesIO(content), delimiter=",", skiprows=header)
    return TableContent(rows[:, :-1], rows[:, -1].astype(np.int64))

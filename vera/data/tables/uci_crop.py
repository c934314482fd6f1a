"""CROP: crops on fields near Winnipeg, from radar and optical images of two days (UCI 525), 174 features,
seven crops.

All rows are shuffled by the seed of the trial. The last tenth is a test set that the paper does not use, the
last tenth of the rest is held out, and the remaining rows train and define the standardisation. The paper's
code drops a feature whose covariance with another standardised feature exceeds 1.01 in absolute value; none
does, so all 174 are kept. Trap: the unused test set must still be excluded, otherwise there are more than the
263,926 training examples of Table 8.
"""

from io import TextIOWrapper
from pathlib import Path

import numpy as np

from vera.data.files import uci_archive
from vera.data.files.archives import open_content
from vera.data.files.locations import DataDir
from vera.data.files.npy_cache import Array
from vera.data.labelled import draw_permutation
from vera.data.tables.contract import Rows, parse_blocks
from vera.data.tables.uci_table import PublishedCounts, UCITable
from vera.errors import DataCorrupt
from vera.spec.registry import datasets
from vera.spec.settings import Count, validate_arguments

(MEMBER,) = uci_archive.CROP.members


@datasets.register("crop")
class Crop(UCITable):
    """Crop mapping from radar and optical images (UCI 525): 174 features, 263,926 train and 29,325 held-out
    rows, 7 classes."""

    name = "crop"
    classes = 7
    file = uci_archive.CROP
    official = PublishedCounts(rows=325_834, features=174, examples=263_926)

    @validate_arguments
    def __init__(self, data_dir: DataDir = None, labels_per_class: Count | None = 10) -> None:
        super().__init__(data_dir, labels_per_class)

    def split_rows(self, n: int, seed: int) -> tuple[Rows, Rows]:
        rest = n - int(0.1 * n)
        train = rest - int(0.1 * rest)
        order = draw_permutation(n, seed)
        return order[:train], order[train:rest]

    @classmethod
    def read(cls, path: Path, remedy: str) -> Array:
        with open_content(path, MEMBER, remedy) as stream:
            lines = TextIOWrapper(stream, "ascii")
            header = [name.strip() for name in next(lines, "").split(",")]
            if "label" not in header:
                raise DataCorrupt(f"{MEMBER} in {path} has no column 'label'. {remedy}")
            label = header.index("label")
            blocks = [block.astype(np.float32) for block in parse_blocks(lines, ",", f"{MEMBER} in {path}")]
        table = np.concatenate(blocks)
        return np.column_stack([table[:, label] - 1, np.delete(table, label, axis=1)])

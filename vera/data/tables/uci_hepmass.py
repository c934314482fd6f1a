"""HEPMASS: collisions in a particle detector, new particle or background (UCI 347), 27 features of which the
paper keeps 15.

Only the official training file is used, in its own order: the last tenth is held out, and the other rows
train and define the standardisation. The seed of the trial affects only the labelled rows. Trap: seven
million rows are 5 GB of text. They are read in one pass, a few thousand lines at a time, while the smallest
values are counted.
"""

from io import TextIOWrapper
from pathlib import Path

from vera.data.files import uci_archive
from vera.data.files.archives import open_content
from vera.data.files.locations import DataDir
from vera.data.files.npy_cache import Array
from vera.data.tables.contract import Rows, drop_repeated_features, parse_blocks
from vera.data.tables.uci_table import PublishedCounts, UCITable
from vera.spec.registry import datasets
from vera.spec.settings import Count, validate_arguments

(MEMBER,) = uci_archive.HEPMASS.members


@datasets.register("hepmass")
class Hepmass(UCITable):
    """Particle collisions at mass 1000 (UCI 347): 15 features, 6,300,000 train and 700,000 held-out rows, 2
    classes."""

    name = "hepmass"
    classes = 2
    file = uci_archive.HEPMASS
    official = PublishedCounts(rows=7_000_000, features=15, examples=6_300_000)

    @validate_arguments
    def __init__(self, data_dir: DataDir = None, labels_per_class: Count | None = 10) -> None:
        super().__init__(data_dir, labels_per_class)

    def split_rows(self, n: int, seed: int) -> tuple[Rows, Rows]:
        train = n - int(0.1 * n)
        return slice(0, train), slice(train, n)

    @classmethod
    def read(cls, path: Path, remedy: str) -> Array:
        with open_content(path, MEMBER, remedy) as stream:
            lines = TextIOWrapper(stream, "ascii")
            next(lines, "")  # the header
            return drop_repeated_features(parse_blocks(lines, ",", f"{MEMBER} in {path}"), exempt=1)

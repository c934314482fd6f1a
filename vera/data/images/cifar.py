"""CIFAR10 and CIFAR100, from the official python version or the official binary version.

Both versions contain the same images in the same order, so the MD5s of the python version identify the
content of either. The fingerprint does not depend on the version, and the tests check that both readers
return the same images. Only files with a published checksum are read. The checksums of the python version are
those of torchvision. Those of the binary version are MD5s, except for train.bin of CIFAR100, which has no
known MD5; its SHA-1 is that of MXNet's loader.

Trap: unpickling can execute code. These files contain lists, text and one array of bytes, and any other name
is refused (the unpickler is in vera/data/files/mnist_wheel.py). An array pickled in Fortran order is read in
that order.
"""

import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import avg_pool2d

from vera.data.contract import compute_fingerprint
from vera.data.files.checksums import PublishedFile
from vera.data.files.locations import DataDir, format_remedy
from vera.data.files.mnist_wheel import ArrayUnpickler
from vera.data.images.contract import ImageData, Images
from vera.errors import DataCorrupt, DataMissing, SettingError
from vera.spec.registry import datasets
from vera.spec.settings import Count, Sizes, validate_arguments

Bytes = NDArray[np.uint8]
PIXELS = 3 * 32 * 32


def _declare_cifar10(name: str, python: str, binary: str) -> PublishedFile:
    return PublishedFile(
        "cifar10", {f"cifar-10-batches-py/{name}": python, f"cifar-10-batches-bin/{name}.bin": binary}
    )


def _declare_cifar100(name: str, python: str, binary: str) -> PublishedFile:
    return PublishedFile(
        "cifar100", {f"cifar-100-python/{name}": python, f"cifar-100-binary/{name}.bin": binary}
    )


CIFAR10_TRAIN = (
    _declare_cifar10("data_batch_1", "c99cafc152244af753f735de768cd75f", "5dd7e06a14cb22eb9f671a540d1b7c25"),
    _declare_cifar10("data_batch_2", "d4bba439e000b95fd0a9bffe97cbabec", "5ea93a67294ea407fff1d09f752e9692"),
    _declare_cifar10("data_batch_3", "54ebc095f3ab1f0389bbae665268c751", "942cd6a4bcdd0dd3c604fbe906cb4421"),
    _declare_cifar10("data_batch_4", "634d18415352ddfa80567beed471001a", "ae636b3ba5c66a11e91e8cb52e771fcb"),
    _declare_cifar10("data_batch_5", "482c414d41f54cd18b22e5b47cb7c3cb", "53f37980c15c3d472c316c40844f3f0d"),
)
CIFAR10_TEST = _declare_cifar10(
    "test_batch", "40351d587109b95175f43aff81a1287e", "803d5f7f4d78ea53de84dbe85f74fb6d"
)
CIFAR100_TRAIN = _declare_cifar100(
    "train", "16019d7e3df5f24257cddd939b257f8d", "e207cd2e05b73b1393c74c7f5e7bea451d63e08e"
)
CIFAR100_TEST = _declare_cifar100(
    "test", "f0ef6b0ae62326f3e7ffdfab6717acfc", "4499cfba6c016c1be1438163640a0898"
)


class CIFAR(ImageData):
    """What the two sets share: their files and the reader.

    `label` is the key of the classes in a pickle; `label_bytes` is the number of bytes before a binary image.
    """

    flips = True
    label: ClassVar[bytes]
    label_bytes: ClassVar[int]
    test_file: ClassVar[PublishedFile]
    train_files: tuple[PublishedFile, ...]

    def __init__(self, data_dir: DataDir, labels_per_class: int | None) -> None:
        super().__init__(labels_per_class)
        self.data_dir = data_dir

    @property
    def fingerprint(self) -> str:
        files = {file.name: file.checksum for file in (*self.train_files, self.test_file)}
        return compute_fingerprint(form=self.test_file.source, version=self.version, files=files)

    def read_images(self) -> tuple[Images, Images]:
        batches = [self.read(file, self.data_dir) for file in self.train_files]
        train = torch.cat([images for images, _ in batches]), torch.cat([labels for _, labels in batches])
        return train, self.read(self.test_file, self.data_dir)

    @classmethod
    def read(cls, file: PublishedFile, data_dir: DataDir = None) -> Images:
        """Return the images of one file and their classes."""
        path = file.check(data_dir)
        if path.suffix == ".bin":
            records = np.fromfile(path, np.uint8).reshape(-1, cls.label_bytes + PIXELS)
            pixels, labels = records[:, cls.label_bytes :], records[:, cls.label_bytes - 1].astype(np.int64)
        else:
            pixels, labels = read_pickle(path, cls.label, format_remedy(file.source, data_dir))
        return torch.from_numpy(np.array(pixels, order="C")).view(-1, 3, 32, 32), torch.from_numpy(labels)


@datasets.register("cifar10")
class CIFAR10(CIFAR):
    """CIFAR10: 50,000 train and 10,000 held-out images of 32 × 32, 10 classes; `batches` selects files."""

    classes, label, label_bytes = 10, b"labels", 1
    test_file = CIFAR10_TEST

    @validate_arguments
    def __init__(
        self,
        data_dir: DataDir = None,
        labels_per_class: Count | None = None,
        batches: Sizes = (1, 2, 3, 4, 5),
    ) -> None:
        super().__init__(data_dir, labels_per_class)
        if not batches or list(batches) != sorted(set(batches)) or batches[-1] > len(CIFAR10_TRAIN):
            raise SettingError(
                f"CIFAR10: batches must be a subset of 1, 2, 3, 4, 5 in ascending order, got {batches!r}."
            )
        self.train_files = tuple(CIFAR10_TRAIN[number - 1] for number in batches)
        numbers = f"batch{'es' if len(batches) > 1 else ''} {', '.join(map(str, batches))}"
        self.name = (
            "cifar10"
            if len(batches) == len(CIFAR10_TRAIN)
            else f"cifar10 ({numbers} of {len(CIFAR10_TRAIN)})"
        )

    def read_images(self) -> tuple[Images, Images]:
        with _name_available_batches(self.data_dir):
            return super().read_images()

    @staticmethod
    def locate(data_dir: DataDir = None, batches: Sequence[int] = (1, 2, 3, 4, 5)) -> Path:
        """Return the folder of the test images, or raise `DataMissing` for any of the batches."""
        with _name_available_batches(data_dir):
            train = (CIFAR10_TRAIN[number - 1] for number in batches)
            test, *_ = (file.find(data_dir) for file in (CIFAR10_TEST, *train))
            return test.parent

    @staticmethod
    def verify(data_dir: DataDir = None, batches: Sequence[int] = (1, 2, 3, 4, 5)) -> None:
        """Raise `DataCorrupt` unless the test images and these batches are the published files."""
        for file in (CIFAR10_TEST, *(CIFAR10_TRAIN[number - 1] for number in batches)):
            file.check(data_dir)


@datasets.register("cifar10-16x16")
class SmallCIFAR10(CIFAR10):
    """CIFAR10 averaged down to 16 × 16, for networks that a CPU can train; `batches` selects files."""

    side = 16

    @validate_arguments
    def __init__(
        self,
        data_dir: DataDir = None,
        labels_per_class: Count | None = None,
        batches: Sizes = (1, 2, 3, 4, 5),
    ) -> None:
        super().__init__(data_dir, labels_per_class, batches)
        self.name = self.name.replace("cifar10", "cifar10-16x16")

    @property
    def fingerprint(self) -> str:
        return compute_fingerprint(
            form=f"side {self.side}", version=self.version, files={"": super().fingerprint}
        )

    def read_images(self) -> tuple[Images, Images]:
        train, held_out = super().read_images()
        return _halve(train), _halve(held_out)


def _halve(images: Images) -> Images:
    """Return images of half the side: each pixel is the rounded mean of 2 × 2."""
    pixels, labels = images
    return torch.cat([avg_pool2d(part.float(), 2).round().byte() for part in pixels.split(5_000)]), labels


@datasets.register("cifar100")
class CIFAR100(CIFAR):
    """CIFAR100: 50,000 train and 10,000 held-out images of 32 × 32, 100 classes (the fine ones)."""

    name, classes, label, label_bytes = "cifar100", 100, b"fine_labels", 2
    test_file, train_files = CIFAR100_TEST, (CIFAR100_TRAIN,)

    @validate_arguments
    def __init__(self, data_dir: DataDir = None, labels_per_class: Count | None = None) -> None:
        super().__init__(data_dir, labels_per_class)

    @staticmethod
    def locate(data_dir: DataDir = None) -> Path:
        """Return the folder of the files, or raise `DataMissing`."""
        test, _ = (file.find(data_dir) for file in (CIFAR100_TEST, CIFAR100_TRAIN))
        return test.parent

    @staticmethod
    def verify(data_dir: DataDir = None) -> None:
        """Raise `DataCorrupt` unless the files are the published ones."""
        for file in (CIFAR100_TEST, CIFAR100_TRAIN):
            file.check(data_dir)


class _PickledBytes:
    """A pickled array of bytes: created empty, then set to (version, shape, dtype, Fortran order, raw
    bytes)."""

    def __init__(self, *placeholder: Any) -> None:
        self.values: Bytes = np.empty(0, np.uint8)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, dtype, fortran, raw = state
        if getattr(dtype, "code", None) != "u1":
            raise pickle.UnpicklingError("its array does not contain bytes")
        self.values = np.frombuffer(raw, np.uint8).reshape(shape, order="F" if fortran else "C")


class BatchUnpickler(ArrayUnpickler):
    """Admits only the names in a pickled array of bytes."""

    admitted = ArrayUnpickler.admitted | {
        (module, "_reconstruct"): _PickledBytes
        for module in ("numpy.core.multiarray", "numpy._core.multiarray")
    }


def read_pickle(path: Path, label: bytes, remedy: str) -> tuple[Bytes, NDArray[np.int64]]:
    """Return the rows of pixels and the classes of a batch in the python version."""
    try:
        batch = BatchUnpickler(BytesIO(path.read_bytes()), encoding="bytes").load()
        return batch[b"data"].values, np.array(batch[label], np.int64)
    except Exception as error:  # a damaged pickle can raise anything
        raise DataCorrupt(f"{path} is not a batch of CIFAR images: {error}. {remedy}") from error


@contextmanager
def _name_available_batches(data_dir: DataDir) -> Iterator[None]:
    """Add the available training batches to a `DataMissing`, if some are available and others are not."""
    try:
        yield
    except DataMissing as error:
        available = [number for number, file in enumerate(CIFAR10_TRAIN, 1) if file.is_available(data_dir)]
        if not 0 < len(available) < len(CIFAR10_TRAIN):
            raise
        spelled = "+".join(map(str, available))
        raise DataMissing(
            f"{error} To train on the available batches only, set batches={spelled}."
        ) from error

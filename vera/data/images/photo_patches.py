"""Two photographs that install with scikit-learn, a temple and a flower, cut into 520 patches of 32 × 32.

They are the real colour images to be had without a download. Trap: scikit-learn's files are read, its code is
never imported.
"""

import importlib.util
from io import BytesIO
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from vera.data.files.locations import DataDir, read_verified
from vera.data.tables.embedded import REMEDY
from vera.errors import DataMissing

SHA256 = {
    "china.jpg": "8378025ad2519d649d02e32bd98990db4ab572357d9f09841c2fbfbb4fefad29",
    "flower.jpg": "a77f6ec41e353afdf8bdff2ea981b2955535d8d83294f8cfa49cf4e423dd5638",
}
SIDE = 32


def find_photo_folder(data_dir: DataDir = None) -> Path:
    """The folder of the photographs, or `DataMissing`; it lies in the installed package, not in the data
    directory."""
    spec = importlib.util.find_spec("sklearn")
    for package in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(package) / "datasets" / "images"
        if all((folder / name).is_file() for name in SHA256):
            return folder
    raise DataMissing(
        f"{' and '.join(SHA256)} are not there: they are part of the package scikit-learn. {REMEDY}"
    )


def read_patches() -> Tensor:
    """Patches that do not overlap as bytes (520, 3, 32, 32): 13 rows of 20 from each photograph of 427 × 640
    pixels."""
    return torch.cat([_patches(find_photo_folder() / name, checksum) for name, checksum in SHA256.items()])


def _patches(path: Path, checksum: str) -> Tensor:
    with Image.open(BytesIO(read_verified(path, checksum, REMEDY))) as image:
        photo = torch.from_numpy(np.array(image.convert("RGB"))).permute(2, 0, 1)
    tiles = photo.unfold(1, SIDE, SIDE).unfold(2, SIDE, SIDE)
    return tiles.permute(1, 2, 0, 3, 4).reshape(-1, 3, SIDE, SIDE)

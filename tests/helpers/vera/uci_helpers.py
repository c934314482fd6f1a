"""Small files in the formats of the UCI archive; the classes are patched to accept them as published."""

import gzip
import hashlib
import io
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from vera.data import Crop, Hepmass, Human
from vera.data.files import uci_archive
from vera.data.tables.uci_tables import PublishedCounts

ROWS = 200


@dataclass
class SmallFile:
    """The content of a file, and its bytes."""

    x: np.ndarray
    labels: np.ndarray
    kept: np.ndarray
    """Features that the paper's rule keeps."""
    name: str
    content: bytes

    def write(self, folder: Path, content: bytes | None = None, name: str | None = None) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / (name or self.name)
        path.write_bytes(self.content if content is None else content)
        return path


def make_features(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    """Return continuous numbers, except that the smallest value of column 1 occurs six times, and that of
    column 2 five times."""
    x = np.random.default_rng(seed).normal(3, 2, (rows, columns)).round(12)
    for column, times in ((1, 6), (2, 5)):
        x[np.linspace(0, rows - 1, times).astype(int), column] = -50.25
    return x


def to_text(rows: np.ndarray, delimiter: str) -> str:
    return "".join(delimiter.join(f"{value:.18e}" for value in row) + "\n" for row in rows)


def zip_members(members: dict) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def small_human(monkeypatch, rows: int = ROWS) -> SmallFile:
    x, labels = make_features(rows, 5), np.arange(rows) % 6
    folder = "UCI HAR Dataset"
    content = zip_members(
        {
            f"__MACOSX/{folder}/train/._X_train.txt": b"rubbish",
            f"{folder}/train/X_train.txt": to_text(x, "  "),
            f"{folder}/train/y_train.txt": "".join(f"{label + 1}\n" for label in labels),
        }
    )
    monkeypatch.setattr(Human, "official", PublishedCounts(rows, 4, rows - rows // 10))
    return SmallFile(x, labels, np.array([0, 2, 3, 4]), "UCI HAR Dataset.zip", content)


def small_hepmass(monkeypatch, rows: int = ROWS) -> SmallFile:
    x, labels = make_features(rows, 4), np.arange(rows) // 3 % 2
    table = "# label,f0,f1,f2,f3\n" + to_text(np.column_stack([labels, x]), ",")
    monkeypatch.setattr(Hepmass, "official", PublishedCounts(rows, 3, rows - rows // 10))
    return SmallFile(x, labels, np.array([0, 2, 3]), "1000_train.csv.gz", gzip.compress(table.encode()))


def small_crop(monkeypatch, rows: int = ROWS) -> SmallFile:
    x, labels = make_features(rows, 3), np.arange(rows) % 7
    table = "label,f1,f2,f3\n" + "".join(
        f"{label + 1},{','.join(repr(float(v)) for v in row)}\n" for label, row in zip(labels, x, strict=True)
    )
    file = replace(
        uci_archive.CROP, published={"WinnipegDataset.txt": hashlib.sha256(table.encode()).hexdigest()}
    )
    monkeypatch.setattr(Crop, "file", file)
    monkeypatch.setitem(uci_archive.FILES, "crop", file)
    monkeypatch.setattr(Crop, "official", PublishedCounts(rows, 3, 162))
    return SmallFile(
        x, labels, np.arange(3), "WinnipegDataset.zip", zip_members({"WinnipegDataset.txt": table})
    )

"""Small files in the formats of the image sets, registered as published, and the path of the real files."""

import hashlib
import io
import os
import zipfile
from pathlib import Path

import numpy as np
from locations import SHARED
from PIL import Image
from scipy.io import savemat

from vera.data.images import celeba, cifar, svhn

N = 20


def find_real_data(*places) -> Path | None:
    """Return a data directory that contains all these files, if there is one."""
    candidates = [os.environ.get("VERA_DATA"), SHARED / "data"]
    return next(
        (Path(c) for c in candidates if c and all((Path(c) / place).is_file() for place in places)), None
    )


def pickle_text(content: bytes) -> bytes:
    return b"U" + bytes([len(content)]) + content


def pickle_numbers(values) -> bytes:
    return b"](" + b"".join(b"K" + bytes([value]) for value in values) + b"e"


def pickle_bytes(array: np.ndarray, *, by_columns: bool) -> bytes:
    """Return an array of bytes as pickled by Python 2, opcode by opcode."""
    shape = b"(" + b"".join(b"J" + size.to_bytes(4, "little") for size in array.shape) + b"t"
    dtype = b"cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    empty = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
    raw, order = (array.tobytes("F"), b"\x88") if by_columns else (array.tobytes("C"), b"\x89")
    return empty + b"(K\x01" + shape + dtype + order + b"T" + len(raw).to_bytes(4, "little") + raw + b"tb"


def pickle_batch(pixels: np.ndarray, labels: dict, *, by_columns: bool = False) -> bytes:
    """Return a batch in the format of the official python version."""
    items = pickle_text(b"batch_label") + pickle_text(b"training batch 1 of 5")
    items += b"".join(pickle_text(name) + pickle_numbers(values) for name, values in labels.items())
    items += pickle_text(b"data") + pickle_bytes(pixels.reshape(len(pixels), -1), by_columns=by_columns)
    items += (
        pickle_text(b"filenames") + b"](" + pickle_text(b"leptodactylus_pentadactylus_s_000004.png") + b"e"
    )
    return b"\x80\x02}(" + items + b"u."


def encode_batch(pixels: np.ndarray, labels: dict) -> bytes:
    """Return a batch in the official binary format: records of label bytes and pixels."""
    columns = [np.array(values, np.uint8)[:, None] for values in labels.values()]
    return np.hstack([*columns, pixels.reshape(len(pixels), -1)]).tobytes()


def publish(monkeypatch, file, place: str, content: bytes, directory: Path) -> Path:
    """Write a file to its path, and register its checksum as the published one."""
    monkeypatch.setitem(file.forms, place, hashlib.md5(content).hexdigest())
    path = directory / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def make_pixels(seed: int, n: int = N) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (n, 3, 32, 32), dtype=np.uint8)


def make_cifar10_batch(number: int):
    """Return pixels and labels of training batch 1 to 5, or of the test batch (0)."""
    return make_pixels(number), {b"labels": [(row + number) % 10 for row in range(N)]}


def make_cifar100_batch(number: int):
    fine = [(7 * row + number) % 100 for row in range(N)]
    return make_pixels(10 + number), {b"coarse_labels": [label // 5 for label in fine], b"fine_labels": fine}


def write_cifar10(
    monkeypatch, directory: Path, *, binary: bool, numbers=(0, 1, 2, 3, 4, 5), by_columns: bool = False
) -> Path:
    for number in numbers:
        file = cifar.CIFAR10_TRAIN[number - 1] if number else cifar.CIFAR10_TEST
        place, (pixels, labels) = list(file.forms)[binary], make_cifar10_batch(number)
        content = (
            encode_batch(pixels, labels) if binary else pickle_batch(pixels, labels, by_columns=by_columns)
        )
        publish(monkeypatch, file, place, content, directory)
    return directory


def write_cifar100(monkeypatch, directory: Path, *, binary: bool) -> Path:
    for number, file in enumerate((cifar.CIFAR100_TEST, cifar.CIFAR100_TRAIN)):
        pixels, labels = make_cifar100_batch(number)
        content = encode_batch(pixels, labels) if binary else pickle_batch(pixels, labels)
        publish(monkeypatch, file, list(file.forms)[binary], content, directory)
    return directory


def write_svhn(monkeypatch, directory: Path) -> Path:
    """Write digits 1..9 and 10 for zero, with images (row, column, channel, image)."""
    for seed, file in enumerate((svhn.TRAIN, svhn.TEST)):
        content = io.BytesIO()
        savemat(
            content,
            {
                "X": make_pixels(seed).transpose(2, 3, 1, 0),
                "y": (np.arange(N) % 10 + 1).astype(np.uint8)[:, None],
            },
        )
        publish(monkeypatch, file, file.name, content.getvalue(), directory)
    return directory


def make_faces(n: int = 6) -> dict[str, bytes]:
    """Return smooth colour images of the size of CelebA, as jpeg files."""
    rng, files = np.random.default_rng(5), {}
    for number in range(1, n + 1):
        coarse = Image.fromarray(rng.integers(0, 256, (7, 6, 3), dtype=np.uint8))
        file = io.BytesIO()
        coarse.resize((celeba.WIDTH, celeba.HEIGHT)).save(file, "jpeg", quality=90)
        files[f"{number:06}.jpg"] = file.getvalue()
    return files


def write_celeba(monkeypatch, directory: Path, files: dict[str, bytes], *, zipped: bool) -> Path:
    """Write faces of which every second one is in the test partition."""
    lines = "".join(f"{name} {0 if row % 2 else 2}\n" for row, name in enumerate(files))
    publish(monkeypatch, celeba.PARTITION, "celeba/list_eval_partition.txt", lines.encode(), directory)
    if zipped:
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w") as archive:
            for name, image in files.items():
                archive.writestr(f"img_align_celeba/{name}", image)
        publish(monkeypatch, celeba.IMAGES, "celeba/img_align_celeba.zip", content.getvalue(), directory)
    else:
        folder = directory / celeba.FOLDER
        folder.mkdir(parents=True)
        for name, image in files.items():
            (folder / name).write_bytes(image)
    return directory

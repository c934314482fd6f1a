"""Files in the data directory and files of this package: finding, reading and replacing them.

The data directory is the argument, otherwise the environment variable VERA_DATA, otherwise ~/.cache/vera. A
file may be gzipped or extracted; its checksum is that of the extracted content, so one checksum serves both
forms. Digits, small tables and two photographs are part of this package; vera/data/embedded/NOTICE.md names
their sources and licences.

Trap: errors of gzip and of the operating system must become `DataCorrupt`, because a truncated download is
not a bug.
"""

import gzip
import hashlib
import os
import shlex
import zlib
from pathlib import Path

from vera.errors import DataCorrupt, DataMissing, SettingError
from vera.wording import format_bytes

DataDir = str | Path | None
EMBEDDED = Path(__file__).resolve().parents[1] / "embedded"
MAX_CONTENT = 256_000_000
"""Bytes of the largest file that is read into memory at once, decompressed; MNIST's have 47 million. A few
kilobytes of gzip can hold gigabytes."""
EMBEDDED_REMEDY = "It is part of the package vera: install vera again."


def resolve_data_dir(data_dir: DataDir = None) -> Path:
    """Return the directory of all data sets."""
    if data_dir is not None and not isinstance(data_dir, str | Path):
        raise SettingError(f"data_dir must be a path, got {data_dir!r}.")
    return Path(data_dir or os.environ.get("VERA_DATA") or "~/.cache/vera").expanduser()


def format_fetch_command(source: str, data_dir: DataDir = None) -> str:
    """Return the command that downloads the files of a source."""
    return _format_command("fetch", source, data_dir)


def format_check_command(source: str, data_dir: DataDir = None) -> str:
    """Return the command that verifies the files of a source."""
    return _format_command("check", source, data_dir)


def format_remedy(source: str, data_dir: DataDir = None) -> str:
    """Return what to do about a damaged file of a source."""
    return f"Replace it with `{format_fetch_command(source, data_dir)}`."


def format_missing_remedy(source: str, data_dir: DataDir = None) -> str:
    """Return what to do about a missing file of a source."""
    fetch = format_fetch_command(source, data_dir)
    return f"Fetch it with `{fetch}`, or set the data directory with --data-dir DIR or VERA_DATA."


def _format_command(action: str, source: str, data_dir: DataDir) -> str:
    return shlex.join(["vera", "data", action, source, *(["--data-dir", str(data_dir)] if data_dir else [])])


def find_file(source: str, folder: str, name: str, data_dir: DataDir = None) -> Path:
    """Return the extracted file if it exists, otherwise the gzipped one."""
    place = resolve_data_dir(data_dir) / folder
    for candidate in (place / name, place / f"{name}.gz"):
        if os.path.isfile(candidate):  # unlike Path.is_file, False for an unreadable folder
            return candidate
    raise DataMissing(f"{name}[.gz] is not in {place}. {format_missing_remedy(source, data_dir)}")


def find_embedded_file(name: str) -> Path:
    """Return the path of a file of this package, or raise `DataMissing`."""
    path = EMBEDDED / name
    if not path.is_file():
        raise DataMissing(f"{path} is missing. {EMBEDDED_REMEDY}")
    return path


def read_verified(path: Path, sha256: str, remedy: str) -> bytes:
    """Return the extracted content of a file, or raise `DataCorrupt` if it is not the published one.

    `remedy` ends the message.
    """
    content = _read_content(path, remedy)
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise DataCorrupt(
            f"{path} is not the published file: its content has sha256 {found}, expected {sha256}. {remedy}"
        )
    return content


def _read_content(path: Path, remedy: str) -> bytes:
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
            content: bytes = file.read(MAX_CONTENT + 1)
        if len(content) > MAX_CONTENT:
            raise DataCorrupt(f"{path} holds more than {format_bytes(MAX_CONTENT)}. {remedy}")
        return content
    except (OSError, EOFError, zlib.error) as error:
        raise DataCorrupt(f"{path} cannot be read ({error}). {remedy}") from error


def put_in_place(file: Path, folder: Path) -> None:
    """Move a finished file into a folder of the same file system: readers see the old file or the complete
    new one. For files that were verified after they were written; `vera.atomic_write` renames at once."""
    with open(file, "rb") as handle:
        os.fsync(handle.fileno())
    os.replace(file, folder / file.name)

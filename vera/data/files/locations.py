"""Files of a data set: where they belong, whether they are there, and whether they are what was published.

The data directory is the argument, else the environment variable VERA_DATA, else ~/.cache/vera. A file may
lie there gzipped or extracted; its checksum is that of the extracted content, so one number serves both
forms. Trap: nothing of gzip's or the operating system's own errors may escape, since a truncated download is
the user's to mend and not a bug.
"""

import gzip
import hashlib
import os
import shlex
import zlib
from pathlib import Path

from vera.errors import DataCorrupt, DataMissing, SettingError

DataDir = str | Path | None


def resolve_data_dir(data_dir: DataDir = None) -> Path:
    """The directory under which all data sets lie."""
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


def _format_command(action: str, source: str, data_dir: DataDir) -> str:
    return shlex.join(["vera", "data", action, source, *(["--data-dir", str(data_dir)] if data_dir else [])])


def find_file(source: str, folder: str, name: str, data_dir: DataDir = None) -> Path:
    """The extracted file if it is there, else the gzipped one."""
    place = resolve_data_dir(data_dir) / folder
    for candidate in (place / name, place / f"{name}.gz"):
        if os.path.isfile(candidate):  # unlike Path.is_file, False for a folder that may not be entered
            return candidate
    raise DataMissing(
        f"{name}[.gz] is not in {place}. Fetch it with `{format_fetch_command(source, data_dir)}`, "
        f"or name the directory that holds {folder} with --data-dir DIR or VERA_DATA."
    )


def read_verified(path: Path, sha256: str, remedy: str) -> bytes:
    """The extracted content of a file, if it is the published one; `remedy` says what to do if not."""
    content = _content(path, remedy)
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise DataCorrupt(
            f"{path} is not the published file: its content has sha256 {found}, expected {sha256}. {remedy}"
        )
    return content


def _content(path: Path, remedy: str) -> bytes:
    try:
        raw = path.read_bytes()
        return gzip.decompress(raw) if path.suffix == ".gz" else raw
    except (OSError, EOFError, zlib.error) as error:
        raise DataCorrupt(f"{path} cannot be read ({error}). {remedy}") from error


def put_in_place(file: Path, folder: Path) -> None:
    """Move a finished file into a folder of the same file system: readers see the old file or the complete
    new one. For files that were verified after they were written; `vera.atomic_write` renames at once."""
    with open(file, "rb") as handle:
        os.fsync(handle.fileno())
    os.replace(file, folder / file.name)

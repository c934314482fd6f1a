"""Checksums of files that were published without one: recorded at the first download and compared afterwards.

They are stored in SHA256SUMS in the folder of the files, in the format of `sha256sum`, so `sha256sum -c
SHA256SUMS` reports the same as `vera data check`. Trap: hashing two gigabytes takes seconds. To identify a
file, the recorded checksum is trusted; to read a file, its own checksum is compared first.
"""

import hashlib
import re
from functools import lru_cache
from pathlib import Path

from vera.atomic_write import write_atomically
from vera.errors import DataCorrupt

SUMS = "SHA256SUMS"
ABSENT = "absent"
"""Replaces the checksum of a missing file, so that trials can be planned before their data are downloaded."""
LINE = re.compile(r"([0-9a-f]{64}) [ *](?:\./)?(.+)")


def compute_sha256(path: Path) -> str:
    """Return the checksum of a file; cached per process while the file is unchanged."""
    try:
        stat = path.stat()
        return _sha256(path, stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        raise DataCorrupt(f"{path} cannot be read ({error}).") from error


@lru_cache(maxsize=64)
def _sha256(path: Path, size: int, modified: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find_recorded_checksum(path: Path) -> str | None:
    """Return the checksum of a file in SHA256SUMS, or None."""
    return next(
        (
            found[1]
            for line in _read_lines(path.parent)
            if (found := LINE.fullmatch(line)) and found[2] == path.name
        ),
        None,
    )


def identify(path: Path) -> str:
    """Return the checksum that identifies a file: the recorded one, otherwise its own."""
    return find_recorded_checksum(path) or compute_sha256(path)


def compare_checksum(path: Path, remedy: str) -> str:
    """Return the checksum of a file, or raise `DataCorrupt` if another one was recorded.

    `remedy` ends the message.
    """
    found, expected = compute_sha256(path), find_recorded_checksum(path)
    if expected not in (None, found):
        raise DataCorrupt(
            f"{path} has changed: its sha256 is {found}, the recorded one is {expected}. {remedy}"
        )
    return found


def record_checksum(path: Path) -> str:
    """Write the checksum of a file to SHA256SUMS, replacing an older one; the list is replaced atomically."""
    checksum = compute_sha256(path)
    others = [
        line
        for line in _read_lines(path.parent)
        if not ((found := LINE.fullmatch(line)) and found[2] == path.name)
    ]
    text = "".join(f"{line}\n" for line in [*others, f"{checksum}  {path.name}"])
    with write_atomically(path.parent / SUMS) as file:
        file.write(text.encode("utf-8", "surrogateescape"))
    return checksum


def _read_lines(folder: Path) -> list[str]:
    try:
        return (folder / SUMS).read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return []

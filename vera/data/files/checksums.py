"""Checksums of files that were published without one: recorded when a file first comes, and compared ever
after.

They stand in SHA256SUMS beside the files, in the format of `sha256sum`, so that `sha256sum -c SHA256SUMS`
says what `vera data check` says. Trap: hashing two gigabytes takes seconds. Where a file is only identified,
its recorded checksum is taken at its word; whoever reads the file itself compares first.
"""

import hashlib
import re
from functools import lru_cache
from pathlib import Path

from vera.atomic_write import write_atomically
from vera.errors import DataCorrupt

SUMS = "SHA256SUMS"
ABSENT = "absent"
"""In place of the checksum of a file that is not here, so that trials can be planned before their data is
fetched."""
LINE = re.compile(r"([0-9a-f]{64}) [ *](?:\./)?(.+)")


def compute_sha256(path: Path) -> str:
    """Of a file's bytes, once in a process as long as the file stays as it is."""
    try:
        stat = path.stat()
        return _sha256(path, stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        raise DataCorrupt(f"{path} cannot be read ({error}).") from error


@lru_cache(maxsize=64)
def _sha256(path: Path, size: int, modified: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def recorded(path: Path) -> str | None:
    """What SHA256SUMS says of a file beside it."""
    return next(
        (
            found[1]
            for line in _lines(path.parent)
            if (found := LINE.fullmatch(line)) and found[2] == path.name
        ),
        None,
    )


def identify(path: Path) -> str:
    """The checksum that stands for a file's content: the recorded one, else its own."""
    return recorded(path) or compute_sha256(path)


def compare_checksum(path: Path, remedy: str) -> str:
    """A file's own checksum, or `DataCorrupt` if another one was recorded; `remedy` says what to do then."""
    found, expected = compute_sha256(path), recorded(path)
    if expected not in (None, found):
        raise DataCorrupt(f"{path} has changed: its sha256 is {found}, recorded was {expected}. {remedy}")
    return found


def record(path: Path) -> str:
    """Write a file's checksum down, in place of what stood there of it; readers of the list see the old one
    or the new."""
    checksum = compute_sha256(path)
    others = [
        line
        for line in _lines(path.parent)
        if not ((found := LINE.fullmatch(line)) and found[2] == path.name)
    ]
    text = "".join(f"{line}\n" for line in [*others, f"{checksum}  {path.name}"])
    with write_atomically(path.parent / SUMS) as file:
        file.write(text.encode("utf-8", "surrogateescape"))
    return checksum


def _lines(folder: Path) -> list[str]:
    try:
        return (folder / SUMS).read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return []

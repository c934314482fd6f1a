"""Checksums of files: published ones, or those recorded at the first download and compared afterwards.

A `PublishedFile` of an image set has the path of torchvision or of the official archive, relative to the data
directory, and published checksums, MD5 or SHA-1, distinguished by their length. Other content is never read,
so the checksums identify it in a fingerprint, and a trial can be planned before its data are downloaded.
Recorded checksums are stored in SHA256SUMS in the folder of the files, in the format of `sha256sum`, so
`sha256sum -c SHA256SUMS` reports the same as `vera data check`.

Traps: MD5 and SHA-1 detect damaged or wrong files, but not forged ones. Hashing two gigabytes takes seconds.
To identify a file, the recorded checksum is trusted; to read a file, its own checksum is compared first.
"""

import hashlib
import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from vera.atomic_write import write_atomically
from vera.data.files.locations import DataDir, format_missing_remedy, format_remedy, resolve_data_dir
from vera.errors import DataCorrupt, DataMissing

SUMS = "SHA256SUMS"
ABSENT = "absent"
"""Replaces the checksum of a missing file, so that trials can be planned before their data are downloaded."""
ALGORITHMS = {32: "md5", 40: "sha1"}
"""Hash algorithms by the number of hexadecimal digits."""
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


@dataclass(frozen=True)
class PublishedFile:
    """One file in each published form; the first form that exists is read."""

    source: str
    forms: dict[str, str]
    """Checksums by path."""

    @property
    def name(self) -> str:
        return Path(next(iter(self.forms))).name

    @property
    def checksum(self) -> str:
        """Checksum of the first form, which identifies the content in any form."""
        return next(iter(self.forms.values()))

    def find(self, data_dir: DataDir = None) -> Path:
        directory = resolve_data_dir(data_dir)
        for path in self.forms:
            if os.path.isfile(directory / path):  # unlike Path.is_file, False for an unreadable folder
                return directory / path
        paths = " or ".join(str(directory / path) for path in self.forms)
        raise DataMissing(
            f"{self.name} is missing; expected at {paths}. {format_missing_remedy(self.source, data_dir)}"
        )

    def is_available(self, data_dir: DataDir = None) -> bool:
        try:
            return bool(self.find(data_dir))
        except DataMissing:
            return False

    def check(self, data_dir: DataDir = None) -> Path:
        """Return the path of the file after verifying its checksum."""
        path, directory = self.find(data_dir), resolve_data_dir(data_dir)
        checksum = self.forms[path.relative_to(directory).as_posix()]
        verify_checksum(path, checksum, format_remedy(self.source, data_dir))
        return path


def verify_checksum(path: Path, checksum: str, remedy: str) -> None:
    """Raise `DataCorrupt` if the file has another checksum; `remedy` ends the message."""
    algorithm = ALGORITHMS[len(checksum)]
    try:
        with open(path, "rb") as file:
            found = hashlib.file_digest(
                file, lambda: hashlib.new(algorithm, usedforsecurity=False)
            ).hexdigest()
    except OSError as error:
        raise DataCorrupt(f"{path} cannot be read ({error}). {remedy}") from error
    if found != checksum:
        raise DataCorrupt(
            f"{path} is not the published file: its {algorithm} is {found}, expected {checksum}. {remedy}"
        )

"""Published files of image sets: their paths, checksums and forms.

Paths are those of torchvision and of the official archives, relative to the data directory. Checksums are the
published ones, MD5 or SHA-1, distinguished by their length. Other content is never read, so the checksums
identify it in a fingerprint, and a trial can be planned before its data are downloaded. Trap: these checksums
detect damaged or wrong files, but not forged ones.
"""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from vera.data.files.locations import DataDir, format_missing_remedy, format_remedy, resolve_data_dir
from vera.errors import DataCorrupt, DataMissing

ALGORITHMS = {32: "md5", 40: "sha1"}
"""Hash algorithms by the number of hexadecimal digits."""


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

"""Files of image sets as they were published: where each belongs, under which checksum it is known, in which
forms it may lie here.

Places are those of torchvision and of the official archives, relative to the data directory. Checksums are
the published ones, MD5 or SHA-1, told apart by their length. No other content is ever read, so they stand for
it in a fingerprint, and a trial can be planned before its data is here. Trap: they find a broken or a wrong
file; against a forged one neither of the two protects.
"""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from vera.data.files.locations import DataDir, format_fetch_command, resolve_data_dir
from vera.errors import DataCorrupt, DataMissing

ALGORITHMS = {32: "md5", 40: "sha1"}
"""By the number of hexadecimal digits."""


@dataclass(frozen=True)
class PublishedFile:
    """One file, in each form in which it was published; the first form that is here is read."""

    source: str
    forms: dict[str, str]
    """Checksums by place."""

    @property
    def name(self) -> str:
        return Path(next(iter(self.forms))).name

    @property
    def checksum(self) -> str:
        """Of the first form, which stands for the content in any form."""
        return next(iter(self.forms.values()))

    def find(self, data_dir: DataDir = None) -> Path:
        directory = resolve_data_dir(data_dir)
        for place in self.forms:
            if os.path.isfile(
                directory / place
            ):  # unlike Path.is_file, False for a folder that may not be entered
                return directory / place
        raise DataMissing(
            f"{self.name} is not here: it belongs at {' or '.join(str(directory / place) for place in self.forms)}. "
            f"Fetch it with `{format_fetch_command(self.source, data_dir)}`, "
            "or name the directory that holds it with --data-dir DIR or VERA_DATA."
        )

    def is_here(self, data_dir: DataDir = None) -> bool:
        try:
            return bool(self.find(data_dir))
        except DataMissing:
            return False

    def remedy(self, data_dir: DataDir = None) -> str:
        return f"Replace it with `{format_fetch_command(self.source, data_dir)}`."

    def check(self, data_dir: DataDir = None) -> Path:
        """Where the file is, if it is what was published."""
        path, directory = self.find(data_dir), resolve_data_dir(data_dir)
        verify(path, self.forms[path.relative_to(directory).as_posix()], self.remedy(data_dir))
        return path


def verify(path: Path, checksum: str, remedy: str) -> None:
    """`DataCorrupt` if the file has another checksum; `remedy` says what to do then."""
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

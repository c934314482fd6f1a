"""Files of the UCI machine learning archive: addresses, file names, download and verification.

The archive has moved: the old addresses serve a file itself, the new ones a zip of all files of a data set,
from which the file is extracted. Both are tried in this order. Only the checksum of CROP is published; the
others are recorded at the download. Trap: a page that says "moved" can have status 200, so a file is accepted
only after it has been decompressed to its end.
"""

import hashlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vera.data.files.archives import extract_member, open_content
from vera.data.files.checksums import compare_checksum, find_recorded_checksum, record_checksum
from vera.data.files.download import Say, download
from vera.data.files.locations import (
    DataDir,
    format_check_command,
    format_missing_remedy,
    format_remedy,
    put_in_place,
    resolve_data_dir,
)
from vera.errors import DataCorrupt, DataMissing, VeraError

SITE = "https://archive.ics.uci.edu"


@dataclass(frozen=True)
class UCIFile:
    """One file of the archive; `others` are the names of the zips of the new site, which are also
    accepted."""

    source: str
    name: str
    others: tuple[str, ...]
    urls: tuple[str, ...]
    members: tuple[str, ...]
    """The members that are read."""
    published: Mapping[str, str] = field(default_factory=dict)
    """sha256 of the decompressed members, where published."""

    def find(self, data_dir: DataDir = None) -> Path:
        directory = resolve_data_dir(data_dir)
        for name in (self.name, *self.others):
            if os.path.isfile(directory / name):  # unlike Path.is_file, False for an unreadable folder
                return directory / name
        raise DataMissing(
            f"{self.name} is not in {directory}. {format_missing_remedy(self.source, data_dir)}"
        )

    def check(self, data_dir: DataDir = None) -> Path:
        """Return the path of the file after comparing it with its recorded and published checksums.

        Without either checksum, the file is decompressed to its end.
        """
        path, remedy = self.find(data_dir), format_remedy(self.source, data_dir)
        compare_checksum(path, remedy)
        if self.published or not find_recorded_checksum(path):
            self.verify_members(path, remedy)
        return path

    def verify_members(self, path: Path, remedy: str) -> None:
        """Decompress all members to their end and compare them with the published checksums."""
        for member in self.members:
            with open_content(path, member, remedy) as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
            if found != self.published.get(member, found):
                expected = self.published[member]
                raise DataCorrupt(
                    f"{member} in {path} is not the published file: "
                    f"its sha256 is {found}, expected {expected}. {remedy}"
                )


def fetch_file(file: UCIFile, data_dir: DataDir = None, say: Say = print) -> Path:
    """Download a file, verify it, move it into place and record its checksum."""
    directory = resolve_data_dir(data_dir)
    before, failures = find_recorded_checksum(directory / file.name), []
    for url in file.urls:
        say(f"{file.source}: downloading {url}")
        try:
            path = _fetch_from(file, url, directory)
        except VeraError as error:
            say(f"{file.source}: {error}")
            failures.append(str(error))
            continue
        if before not in (None, record_checksum(path)):
            say(
                f"{file.source}: the file differs from the one recorded before; "
                "earlier results were computed on other data."
            )
        return path
    raise VeraError(
        f"{file.name} could not be downloaded: {' / '.join(failures)} "
        f"By hand: save {file.urls[0]} as {directory / file.name}, "
        f"then run `{format_check_command(file.source, data_dir)}`."
    )


def _fetch_from(file: UCIFile, url: str, directory: Path) -> Path:
    partial = directory / f".{file.name}.{hashlib.sha256(url.encode()).hexdigest()[:8]}.part"
    download(url, partial)
    try:
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=directory) as work:
            complete = Path(work) / file.name
            if not extract_member(partial, file.name, complete):
                os.replace(partial, complete)
            file.verify_members(complete, "")
            put_in_place(complete, directory)
    finally:
        partial.unlink(missing_ok=True)
    return directory / file.name


HEPMASS = UCIFile(
    "hepmass",
    "1000_train.csv.gz",
    ("hepmass.zip",),
    (
        f"{SITE}/ml/machine-learning-databases/00347/1000_train.csv.gz",
        f"{SITE}/static/public/347/hepmass.zip",
    ),
    ("1000_train.csv.gz",),
)
CROP = UCIFile(
    "crop",
    "WinnipegDataset.zip",
    ("crop+mapping+using+fused+optical+radar+data+set.zip",),
    (
        f"{SITE}/ml/machine-learning-databases/00525/data.zip",
        f"{SITE}/static/public/525/crop+mapping+using+fused+optical+radar+data+set.zip",
    ),
    ("WinnipegDataset.txt",),
    {"WinnipegDataset.txt": "f6d6b9f4577ad0ce7e3ea9baea9c6c5521a7970ff587f6d9faaaaf12c46dc0ad"},
)
HUMAN = UCIFile(
    "human",
    "UCI HAR Dataset.zip",
    ("human+activity+recognition+using+smartphones.zip",),
    (
        f"{SITE}/ml/machine-learning-databases/00240/UCI%20HAR%20Dataset.zip",
        f"{SITE}/static/public/240/human+activity+recognition+using+smartphones.zip",
    ),
    ("train/X_train.txt", "train/y_train.txt"),
)
FILES = {file.source: file for file in (HEPMASS, CROP, HUMAN)}

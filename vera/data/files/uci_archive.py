"""Files of the UCI machine learning archive: where each comes from, where it belongs, and whether it is
whole.

The archive moved: the old addresses serve a file itself, the new ones a zip of all files of a data set, from
which the one that is read is taken. Both are tried in this order. Only CROP's checksum is published; those of
the others are recorded when they come. Trap: a page that says "moved" can come with status 200, so a file
counts once it has been unpacked to its end.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vera.data.files.archives import extract, open_content
from vera.data.files.checksums import compare_checksum, record, recorded
from vera.data.files.download import download
from vera.data.files.locations import (
    DataDir,
    format_check_command,
    format_fetch_command,
    put_in_place,
    resolve_data_dir,
)
from vera.errors import DataCorrupt, DataMissing, VeraError

Say = Callable[[str], None]
SITE = "https://archive.ics.uci_archive.edu"


@dataclass(frozen=True)
class UCIFile:
    """One file of the archive; `others` are names under which it may also lie here, zipped as the new site
    serves it."""

    source: str
    name: str
    others: tuple[str, ...]
    urls: tuple[str, ...]
    members: tuple[str, ...]
    """What is read of it."""
    published: Mapping[str, str] = field(default_factory=dict)
    """sha256 of members, unzipped, where it is known."""

    def find(self, data_dir: DataDir = None) -> Path:
        place = resolve_data_dir(data_dir)
        for name in (self.name, *self.others):
            if os.path.isfile(
                place / name
            ):  # unlike Path.is_file, False for a folder that may not be entered
                return place / name
        raise DataMissing(
            f"{self.name} is not in {place}. Fetch it with `{format_fetch_command(self.source, data_dir)}`, "
            f"or name the directory that holds it with --data-dir DIR or VERA_DATA."
        )

    def remedy(self, data_dir: DataDir = None) -> str:
        return f"Replace it with `{format_fetch_command(self.source, data_dir)}`."

    def check(self, data_dir: DataDir = None) -> Path:
        """Where the file is, if it is what was recorded and published, or, where neither was, at least
        whole."""
        path = self.find(data_dir)
        compare_checksum(path, self.remedy(data_dir))
        if self.published or not recorded(path):
            self.unpack(path, self.remedy(data_dir))
        return path

    def unpack(self, path: Path, remedy: str) -> None:
        """Read everything that is read of a file, to its end, and compare it with what was published."""
        for member in self.members:
            with open_content(path, member, remedy) as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
            if found != self.published.get(member, found):
                expected = self.published[member]
                raise DataCorrupt(
                    f"{member} in {path} is not the published one: sha256 {found}, expected {expected}. {remedy}"
                )


def fetch_file(file: UCIFile, data_dir: DataDir = None, say: Say = print) -> Path:
    """Download a file, look whether it is whole, put it in place and record its checksum."""
    directory = resolve_data_dir(data_dir)
    before, failures = recorded(directory / file.name), []
    for url in file.urls:
        say(f"{file.source}: downloading {url}")
        try:
            path = _fetch_from(file, url, directory)
        except VeraError as error:
            say(f"{file.source}: {error}")
            failures.append(str(error))
            continue
        if before not in (None, record(path)):
            say(
                f"{file.source}: this is not the file whose checksum was recorded before; results on it are results on other data."
            )
        return path
    raise VeraError(
        f"{file.name} could not be fetched: {' / '.join(failures)} "
        f"By hand: save {file.urls[0]} as {directory / file.name}, then run `{format_check_command(file.source, data_dir)}`."
    )


def _fetch_from(file: UCIFile, url: str, directory: Path) -> Path:
    part = directory / f".{file.name}.{hashlib.sha256(url.encode()).hexdigest()[:8]}.part"
    download(url, part)
    try:
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=directory) as work:
            whole = Path(work) / file.name
            if not extract(part, file.name, whole):
                os.replace(part, whole)
            file.unpack(whole, "")
            put_in_place(whole, directory)
    finally:
        part.unlink(missing_ok=True)
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

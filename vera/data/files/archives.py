"""Files inside archives: a member of a zip, or of a zip inside a zip, gzipped or not, as one stream of bytes.

The UCI archive serves the files of a data set one by one at its old addresses, and zipped together (zips
included) at its new addresses; a reader only names the file that it needs. Trap: the checksum inside an
archive is compared at the end of the stream, so damage appears while reading. All such errors are raised as
`DataCorrupt`.
"""

import gzip
import io
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, cast

from vera.errors import DataCorrupt
from vera.wording import format_bytes

MAX_MEMBER = 8_000_000_000
"""Bytes of the largest decompressed file; the largest that is read, HEPMASS, has 5 GB. A zip of a megabyte
can hold a thousand times as much."""


class SizeLimit(io.RawIOBase):
    """A stream that ends with an error after MAX_MEMBER bytes."""

    def __init__(self, stream: io.BufferedIOBase) -> None:
        self.stream, self.left = stream, MAX_MEMBER

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self.stream.readinto(buffer)
        self.left -= count
        if self.left < 0:
            raise OSError(f"it holds more than {format_bytes(MAX_MEMBER)}")
        return count


class MemberMissing(zipfile.BadZipFile):
    """A valid zip does not contain the requested file."""


DAMAGE = (EOFError, NotImplementedError, UnicodeDecodeError, zipfile.BadZipFile, zlib.error)
"""Errors raised by reading a damaged archive or text."""


@contextmanager
def open_content(path: Path, member: str, remedy: str) -> Iterator[IO[bytes]]:
    """Open the decompressed content of `member`: of the path itself, or of a file in that zip.

    Raises `DataCorrupt` for damaged files; `remedy` ends the message.
    """
    try:
        with ExitStack() as stack:
            stream: IO[bytes] = stack.enter_context(open(path, "rb"))
            if path.suffix == ".zip":
                stream = find_member(stream, member, stack)
            if member.endswith(".gz"):
                unpacked = stack.enter_context(gzip.GzipFile(fileobj=stream))
                stream = cast(IO[bytes], io.BufferedReader(SizeLimit(unpacked)))
            yield stream
    except (OSError, *DAMAGE) as error:
        raise DataCorrupt(f"{path} cannot be read ({error}). {remedy}") from error


def find_member(file: IO[bytes], member: str, stack: ExitStack) -> IO[bytes]:
    """Open the file whose path ends with `member` in a zip or in a zip inside it; `stack` closes it."""
    archive = stack.enter_context(zipfile.ZipFile(file))
    names = archive.namelist()
    for name in names:
        if f"/{name}".endswith(f"/{member}"):
            _check_size(archive, name)
            return stack.enter_context(archive.open(name))
    for name in names:
        if name.endswith(".zip"):
            _check_size(archive, name)
            inner = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (the stack closes it)
            with archive.open(name) as packed:
                shutil.copyfileobj(packed, inner)
            try:
                return find_member(inner, member, stack)
            except MemberMissing:
                continue
    raise MemberMissing(f"it contains no {member}")


def _check_size(archive: zipfile.ZipFile, name: str) -> None:
    """Raise BadZipFile for a member that is too large; zipfile reads no more of it than is announced."""
    if (size := archive.getinfo(name).file_size) > MAX_MEMBER:
        raise zipfile.BadZipFile(
            f"{name} would have {format_bytes(size)} of at most {format_bytes(MAX_MEMBER)}"
        )


def extract_member(path: Path, member: str, target: Path) -> bool:
    """Extract a member to `target`; return False if the path is not a zip or has no such member."""
    if not zipfile.is_zipfile(path):
        return False
    try:
        with ExitStack() as stack:
            packed = find_member(stack.enter_context(open(path, "rb")), member, stack)
            with open(target, "wb") as file:
                shutil.copyfileobj(packed, file)
    except MemberMissing:
        return False
    except DAMAGE as error:
        target.unlink(missing_ok=True)
        raise DataCorrupt(f"{path.name} is damaged ({error}).") from error
    return True

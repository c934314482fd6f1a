"""Files inside archives: a member of a zip, or of a zip inside a zip, gzipped or not, as one stream of bytes.

The UCI archive serves the files of a data set one by one at its old addresses, and zipped together (zips
included) at its new addresses; a reader only names the file that it needs. Trap: the checksum inside an
archive is compared at the end of the stream, so damage appears while reading. All such errors are raised as
`DataCorrupt`.
"""

import gzip
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, cast

from vera.errors import DataCorrupt


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
            yield (
                cast(IO[bytes], stack.enter_context(gzip.GzipFile(fileobj=stream)))
                if member.endswith(".gz")
                else stream
            )
    except (OSError, *DAMAGE) as error:
        raise DataCorrupt(f"{path} cannot be read ({error}). {remedy}") from error


def find_member(file: IO[bytes], member: str, stack: ExitStack) -> IO[bytes]:
    """Open the file whose path ends with `member` in a zip or in a zip inside it; `stack` closes it."""
    archive = stack.enter_context(zipfile.ZipFile(file))
    names = archive.namelist()
    for name in names:
        if f"/{name}".endswith(f"/{member}"):
            return stack.enter_context(archive.open(name))
    for name in names:
        if name.endswith(".zip"):
            inner = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (the stack closes it)
            with archive.open(name) as packed:
                shutil.copyfileobj(packed, inner)
            try:
                return find_member(inner, member, stack)
            except MemberMissing:
                continue
    raise MemberMissing(f"it contains no {member}")


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

"""Files inside archives: a member of a zip, or of a zip inside a zip, gzipped or not, as one stream of bytes.

The UCI archive serves a data set's files one by one under its old addresses and zipped together, zips
included, under its new ones; a reader names the file it wants and need not know. Trap: an archive's own
checksum is compared when the stream has been read to its end, so whatever is wrong with it shows while it is
read, and is told here in one kind of error.
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
    """A sound zip without the file that is wanted."""


DAMAGE = (EOFError, NotImplementedError, UnicodeDecodeError, zipfile.BadZipFile, zlib.error)
"""What reading a damaged archive or text may raise."""


@contextmanager
def open_content(path: Path, member: str, remedy: str) -> Iterator[IO[bytes]]:
    """What `member` holds, unzipped: path itself, or the file in that zip whose name ends with it. `remedy`:
    if it cannot be."""
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
    """A zip's member whose path ends with `member`, or that of a zip inside; `stack` closes it."""
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
    raise MemberMissing(f"it holds no {member}")


def extract(path: Path, member: str, target: Path) -> bool:
    """Unpack a member into a file of its own; False if the path is no zip or has no such member."""
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

"""A folder in a bucket: any number of processes on any number of machines read and write at once, without a
lock.

S3 guarantees that an object appears completely when its upload ends, or not at all, and that every later
listing and read sees it. S3 has no rename and no lock. A store is safe all the same:

- A name never stands for two contents. The name of a row holds its stamp, as the names of curves and arrays
  do everywhere. Two writers of one trial leave at most two objects, and every reader takes the one of higher
  rank.
- A compaction first writes the compacted object and then removes the objects that it holds, one by one. If it
  is killed, duplicates remain, which readers resolve. Two compactions at once do the same work twice. No row
  is lost: an object is removed only by a process that has written all of it, or a record that supersedes it,
  into another object, and no process removes what it has just written.
- An object that is no part is named in a message for the owner to delete. It is not moved, because reading
  must need no more than permission to read.

Not guaranteed: that an object survives which someone copies over another one by hand during a compaction.

Trap: Arrow reports a broken connection like damage, as an OSError without an errno. So an object is fetched
before it is parsed, and errors of the server get an errno (`sweeps.store.s3`).
Trap: closing a stream completes the upload even after an error. So an object is written in a single call.
"""

import io
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from pyarrow import fs

from sweeps.store.folder import LEFT, Commit, FileIdentity, Fill, Folder, OpenFile, Opening, explain_os_errors
from sweeps.store.location import BucketLocation, join_location
from sweeps.store.s3 import connect_s3, translate_s3_errors
from vera.atomic_write import write_atomically

REQUESTS = 16
"""Concurrent requests: reading many small objects is mostly waiting."""
WHOLE = 32 * 2**20
"""Objects up to this size are fetched in one piece; of larger ones, only the ranges that are read."""


class BucketFolder(Folder):
    """The objects below a prefix. The identity of an object is its entity tag."""

    has_lock = False

    def __init__(self, location: str) -> None:
        parsed = BucketLocation.parse(location)
        self.location = location
        self.root = "/".join(filter(None, (parsed.bucket, parsed.prefix)))
        with explain_os_errors("use", location), translate_s3_errors():
            self.objects = connect_s3(parsed.bucket, parsed.options)

    def list_names(self, kind: str) -> set[str]:
        return set(self.list_sizes(kind))

    def list_sizes(self, kind: str) -> dict[str, int]:
        with translate_s3_errors():
            found = self.objects.get_file_info(fs.FileSelector(self._key(kind), allow_not_found=True))
        return {
            info.base_name: int(info.size)
            for info in found
            if info.is_file and not info.base_name.startswith(".")
        }

    def has_part(self, kind: str, trial_id: str) -> bool:
        return any(name.startswith(trial_id) for name in self.list_names(kind))

    def open_file(self, name: str) -> Opening:
        return _close_after(lambda: self._fetch(name))

    def open_each(self, names: Iterable[str]) -> Iterator[tuple[str, Opening]]:
        """The objects in order; the following ones are fetched in the background."""
        pool, waiting = ThreadPoolExecutor(REQUESTS), deque[tuple[str, Opening]]()
        try:
            for name in names:
                waiting.append((name, _close_after(pool.submit(self._fetch, name).result)))
                if len(waiting) > 2 * REQUESTS:
                    yield waiting.popleft()
            yield from waiting
        finally:
            pool.shutdown(cancel_futures=True)

    @contextmanager
    def stage(self, kind: str, fill: Fill) -> Iterator[Commit]:
        with tempfile.NamedTemporaryFile(prefix="vera-") as file:
            fill(file)
            file.flush()
            yield lambda name: self.put(name, Path(file.name))

    def put(self, name: str, path: Path) -> None:
        """Upload a file, completely or not at all."""
        with pa.memory_map(str(path)) as content:
            data = content.read_buffer()
        with translate_s3_errors():
            stream = self.objects.open_output_stream(self._key(name))
            stream.write(data)
            stream.close()

    def get(self, name: str, path: Path) -> bool:
        """Download an object, completely or not at all. Returns whether it exists."""
        try:
            with self.open_file(name) as source, write_atomically(path) as file:
                while piece := source.file.read(WHOLE):
                    file.write(piece)
        except FileNotFoundError:
            return False
        return True

    def delete(self, name: str) -> None:
        with suppress(FileNotFoundError), translate_s3_errors():
            self.objects.delete_file(self._key(name))

    def remove(self, files: Mapping[str, FileIdentity]) -> None:
        def remove_one(name: str) -> None:
            with suppress(FileNotFoundError), translate_s3_errors():
                with self.objects.open_input_file(self._key(name)) as file:
                    same = _read_tag(file) == files[name]
                if same:
                    self.objects.delete_file(self._key(name))

        with ThreadPoolExecutor(REQUESTS) as pool:
            list(pool.map(remove_one, files))

    def set_aside(self, name: str, identity: FileIdentity, move: bool) -> str | None:
        return f"{LEFT}: delete the object s3://{self._key(name)}" if move else LEFT

    def remove_abandoned(self, kind: str) -> None:
        """Nothing to do: an interrupted upload leaves no object."""

    def lock(self) -> AbstractContextManager[None]:
        return nullcontext()

    def lock_compaction(self) -> AbstractContextManager[None]:
        return nullcontext()

    def _key(self, name: str) -> str:
        return f"{self.root}/{name}".rstrip("/")

    def _fetch(self, name: str) -> OpenFile:
        with translate_s3_errors():
            file = self.objects.open_input_file(self._key(name))
            source = OpenFile(LargeObject(file), _read_tag(file), join_location(self.location, name))
            if file.size() > WHOLE:
                return source
            with file:
                return replace(source, file=pa.BufferReader(file.read_buffer()))


class LargeObject(io.RawIOBase):
    """An object that is read in ranges; its errors have an errno."""

    def __init__(self, file: pa.NativeFile) -> None:
        self.file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self.file.seek(offset, whence))

    def tell(self) -> int:
        return int(self.file.tell())

    def read(self, size: int = -1) -> bytes:
        with translate_s3_errors():
            return bytes(self.file.read(None if size < 0 else size))


@contextmanager
def _close_after(fetch: Callable[[], OpenFile]) -> Iterator[OpenFile]:
    source = fetch()
    try:
        yield source
    finally:
        source.file.close()


def _read_tag(file: pa.NativeFile) -> FileIdentity:
    return (file.metadata()["ETag"].decode(),)

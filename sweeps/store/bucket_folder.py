"""A folder in a bucket: any number of processes on any number of machines write and read at once, without a
lock.

What S3 gives: an object appears whole when its upload is complete, or not at all, and whoever lists or reads
after that sees it. What it lacks: a rename, and a lock. What follows for a store:

- No name is ever used for two contents. A row's name has its stamp in it, as the names of curves and arrays have everywhere, so two
  writers of one trial leave two objects at most, of which every reader takes the one with the higher rank: one row.
- A compaction puts the compacted object there first and then removes what it holds, object by object. One that is killed leaves
  duplicates, which readers resolve; two at once do the same work twice. None loses a row: an object is removed only by whoever has
  put all of it, or what supersedes it, into another, and nobody removes what it has just written.
- An object that is no part is named, for its owner to delete, and left where it is: reading needs no more than the right to read.

What is not promised: that an object which someone copies over another of the same name by hand, during a
compaction, stays.

The trap: Arrow reports a broken connection as it reports damage, by an OSError without a number. So an object
is brought here before it is looked into, and what the server refuses gets a number (sweeps/store/s3.py).
Another: closing a stream completes the upload, even after an error, so that all of an object goes in one
write.
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

from sweeps.store.address import Address, within
from sweeps.store.folder import LEFT, Commit, Fill, Folder, Identity, Opening, Source, explained
from sweeps.store.s3 import connected, numbered
from vera.atomic_write import write_atomically

REQUESTS = 16
"""Requests under way at once: with many small objects, time is all waiting."""
WHOLE = 32 * 2**20
"""Up to this size an object is fetched in one piece; of a larger one, what is asked for."""


class RemoteFolder(Folder):
    """The objects below a prefix. The identity of an object is its entity tag."""

    has_lock = False

    def __init__(self, place: str) -> None:
        address = Address.parse(place)
        self.place = place
        self.root = "/".join(filter(None, (address.bucket, address.prefix)))
        with explained("use", place), numbered():
            self.objects = connected(address.bucket, address.options)

    def names(self, kind: str) -> set[str]:
        with numbered():
            found = self.objects.get_file_info(fs.FileSelector(self._key(kind), allow_not_found=True))
        return {info.base_name for info in found if info.is_file and not info.base_name.startswith(".")}

    def has_part(self, kind: str, trial_id: str) -> bool:
        return any(name.startswith(trial_id) for name in self.names(kind))

    def opened(self, name: str) -> Opening:
        return _closed_after(lambda: self._fetch(name))

    def each(self, names: Iterable[str]) -> Iterator[tuple[str, Opening]]:
        """In order, those that follow being fetched meanwhile."""
        pool, waiting = ThreadPoolExecutor(REQUESTS), deque[tuple[str, Opening]]()
        try:
            for name in names:
                waiting.append((name, _closed_after(pool.submit(self._fetch, name).result)))
                if len(waiting) > 2 * REQUESTS:
                    yield waiting.popleft()
            yield from waiting
        finally:
            pool.shutdown(cancel_futures=True)

    @contextmanager
    def staged(self, kind: str, fill: Fill) -> Iterator[Commit]:
        with tempfile.NamedTemporaryFile(prefix="vera-") as file:
            fill(file)
            file.flush()
            yield lambda name: self.put(name, Path(file.name))

    def put(self, name: str, path: Path) -> None:
        """Copy a file there, whole or not at all."""
        with pa.memory_map(str(path)) as content:
            data = content.read_buffer()
        with numbered():
            stream = self.objects.open_output_stream(self._key(name))
            stream.write(data)
            stream.close()

    def get(self, name: str, path: Path) -> bool:
        """Copy an object here, whole or not at all; whether there was one."""
        try:
            with self.opened(name) as source, write_atomically(path) as file:
                while piece := source.file.read(WHOLE):
                    file.write(piece)
        except FileNotFoundError:
            return False
        return True

    def delete(self, name: str) -> None:
        """The object, if it is there."""
        with suppress(FileNotFoundError), numbered():
            self.objects.delete_file(self._key(name))

    def remove(self, files: Mapping[str, Identity]) -> None:
        def remove_one(name: str) -> None:
            with suppress(FileNotFoundError), numbered():
                with self.objects.open_input_file(self._key(name)) as file:
                    same = _tag(file) == files[name]
                if same:
                    self.objects.delete_file(self._key(name))

        with ThreadPoolExecutor(REQUESTS) as pool:
            list(pool.map(remove_one, files))

    def set_aside(self, name: str, identity: Identity, move: bool) -> str | None:
        return f"{LEFT}: delete the object s3://{self._key(name)}" if move else LEFT

    def remove_abandoned(self, kind: str) -> None:
        """Nothing: an upload that was broken off has left no object."""

    def alone(self) -> AbstractContextManager[None]:
        return nullcontext()

    def compacting(self) -> AbstractContextManager[None]:
        return nullcontext()

    def _key(self, name: str) -> str:
        return f"{self.root}/{name}".rstrip("/")

    def _fetch(self, name: str) -> Source:
        with numbered():
            file = self.objects.open_input_file(self._key(name))
            source = Source(Watched(file), _tag(file), within(self.place, name))
            if file.size() > WHOLE:
                return source
            with file:
                return replace(source, file=pa.BufferReader(file.read_buffer()))


class Watched(io.RawIOBase):
    """A large object, read where it lies, whose failures have a number."""

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
        with numbered():
            return bytes(self.file.read(None if size < 0 else size))


@contextmanager
def _closed_after(fetch: Callable[[], Source]) -> Iterator[Source]:
    source = fetch()
    try:
        yield source
    finally:
        source.file.close()


def _tag(file: pa.NativeFile) -> Identity:
    return (file.metadata()["ETag"].decode(),)

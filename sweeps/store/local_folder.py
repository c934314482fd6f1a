"""A folder that is a directory: any number of processes, on all nodes that see it, write and read at once.

A file is written under a name that begins with a dot, which readers skip, forced to the disk, and renamed;
the directory is then forced to the disk too, or a power cut could undo the rename.

The trap: between looking at a file and removing or moving it, a writer may have put another one in its place.
So whoever replaces, moves or removes a file holds the folder's lock, and compares the file's identity with
that of the one it read.
"""

import errno
import fcntl
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from sweeps.errors import StoreError
from sweeps.store.folder import LEFT, SUFFIX, Commit, Fill, Folder, Identity, Source, explained

TEMPORARY = ".*.tmp"
ABANDONED = 24 * 3600
"""Seconds after which a temporary file is that of a process which was killed."""


class LocalFolder(Folder):
    """A directory. The identity of a file is its inode, its size and the time of its last change."""

    has_lock = True

    def __init__(self, path: Path, create: bool = True, needed: bool = True) -> None:
        """A directory that is not there is made, or is missed, or, where it is not needed, is as good as
        empty."""
        self.path, self.place = path, str(path)
        with explained("use", path):
            if create:
                path.mkdir(parents=True, exist_ok=True)
            elif needed and not path.exists():
                raise StoreError(f"There are no results in {path}: no such directory.")
            if needed or path.exists():
                os.listdir(path)

    def names(self, kind: str) -> set[str]:
        try:
            return {name for name in os.listdir(self.path / kind) if not name.startswith(".")}
        except FileNotFoundError:
            return set()

    def has_part(self, kind: str, trial_id: str) -> bool:
        return (self.path / kind / f"{trial_id}{SUFFIX}").exists()

    @contextmanager
    def opened(self, name: str) -> Iterator[Source]:
        path = self.path / name
        with path.open("rb") as file:
            yield Source(file, _identity(os.fstat(file.fileno())), str(path))

    @contextmanager
    def staged(self, kind: str, fill: Fill) -> Iterator[Commit]:
        directory = self.path / kind
        directory.mkdir(parents=True, exist_ok=True)
        temporary = directory / f".{os.getpid()}-{secrets.token_hex(8)}.tmp"
        try:
            with temporary.open("xb") as file:
                fill(file)
                file.flush()
                os.fsync(file.fileno())
            yield lambda name: _rename(temporary, self.path / name)
        finally:
            temporary.unlink(missing_ok=True)

    def remove(self, files: Mapping[str, Identity]) -> None:
        with self.alone():
            for path in (
                self.path / name for name, identity in files.items() if is_still(self.path / name, identity)
            ):
                path.unlink()

    def set_aside(self, name: str, identity: Identity, move: bool) -> str | None:
        path, target = self.path / name, self.path / "set-aside" / name.replace("/", "-")
        with suppress(OSError), self.alone():
            if not is_still(path, identity):
                return None
            if move:
                target.parent.mkdir(exist_ok=True)
                if target.exists():
                    target = target.with_stem(f"{target.stem}-{identity[0]}")
                os.replace(path, target)
                return f"moved to set-aside/{target.name}"
        return LEFT

    def remove_abandoned(self, kind: str) -> None:
        remove_abandoned(self.path / kind)

    def alone(self) -> AbstractContextManager[None]:
        return locked(self.path / ".lock")

    def compacting(self) -> AbstractContextManager[None]:
        return locked(self.path / ".compaction.lock", wait=False)


def remove_abandoned(directory: Path) -> None:
    """The temporary files of processes that were killed."""
    for path in directory.glob(TEMPORARY):
        with suppress(FileNotFoundError):  # its writer is alive, and has renamed it
            if time.time() - path.stat().st_mtime > ABANDONED:
                path.unlink()


def _rename(temporary: Path, path: Path) -> None:
    os.replace(temporary, path)
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _identity(status: os.stat_result) -> Identity:
    return status.st_ino, status.st_size, status.st_mtime_ns


def is_still(path: Path, identity: Identity) -> bool:
    """Whether the file of that name is the one that was read."""
    try:
        return _identity(path.stat()) == identity
    except FileNotFoundError:
        return False


@contextmanager
def locked(path: Path, wait: bool = True) -> Iterator[None]:
    """Alone among the processes that lock this file; BlockingIOError if it is taken and `wait` is false.

    The system lets go of the lock when its holder dies, so none is ever stale. Some cluster file systems have
    no locks: there, writers go on without, because renaming alone keeps every part whole.
    """
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP):
                raise
        yield

"""A folder that is a directory: any number of processes, on all nodes that see it, read and write at once.

A file is written under a name that begins with a dot, which readers skip, flushed to disk and renamed. Then
the directory is flushed too, because a power cut could undo the rename otherwise. `vera.atomic_write` is not
enough here: a store stages several files first and names them later, under its lock.

Trap: between reading a file and removing or moving it, a writer may have replaced it. So a process that
replaces, moves or removes a file holds the folder's lock and compares the file's identity with that of the
file it read.
"""

import errno
import fcntl
import os
import secrets
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from sweeps.errors import StoreError
from sweeps.store.folder import (
    LEFT,
    SUFFIX,
    Commit,
    FileIdentity,
    Fill,
    Folder,
    NotAFile,
    OpenFile,
    explain_os_errors,
)

TEMPORARY = ".*.tmp"
"""Names of temporary files, here and in `vera.atomic_write`."""
ABANDONED = 24 * 3600
"""Age in seconds after which a temporary file counts as left by a killed process."""


class LocalFolder(Folder):
    """A directory. The identity of a file is its inode, its size and the time of its last change."""

    has_lock = True

    def __init__(self, path: Path, create: bool = True, needed: bool = True) -> None:
        """A directory that does not exist is created, or else is an error if `needed` and an empty folder if
        not."""
        self.path, self.location = path, str(path)
        with explain_os_errors("use", path):
            if create:
                path.mkdir(parents=True, exist_ok=True)
            elif needed and not path.exists():
                raise StoreError(f"There are no results in {path}: no such directory.")
            if needed or path.exists():
                os.listdir(path)

    def list_names(self, kind: str) -> set[str]:
        try:
            return {name for name in os.listdir(self.path / kind) if not name.startswith(".")}
        except FileNotFoundError:
            return set()

    def list_sizes(self, kind: str) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for name in self.list_names(kind):
            with suppress(FileNotFoundError):  # deleted since it was listed
                sizes[name] = (self.path / kind / name).stat().st_size
        return sizes

    def has_part(self, kind: str, trial_id: str) -> bool:
        return (self.path / kind / f"{trial_id}{SUFFIX}").exists()

    @contextmanager
    def open_file(self, name: str) -> Iterator[OpenFile]:
        path = self.path / name
        _require_regular(
            path.stat()
        )  # before opening: that blocks for a pipe and may have effects on a device
        with open(path, "rb", opener=_open_without_blocking) as file:
            status = os.fstat(file.fileno())
            _require_regular(status)
            yield OpenFile(file, _read_identity(status), str(path))

    @contextmanager
    def stage(self, kind: str, fill: Fill) -> Iterator[Commit]:
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

    def delete(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)

    def remove(self, files: Mapping[str, FileIdentity]) -> None:
        with self.lock():
            for name, identity in files.items():
                if has_identity(self.path / name, identity):
                    (self.path / name).unlink()

    def set_aside(self, name: str, identity: FileIdentity, move: bool) -> str | None:
        path, target = self.path / name, self.path / "set-aside" / name.replace("/", "-")
        with suppress(OSError), self.lock():
            if not has_identity(path, identity):
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

    def lock(self) -> AbstractContextManager[None]:
        return lock_file(self.path / ".lock")

    def lock_compaction(self) -> AbstractContextManager[None]:
        return lock_file(self.path / ".compaction.lock", wait=False)


def remove_abandoned(directory: Path) -> None:
    """Remove temporary files of processes that were killed."""
    for path in directory.glob(TEMPORARY):
        with suppress(FileNotFoundError):  # its writer is alive and has renamed it
            if time.time() - path.stat().st_mtime > ABANDONED:
                path.unlink()


def _rename(temporary: Path, path: Path) -> None:
    os.replace(temporary, path)
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _open_without_blocking(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def _require_regular(status: os.stat_result) -> None:
    """Raise `NotAFile` unless it is a regular file."""
    if not stat.S_ISREG(status.st_mode):
        kinds = {stat.S_IFDIR: "a directory", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
        kind = kinds.get(stat.S_IFMT(status.st_mode), "a device")
        raise NotAFile(f"{kind}, not a file", _read_identity(status))


def _read_identity(status: os.stat_result) -> FileIdentity:
    return status.st_ino, status.st_size, status.st_mtime_ns


def has_identity(path: Path, identity: FileIdentity) -> bool:
    """Whether the file exists and is the one that was read."""
    try:
        return _read_identity(path.stat()) == identity
    except FileNotFoundError:
        return False


@contextmanager
def lock_file(path: Path, wait: bool = True) -> Iterator[None]:
    """Excludes other processes that lock this file; BlockingIOError if it is locked and `wait` is false.

    The system releases the lock when its holder dies, so no lock is ever stale. Some cluster file systems
    have no locks. Writers continue without a lock there: the rename alone keeps every part complete.
    """
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP):
                raise
        yield

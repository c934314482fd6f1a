"""The folder that a store lives in: files by name, each written whole or not at all.

A name is `kind/file`. What every folder promises: a file that is listed is whole; a file that was committed
is listed by whoever looks next; a file that is gone raises FileNotFoundError, and what the system refuses any
other OSError with a number. What differs is the lock. Where there is one, as in a directory, a row may take
the place of an earlier one under the same name. Where there is none, no name is ever used for two contents,
so nobody has to be alone.
"""

import errno
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweeps.errors import StoreError

SUFFIX = ".parquet"
LEFT = "left where it is"
"""What became of a bad file that may not be moved."""
Identity = tuple[int | str, ...]
"""Tells a file from the one that took its name."""
Fill = Callable[[Any], None]
"""Writes what a file is to hold into an open one."""
Commit = Callable[[str], None]
"""Gives a staged file its name."""


@dataclass(frozen=True)
class Source:
    """A file that is open for reading."""

    file: Any
    identity: Identity
    address: str
    """What to call it in a message."""


Opening = AbstractContextManager[Source]


class Folder(ABC):
    """Files by name."""

    place: str
    """What to call the folder in a message."""
    has_lock: bool

    @abstractmethod
    def names(self, kind: str) -> set[str]:
        """The files of a kind, without those whose names begin with a dot; none where nothing of the kind was
        written yet."""

    @abstractmethod
    def has_part(self, kind: str, trial_id: str) -> bool:
        """Whether the trial has a file of its own there."""

    @abstractmethod
    def opened(self, name: str) -> Opening:
        """The file, for as long as the block runs."""

    def each(self, names: Iterable[str]) -> Iterator[tuple[str, Opening]]:
        """The files one after the other, each to be opened by whoever draws it."""
        return ((name, self.opened(name)) for name in names)

    @abstractmethod
    def staged(self, kind: str, fill: Fill) -> AbstractContextManager[Commit]:
        """A file that is filled and safe, but has no name yet; without a commit it is gone after the
        block."""

    @abstractmethod
    def remove(self, files: Mapping[str, Identity]) -> None:
        """Those of the files that are still the ones that were read."""

    @abstractmethod
    def set_aside(self, name: str, identity: Identity, move: bool) -> str | None:
        """Move a bad file out of the way, if it may be moved. What became of it, and what is to be done where
        this folder moves none; None if a good one has taken its name since."""

    @abstractmethod
    def remove_abandoned(self, kind: str) -> None:
        """What writers left that were killed."""

    @abstractmethod
    def alone(self) -> AbstractContextManager[None]:
        """Alone among those who replace, move or remove files, where the folder has a lock."""

    @abstractmethod
    def compacting(self) -> AbstractContextManager[None]:
        """Alone among those who compact, or BlockingIOError, where the folder has a lock."""


_REASONS = {
    errno.ENOSPC: "the disk is full. Free some space and run the same command again: nothing that was stored is lost",
    errno.EDQUOT: "your disk quota is used up. Free some space and run the same command again: nothing that was stored is lost",
    errno.EROFS: "the file system is read-only. Choose another directory with --results-dir",
    errno.EACCES: "permission denied. Choose another directory with --results-dir, or change its permissions",
    errno.EPERM: "permission denied. Choose another directory with --results-dir, or change its permissions",
    errno.ENOTDIR: "it is a file where a directory should be. Choose another directory with --results-dir",
    errno.EISDIR: "a directory has the name of a file to be written. Move it away, or choose another directory with --results-dir",
    errno.EEXIST: "it is a file where a directory should be. Choose another directory with --results-dir",
}


@contextmanager
def explained(doing: str, place: str | Path) -> Iterator[None]:
    """What the file system refused, as a StoreError that says what to do."""
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, error.strerror or str(error))
        raise StoreError(f"Cannot {doing} the results in {place}: {reason}.") from error

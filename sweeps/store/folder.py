"""The folder of a store: files by name, each written completely or not at all.

A file's name is `kind/file`. Every folder guarantees:

- a listed file is complete;
- a committed file is in every later listing;
- reading a file that was removed raises FileNotFoundError; whatever else the system refuses raises an OSError
  that has an errno.

Folders differ in locking. A directory has a lock, so a row may replace an earlier one under the same name. A
bucket has none, so a name never stands for two contents and no writer needs exclusive access.
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
"""What happened to a bad file that may not be moved."""
FileIdentity = tuple[int | str, ...]
"""Differs between a file and another one that was written under its name."""
Fill = Callable[[Any], None]
"""Writes the content of a file into an open file."""
Commit = Callable[[str], None]
"""Gives a staged file its name."""


@dataclass(frozen=True)
class OpenFile:
    """A file that is open for reading."""

    file: Any
    identity: FileIdentity
    location: str
    """For messages."""


Opening = AbstractContextManager[OpenFile]


class NotAFile(Exception):
    """The name stands for a directory, a pipe or a device; the text says which."""

    def __init__(self, reason: str, identity: FileIdentity) -> None:
        super().__init__(reason)
        self.identity = identity


class Folder(ABC):
    """Reads and writes files at one location."""

    location: str
    """The location as it was given; for messages."""
    has_lock: bool

    @abstractmethod
    def list_names(self, kind: str) -> set[str]:
        """The names of the files of a kind, without those that begin with a dot; empty if there are none."""

    @abstractmethod
    def list_sizes(self, kind: str) -> dict[str, int]:
        """The names that `list_names` gives, with the size of each file in bytes."""

    @abstractmethod
    def has_part(self, kind: str, trial_id: str) -> bool:
        """Whether the trial has a file of its own of this kind."""

    @abstractmethod
    def open_file(self, name: str) -> Opening:
        """The file, open until the block ends; `NotAFile` if it is none."""

    def open_each(self, names: Iterable[str]) -> Iterator[tuple[str, Opening]]:
        """The files in order; the caller enters each `Opening`."""
        return ((name, self.open_file(name)) for name in names)

    @abstractmethod
    def stage(self, kind: str, fill: Fill) -> AbstractContextManager[Commit]:
        """A file that is written to disk but has no name yet. It is removed after the block unless it was
        committed."""

    @abstractmethod
    def delete(self, name: str) -> None:
        """Delete the file if it exists."""

    @abstractmethod
    def remove(self, files: Mapping[str, FileIdentity]) -> None:
        """Remove those files that still have the given identity."""

    @abstractmethod
    def set_aside(self, name: str, identity: FileIdentity, move: bool) -> str | None:
        """Move a bad file out of the way if `move` is set and the folder can. Returns what happened to it
        and, if the folder cannot move it, what to do; None if another file has taken its name."""

    @abstractmethod
    def remove_abandoned(self, kind: str) -> None:
        """Remove temporary files of writers that were killed."""

    @abstractmethod
    def lock(self) -> AbstractContextManager[None]:
        """Excludes all others that replace, move or remove files, if the folder has a lock."""

    @abstractmethod
    def lock_compaction(self) -> AbstractContextManager[None]:
        """Excludes other compactions, if the folder has a lock; BlockingIOError if one is running."""


_FREE_SPACE = "Free some space and run the same command again: everything that was stored is safe"
_CHOOSE_ANOTHER = "Choose another directory with --results-dir"
_REASONS = {
    errno.ENOSPC: f"the disk is full. {_FREE_SPACE}",
    errno.EDQUOT: f"your disk quota is used up. {_FREE_SPACE}",
    errno.EROFS: f"the file system is read-only. {_CHOOSE_ANOTHER}",
    errno.EACCES: f"permission denied. {_CHOOSE_ANOTHER}, or change its permissions",
    errno.EPERM: f"permission denied. {_CHOOSE_ANOTHER}, or change its permissions",
    errno.ENOTDIR: f"it is a file where a directory should be. {_CHOOSE_ANOTHER}",
    errno.EISDIR: f"a directory has the name of a file to be written. Move it. {_CHOOSE_ANOTHER}",
    errno.EEXIST: f"it is a file where a directory should be. {_CHOOSE_ANOTHER}",
}


@contextmanager
def explain_os_errors(doing: str, location: str | Path) -> Iterator[None]:
    """Raise a StoreError that says what to do in place of an OSError."""
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, error.strerror or str(error))
        raise StoreError(f"Cannot {doing} the results in {location}: {reason}.") from error

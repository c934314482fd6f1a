"""What evaluation works out once and keeps: a trained digit classifier, the statistics of a reference set.

The folder is VERA_CACHE, else `evaluation` in the data directory. File names are made of fingerprints and
nothing in a file knows a path, so a folder can be copied to another machine. A file is written whole or not
at all. Trap: what is kept is never needed. A file that is missing, damaged or of another version, and a
folder that may not be written, mean that the work is done again.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

from vera.atomic_write import write_atomically
from vera.data.files.locations import DataDir, data_directory

T = TypeVar("T")


def find_cache_folder(data_dir: DataDir = None) -> Path:
    """The folder for what is worked out once."""
    named = os.environ.get("VERA_CACHE")
    return Path(named).expanduser() if named else data_directory(data_dir) / "evaluation"


def load_or_compute(path: Path, find: Callable[[], T | None], make: Callable[[], T]) -> T:
    """What is kept there, or else made now, by one process at a time: others wait for what the first makes,
    and find it."""
    found = find()
    if found is None:
        with _alone(path):
            found = find()
            return make() if found is None else found
    return found


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Where there can be no lock, each goes on by itself."""
    lock = path.with_name(f".{path.name}.lock")
    with ExitStack() as stack:
        with suppress(OSError):
            lock.parent.mkdir(parents=True, exist_ok=True)
            fcntl.flock(stack.enter_context(lock.open("ab")), fcntl.LOCK_EX)
            stack.callback(
                lock.unlink, missing_ok=True
            )  # who waits has it open; who comes later finds what was made
        yield


def write_cache_file(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Write a file; where that cannot be done, leave everything as it was."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as file:
            write(file)

"""A cache for costly results of evaluation: a trained digit classifier, the statistics of a reference set.

The folder is VERA_CACHE, or `evaluation` in the data directory. File names consist of fingerprints and no
file contains a path, so the folder can be copied to another machine. Files are written atomically. The cache
is optional: if a file is missing, damaged or of another version, or the folder cannot be written, the result
is computed again.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

from vera.atomic_write import write_atomically
from vera.data.files.locations import DataDir, resolve_data_dir

T = TypeVar("T")


def find_cache_folder(data_dir: DataDir = None) -> Path:
    """Return the folder of the cache."""
    folder = os.environ.get("VERA_CACHE")
    return Path(folder).expanduser() if folder else resolve_data_dir(data_dir) / "evaluation"


def load_or_compute(path: Path, load: Callable[[], T | None], compute: Callable[[], T]) -> T:
    """Return the result of `load`, or of `compute` if `load` returns None.

    One process computes at a time; the others wait and then load its result.
    """
    cached = load()
    if cached is None:
        with _lock(path):
            cached = load()
            return compute() if cached is None else cached
    return cached


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold the lock of the file. Where locks are not possible, processes run without one."""
    lock = path.with_name(f".{path.name}.lock")
    with ExitStack() as stack:
        with suppress(OSError):
            lock.parent.mkdir(parents=True, exist_ok=True)
            fcntl.flock(stack.enter_context(lock.open("ab")), fcntl.LOCK_EX)
            # Waiting processes have the lock file open; later ones find the cached file.
            stack.callback(lock.unlink, missing_ok=True)
        yield


def write_cache_file(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Write a file atomically. If that is not possible, nothing changes."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as file:
            write(file)

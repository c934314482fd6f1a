"""A cache of parsed tables: a table that takes minutes to parse is saved as a .npy file in the folder of its
source, and memory-mapped afterwards.

The file name contains the checksum of the source and the version of the conversion, so another source or
conversion uses another file. The file is moved into place atomically. If the data directory is read-only or
full, nothing is cached, and no error is raised.

Trap: the superuser can write to any directory. A directory whose mode lets nobody write is treated as
read-only for every user.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vera.atomic_write import write_atomically

Array = NDArray[np.float32]
ANYBODY_WRITES = 0o222


def load_or_convert(source: Path, checksum: str, version: int, convert: Callable[[], Array]) -> Array:
    """Return the cached array, or the result of `convert`, which is cached if the folder is writable."""
    target = source.with_name(f"{source.name}.{checksum[:16]}-v{version}.npy")
    cached = _open(target)
    if cached is not None:
        return cached
    array = convert()
    if not source.parent.stat().st_mode & ANYBODY_WRITES:
        return array
    with suppress(OSError), write_atomically(target) as file:
        np.save(file, array)
    cached = _open(target)
    return array if cached is None else cached


def _open(path: Path) -> Array | None:
    try:
        cached = np.load(path, mmap_mode="r")
    except (OSError, EOFError, ValueError):
        return None
    return cached if cached.dtype == np.float32 and cached.ndim == 2 else None

"""Converted tables: what took minutes to parse is kept as a .npy file beside its source, and opened without
being read.

The name carries the source's checksum and the version of the conversion, so another source or another rule is
another file. It is written elsewhere and moved into place whole. A data directory may be read-only or full;
that costs time and is no error.

Trap: to the superuser no directory is read-only. One whose mode lets nobody write is meant to stay as it is,
whoever asks.
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
    """The array kept beside the source, else what `convert` makes, kept from now on if the folder can be
    written."""
    target = source.with_name(f"{source.name}.{checksum[:16]}-v{version}.npy")
    kept = _open(target)
    if kept is not None:
        return kept
    array = convert()
    if not source.parent.stat().st_mode & ANYBODY_WRITES:
        return array
    with suppress(OSError), write_atomically(target) as file:
        np.save(file, array)
    kept = _open(target)
    return array if kept is None else kept


def _open(path: Path) -> Array | None:
    try:
        kept = np.load(path, mmap_mode="r")
    except (OSError, EOFError, ValueError):
        return None
    return kept if kept.dtype == np.float32 and kept.ndim == 2 else None

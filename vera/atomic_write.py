"""Files that are written whole or not at all.

Trap: two nodes of a cluster often have processes of one number, and a disk in common. So a temporary name is
drawn by lot.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def write_atomically(path: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """A file that takes this name when the block ends, flushed to disk; if the block fails, what had the name
    keeps it."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)

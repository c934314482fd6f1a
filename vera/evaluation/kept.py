"""What evaluation works out once and keeps: a trained digit classifier, the statistics of a reference set.

The folder is VERA_CACHE, else `evaluation` in the data directory. File names are made of fingerprints and nothing in a file knows
a path, so a folder can be copied to another machine. A file is written whole or not at all. Trap: what is kept is never needed.
A file that is missing, damaged or of another version, and a folder that may not be written, mean that the work is done again.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from vera.data.files import DataDir, data_directory


def kept_in(data_dir: DataDir = None) -> Path:
    """The folder for what is worked out once."""
    named = os.environ.get("VERA_CACHE")
    return Path(named).expanduser() if named else data_directory(data_dir) / "evaluation"


def keep(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Write a file under a temporary name and rename it; where that cannot be done, leave everything as it was."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)

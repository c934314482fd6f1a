"""Whether results can be written, found out before anything is trained. A run reads its store first, so a
read-only one would show only when the first trial has ended.

A file without a name is created in each folder of the results and removed at once; nobody sees it. Trap:
permission bits do not tell what the superuser may do, nor that a file system is read-only.
"""

import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sweeps.store.bucket_folder import BucketFolder
from sweeps.store.folder import explain_os_errors
from sweeps.store.location import Location, is_url


def check_writable(*locations: Location) -> None:
    """Raise `StoreError` unless results can be written to all of these places. A directory that does not
    exist is fine if it could be created."""
    for location in locations:
        with explain_os_errors("write", location):
            if is_url(location):
                _write_object(str(location))
                continue
            for folder in _list_folders(Path(location)):
                with tempfile.TemporaryFile(dir=folder):
                    pass


def _list_folders(path: Path) -> Iterator[Path]:
    """The directory and those in it; if it does not exist, the one in which it would be created."""
    if not path.exists():
        yield next(parent for parent in path.absolute().parents if parent.exists())
        return
    yield path
    names = (name for name in os.listdir(path) if not name.startswith("."))
    yield from (path / name for name in names if (path / name).is_dir())


def _write_object(location: str) -> None:
    folder, name = BucketFolder(location), f".writable-{secrets.token_hex(16)}"
    with folder.stage("", lambda file: file.write(b"probe")) as commit:
        commit(name)
    folder.delete(name)

"""What follows from a spec and the code alone, kept between commands: resolved settings with the data's
fingerprint, and the size of the model.

Deriving them loads torch, which takes longer than all the rest of `vera plan`. They are kept for specs of
built-in components whose data set reads no file of the user. The name of the cache file holds a stamp of the
package's files, so a change to the code is never answered with old facts. A missing, damaged or unwritable
cache file only costs time. The file lies in VERA_CACHE, else in ~/.cache/vera.

Only the command line opens the cache. In any other process, such as a notebook, the classes in memory may
differ from the files, so nothing is kept.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import vera
from sweeps.trial.canonical_json import canonical_json
from vera.atomic_write import write_atomically
from vera.spec.trial_spec import TrialSpec

USER_FILES = ("data_dir", "file")
"""Settings of data sets whose content is not decided by the code."""
MOST_ENTRIES = 20_000
PACKAGES = ("numpy", "torch")
"""Packages whose version is part of the stamp."""


class SpecCache:
    """Derived values of specs by kind, in memory and in a file; nothing is kept until `open`."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._known: dict[str, Any] = {}
        self._is_changed = False

    def open(self, folder: Path) -> None:
        """Read the values that an earlier command kept in this folder, and keep new ones."""
        self._path = folder / f"specs-{_hash_place()}-{compute_code_stamp()}.json"
        self._known, self._is_changed = _read_entries(self._path), False

    def find(self, kind: str, spec: TrialSpec, derive: Callable[[], Any]) -> Any:
        """The value of this kind for the spec, whatever its seed; derived if it is not known. The value is
        plain JSON data and must not be changed."""
        if self._path is None:
            return derive()
        key = f"{kind} {canonical_json({**spec.to_dict(), 'seed': 0})}"
        if key not in self._known:
            value = derive()
            if not is_decided_by_code(spec):
                return value
            self._known[key] = value
            self._is_changed = True
        return self._known[key]

    def has(self, kind: str, spec: TrialSpec) -> bool:
        """Whether the value is known, which implies that the data set reads no file of the user."""
        return f"{kind} {canonical_json({**spec.to_dict(), 'seed': 0})}" in self._known

    def save(self) -> None:
        """Write new values to the file, and remove the files of earlier states of the same code."""
        path = self._path
        if path is None or not self._is_changed or len(self._known) > MOST_ENTRIES:
            return
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with write_atomically(path, mode=0o600) as file:
                file.write(json.dumps(self._known).encode())
            for other in path.parent.glob(f"specs-{_hash_place()}-*.json"):
                if other != path:
                    other.unlink()
            self._is_changed = False


def _read_entries(path: Path) -> dict[str, Any]:
    try:
        known = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) else {}


def is_decided_by_code(spec: TrialSpec) -> bool:
    """Whether all components are built in, and the data set has no setting that names a file or directory."""
    from vera.spec.registry import datasets
    from vera.spec.resolve import list_components
    from vera.spec.settings import settings_of

    factories = [registry.get(name) for registry, name in list_components(spec).values()]
    is_built_in = all(f"{factory.__module__}.".startswith("vera.") for factory in factories)
    return is_built_in and settings_of(datasets.get(spec.dataset["name"])).keys().isdisjoint(USER_FILES)


def compute_code_stamp() -> str:
    """Differs after any change to a file of the package, and between versions of Python and of `PACKAGES`."""
    files = sorted(_iterate_files(str(Path(vera.__file__).parent)))
    return _hash([sys.version, [_find_version(name) for name in PACKAGES], files])


def find_cache_folder() -> Path:
    """VERA_CACHE, else ~/.cache/vera."""
    return Path(os.environ.get("VERA_CACHE") or "~/.cache/vera").expanduser()


def _iterate_files(folder: str) -> Iterator[tuple[str, int, int]]:
    """(path, size, time of the last change in nanoseconds) of all files except byte code."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _iterate_files(entry.path)
            else:
                status = entry.stat()
                yield entry.path, status.st_size, status.st_mtime_ns


def _find_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _hash_place() -> str:
    return _hash(str(Path(vera.__file__).parent))


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


spec_cache = SpecCache()

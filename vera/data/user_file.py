"""A user's own file: csv with a header, or arrays of numpy (.npy, .npz)."""

import zlib
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile, ZipFile, is_zipfile

import numpy as np
from numpy.typing import NDArray

from vera.data.tables.csv_table import read_csv
from vera.data.tables.user_table import check_values
from vera.data.user_data import UserData, read_user_data
from vera.errors import DataCorrupt, DataMissing, SettingError
from vera.wording import format_bytes

MAX_ARRAYS = 8_000_000_000
"""Bytes of the arrays in an .npz file; a small compressed file can hold any number of zeros."""
OTHER_FORMATS = {
    ".parquet": "pandas.read_parquet(path)",
    ".xlsx": "pandas.read_excel(path)",
    ".json": "pandas.read_json(path)",
    ".feather": "pandas.read_feather(path)",
    ".txt": "numpy.loadtxt(path)",
    ".tsv": "pandas.read_csv(path, sep='\\t')",
}


def load(path: str | Path, label: str | None = None) -> UserData:
    """Read a file of points, for `vera.train` and `model.score`.

    A csv file has a header; all its columns are numbers, except the one that `label` names, which holds the
    class. An .npy file holds (N, D) points or (N, C, H, W) images. An .npz file holds one such array, or `x`
    and the labels `y`; `label` names another array of labels.
    """
    path = Path(path)
    if not path.is_file():
        raise DataMissing(f"There is no file {path}. Check the path; it is relative to {Path.cwd().name}/.")
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return _load_csv(path, label)
    if suffix not in (".npy", ".npz"):
        known = OTHER_FORMATS.get(suffix)
        remedy = (
            f"read it with {known} and pass that" if known else "convert it or pass an array of its points"
        )
        raise SettingError(f"{path} is not a .csv, .npy or .npz file: {remedy}.")
    return _load_arrays(path, label)


def _load_csv(path: Path, label: str | None) -> UserData:
    columns = read_csv(path, label)
    if not columns.x.size:
        raise DataCorrupt(f"{path} has {len(columns.x)} rows and {len(columns.names)} columns of numbers.")
    check_values(columns, path)
    labels = None if label is None else np.array(columns.labels)
    return UserData(columns.x, labels, tuple(columns.names), path.stem)


def _load_arrays(path: Path, label: str | None) -> UserData:
    try:
        with path.open("rb") as file:
            _check_unpacked_size(file)
            loaded = np.load(file, allow_pickle=False)
            is_array = isinstance(loaded, np.ndarray)
            arrays = {"x": loaded} if is_array else {name: loaded[name] for name in loaded.files}
    except (OSError, ValueError, EOFError, MemoryError, NotImplementedError, zlib.error, BadZipFile) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataCorrupt(f"{path} cannot be read as numpy arrays ({reason}).") from error
    x, labels = _choose_arrays(arrays, label, path)
    user = read_user_data(x if labels is None else (x, labels))
    return UserData(user.x, user.labels, name=path.stem)


def _check_unpacked_size(file: IO[bytes]) -> None:
    """Raise ValueError if the file is a zip whose arrays are too large; numpy reads whatever it announces."""
    if is_zipfile(file):
        with ZipFile(file) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > MAX_ARRAYS:
            limit = format_bytes(MAX_ARRAYS)
            raise ValueError(f"its arrays have {format_bytes(size)}, more than {limit}; save them as .npy")
    file.seek(0)


def _choose_arrays(
    arrays: dict[str, NDArray[Any]], label: str | None, path: Path
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """The points, and the labels if there are any."""
    found = ", ".join(arrays) or "none"
    if label is not None and label not in arrays:
        raise SettingError(f"{path} has no array '{label}' of labels; its arrays are {found}.")
    labels = label if label is not None else "y" if "y" in arrays and len(arrays) > 1 else None
    rest = [name for name in arrays if name != labels]
    name = "x" if "x" in rest else rest[0] if len(rest) == 1 else None
    if name is None:
        raise SettingError(f"{path} must hold one array, or x and y; its arrays are {found}.")
    return arrays[name], None if labels is None else arrays[labels]

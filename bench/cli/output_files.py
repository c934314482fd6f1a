"""Files of points, scores and plots that a verb writes. The ending of the name decides the format."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vera.atomic_write import write_atomically
from vera.errors import SettingError, VeraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

PLOTS, ARRAYS = (".png", ".pdf", ".svg"), (".csv", ".npy", ".npz")


def check_ending(file: str, endings: Sequence[str]) -> str:
    """The ending of a file name; SettingError if it is none of these."""
    ending = Path(file).suffix.lower()
    if ending not in endings:
        raise SettingError(f"{file}: the name must end in {', '.join(endings)}.")
    return ending


def write_columns(file: str, columns: "Mapping[str, NDArray[Any]]") -> None:
    """Write columns of equal length: csv with a header, an npy file of the first column, or an npz file."""
    ending = check_ending(file, ARRAYS)
    if ending == ".csv":
        write_bytes(file, format_csv(columns).encode())
        return
    import numpy as np

    content = io.BytesIO()
    if ending == ".npy":
        np.save(content, next(iter(columns.values())))
    else:
        arrays: dict[str, Any] = dict(columns)
        np.savez(content, **arrays)
    write_bytes(file, content.getvalue())


def format_csv(columns: "Mapping[str, NDArray[Any]]") -> str:
    """The columns as csv with a header; numbers are read back exactly."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def write_figure(file: str, figure: "Figure") -> None:
    """Write and close a matplotlib figure."""
    import matplotlib.pyplot as plt

    content = io.BytesIO()
    figure.savefig(content, format=check_ending(file, PLOTS).removeprefix("."), dpi=150)
    plt.close(figure)
    write_bytes(file, content.getvalue())


def write_bytes(file: str, content: bytes) -> None:
    """Replace the file atomically, creating its directory."""
    path = Path(file)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as opened:
            opened.write(content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise VeraError(f"{file} cannot be written: {reason}. Choose another file.") from error

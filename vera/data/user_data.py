"""What a user passes as data, read into one form: arrays, tensors, frames, pairs (x, y) and torch data sets.

Frames are recognised by their attributes (`columns`, `to_numpy`), so neither pandas nor another frame library
is imported. Everything is read into memory once. Trap: a torch data set is indexed once per point, so random
augmentation in it is drawn once and does not change between epochs.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset, IterableDataset

from vera.data.contract import check_finite
from vera.data.tensor import check_floats, check_points
from vera.errors import DataCorrupt, SettingError
from vera.spec.settings import suggest_or_list
from vera.wording import plural

ACCEPTED = (
    "an array or tensor of points or images, a pair (x, y), a data frame, a torch Dataset, "
    "vera.data.load(path) or a vera.data.DataSet"
)


@dataclass(frozen=True, eq=False)
class UserData:
    """Points in the user's units, with classes and names where there are any.

    `x` has floats of shape (N, D) or (N, C, H, W), or images of bytes. `labels` are the classes as the user
    wrote them. numpy takes this object for the array `x`.
    """

    x: NDArray[Any]
    labels: NDArray[Any] | None = None
    feature_names: tuple[str, ...] | None = None
    name: str = "tensor"

    def __post_init__(self) -> None:
        if self.labels is not None and len(self.labels) != len(self.x):
            raise SettingError(
                f"There are {plural(len(self.x), 'point')} and {plural(len(self.labels), 'label')}; "
                "each point needs one label."
            )

    def __len__(self) -> int:
        return len(self.x)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.x, dtype) if copy else np.asarray(self.x, dtype)

    @property
    def is_bytes(self) -> bool:
        """Whether the points are images of bytes."""
        return bool(self.x.dtype == np.uint8)


def read_user_data(data: Any, label: str | None = None) -> UserData:
    """Read any accepted input. `label` names the column of a frame or file that holds the class."""
    if isinstance(data, UserData):
        return data if label is None else _move_label(data, label)
    if hasattr(data, "columns") and hasattr(data, "to_numpy"):
        return _read_frame(data, label)
    if label is not None:
        raise SettingError(
            f"label='{label}' names a column of a data frame or file; pass labels of other data as (x, y)."
        )
    if isinstance(data, tuple) and len(data) == 2:
        return replace(read_user_data(data[0]), labels=_read_labels(data[1]))
    if isinstance(data, Dataset):
        return _read_torch_dataset(data)
    if isinstance(data, Tensor | np.ndarray):
        return UserData(_read_points(data))
    hint = "; pass torch.tensor(data)" if isinstance(data, list) else ""
    raise SettingError(f"Data must be {ACCEPTED}, got {type(data).__name__}{hint}.")


def encode_labels(labels: NDArray[Any], known: Sequence[str] | None = None) -> tuple[Tensor, tuple[str, ...]]:
    """Return classes as numbers from 0, and their names.

    Classes are in sorted order, numbers by value; `known` lists the names in another order.
    """
    values = _check_labels(labels)
    found, numbers, sizes = np.unique(values, return_inverse=True, return_counts=True)
    names = tuple(map(str, found.tolist()))
    if known is not None:
        if unknown := [name for name in names if name not in known]:
            raise SettingError(f"There is no class '{unknown[0]}'; the classes are {', '.join(known)}.")
        positions = np.array([known.index(name) for name in names])
        return torch.from_numpy(positions[numbers].astype(np.int64)), tuple(known)
    if len(names) < 2:
        raise SettingError(f"All labels are '{names[0]}': a classifier needs at least two classes.")
    if (single := int((sizes == 1).sum())) > len(names) / 2:
        raise SettingError(
            f"There are {len(names)} classes, {single} of them with a single point. "
            "Choose the labels that hold the class, or merge such points into one class."
        )
    return torch.from_numpy(numbers.astype(np.int64)), names


def _check_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels that can be sorted: whole numbers, or text."""
    if labels.dtype.kind in "biuU":
        return labels
    if labels.dtype.kind == "f":
        wrong = np.flatnonzero(~np.isfinite(labels) | (labels != np.floor(labels)))
        if not len(wrong):
            return labels.astype(np.int64)
        raise SettingError(
            f"Classes must be whole numbers or text; the label of row {wrong[0]} is {labels[wrong[0]]:g}."
        )
    for row, value in enumerate(labels.tolist()):
        if not isinstance(value, str | int | np.integer):
            raise SettingError(
                f"Classes must be whole numbers or text; the label of row {row} is {value!r}, "
                f"a {type(value).__name__}."
            )
    is_text = any(isinstance(value, str) for value in labels.tolist())
    return np.array([str(value) for value in labels.tolist()]) if is_text else labels.astype(np.int64)


def _read_points(x: Any) -> NDArray[Any]:
    check_points(x, "the data")
    is_bytes = x.dtype in (torch.uint8, np.uint8)
    if x.ndim == 2 or not is_bytes:
        check_floats(x, "the data")
    if isinstance(x, Tensor):
        is_exact = is_bytes or x.dtype == torch.float64
        x = (x.detach().cpu() if is_exact else x.detach().cpu().float()).numpy()
    x = np.asarray(x, x.dtype.newbyteorder("="))
    check_finite(torch.from_numpy(np.ascontiguousarray(x)), "tensor", "training")
    return x


def _read_labels(y: Any) -> NDArray[Any]:
    if isinstance(y, Tensor):
        y = y.detach().cpu().numpy()
    try:
        labels = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    except ValueError as error:  # rows of different lengths
        raise SettingError(f"Labels must be one class per point ({error}).") from error
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        hint = "; use y.argmax(1) for one-hot labels" if labels.ndim == 2 else ""
        raise SettingError(f"Labels must be one class per point, got shape {labels.shape}{hint}.")
    return labels


def _read_frame(frame: Any, label: str | None) -> UserData:
    names = [str(name) for name in frame.columns]
    if repeated := [name for name, times in Counter(names).items() if times > 1]:
        raise SettingError(f"The data frame has two columns '{repeated[0]}'. Rename or drop one.")
    if label is not None and label not in names:
        raise SettingError(f"The data frame has no column '{label}'.{suggest_or_list(label, names)}")
    features = {name: frame[key] for name, key in zip(names, frame.columns, strict=True) if name != label}
    if not features or not len(frame):
        raise SettingError(
            f"The data frame has {plural(len(frame), 'row')} and {plural(len(features), 'column')} of "
            "features; it needs at least one of each."
        )
    x = np.stack([_read_column(column, name) for name, column in features.items()], axis=1)
    key = None if label is None else list(frame.columns)[names.index(label)]
    labels = None if key is None else _read_labels(frame[key])
    return UserData(x, labels, tuple(features), "frame")


def _read_column(column: Any, name: str) -> NDArray[np.float64]:
    """The column as finite floats; raises an error that names the column and the row."""
    values = np.asarray(column.to_numpy())
    for row, value in enumerate(values.tolist() if values.dtype.kind not in "biuf" else ()):
        if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
            raise SettingError(
                f"Column '{name}' of the data frame is not numeric (row {row}: {value!r}). "
                f"Encode or drop it, or pass label='{name}' if it holds the class."
            )
    numbers = values.astype(np.float64)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        raise DataCorrupt(
            f"Column '{name}' of the data frame has {plural(len(wrong), 'value')} not finite, the first in "
            f"row {wrong[0]} ({numbers[wrong[0]]:g}). Fill in such values or drop their rows."
        )
    return numbers


def _move_label(data: UserData, label: str) -> UserData:
    """Use a column of features as labels."""
    names = data.feature_names or ()
    if data.labels is not None:
        raise SettingError(f"The data have labels already; label='{label}' would replace them.")
    if label not in names:
        raise SettingError(f"The data have no column '{label}'.{suggest_or_list(label, list(names))}")
    at = names.index(label)
    rest = names[:at] + names[at + 1 :]
    return replace(data, x=np.delete(data.x, at, axis=1), labels=data.x[:, at], feature_names=rest)


def _read_torch_dataset(data: Any) -> UserData:
    name = type(data).__name__
    if isinstance(data, IterableDataset) or not hasattr(data, "__len__"):
        raise SettingError(f"{name} has no length: pass a map-style Dataset, or torch.stack(list(data)).")
    if not len(data):
        raise SettingError(f"{name} is empty: it must have at least one point.")
    items = [data[i] for i in range(len(data))]
    sizes = {len(item) if isinstance(item, tuple | list) else 0 for item in items}
    if len(sizes) > 1 or max(sizes) > 2:
        raise SettingError(f"The items of {name} must all be x, or all be pairs (x, y).")
    points = [item[0] if isinstance(item, tuple | list) else item for item in items]
    labels = [_get_label(item[1]) for item in items] if sizes == {2} else None
    shape = tuple(np.shape(points[0])) if isinstance(points[0], Tensor | np.ndarray) else None
    for i, point in enumerate(points):
        if not isinstance(point, Tensor | np.ndarray):
            raise SettingError(
                f"Item {i} of {name} must be a tensor or an array, got {type(point).__name__}; convert "
                "images with transform=torchvision.transforms.ToTensor()."
            )
        if tuple(point.shape) != shape:
            raise SettingError(
                f"Item {i} of {name} has shape {tuple(point.shape)}, item 0 has {shape}: resize them."
            )
    x = torch.stack([torch.as_tensor(point) for point in points])
    return UserData(_read_points(x), None if labels is None else _read_labels(labels), name=name)


def _get_label(y: Any) -> Any:
    return y.item() if isinstance(y, Tensor | np.generic | np.ndarray) and np.size(y) == 1 else y

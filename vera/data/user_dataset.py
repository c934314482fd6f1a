"""User data as a data set: points are scaled, flattened and split as requested, and the data set records how.

A data set keeps the centre and width of its scale and the shape that the user gave, so a saved model can
return samples in the user's units and shape.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vera.data.contract import DataSet
from vera.data.labelled import LabelledData, Split
from vera.data.tables.contract import Floats, Rows, hold_out_last, scale_points
from vera.data.tensor import TensorData, find_side
from vera.data.user_data import UserData, encode_labels, read_user_data
from vera.errors import SettingError

HALF_RANGE = 127.5
"""Centre and half width of the range of a byte: pixels are scaled to [−1, 1], as for all images here."""
HELD_OUT = 0.1


@dataclass(frozen=True, eq=False)
class PointScale:
    """Centre and width of each coordinate, of the shape of a point, in double precision."""

    centre: Floats
    width: Floats

    @classmethod
    def constant(cls, shape: tuple[int, ...], centre: float, width: float) -> "PointScale":
        """One centre and width for all coordinates."""
        return cls(np.full(shape, centre), np.full(shape, width))

    def to_tensors(self) -> tuple[Tensor, Tensor]:
        return torch.from_numpy(self.centre.copy()), torch.from_numpy(self.width.copy())


class LabelledPoints(LabelledData):
    """A user's points with classes, in memory. `points` are scaled, `labels` numbered from 0."""

    def __init__(
        self, points: Tensor, labels: Tensor, class_names: tuple[str, ...], name: str = "tensor"
    ) -> None:
        self.points, self.labels, self.class_names, self.name = points, labels, class_names, name
        self.data_dim, self.classes = points[0].numel(), len(class_names)

    @cached_property
    def fingerprint(self) -> str:
        digest = hashlib.sha256(f"{tuple(self.points.shape)} {self.class_names}".encode())
        digest.update(self.points.numpy().data)
        digest.update(self.labels.numpy().data)
        return digest.hexdigest()[:16]

    def split(self, seed: int) -> Split:
        """Hold out a tenth of the points, shuffled by the seed."""
        train, held_out = hold_out_last(len(self.labels), HELD_OUT, seed)
        return self.select(train, held_out if len(self.labels) * HELD_OUT >= 1 else None)

    def select(self, train: Rows, held_out: Rows | None) -> Split:
        """The split with these rows; without held-out rows it cannot be used to evaluate."""
        pairs = [
            None if rows is None else (self.points[rows], self.labels[rows]) for rows in (train, held_out)
        ]
        assert pairs[0] is not None
        return Split(self, pairs[0], pairs[1], None)


def as_dataset(data: Any, label: str | None = None) -> DataSet:
    """Return a data set unchanged, and any other accepted input as a data set whose points all train.

    `label` names the column of a data frame that holds the class. Images of bytes are scaled to [−1, 1];
    other points are used as they are.
    """
    if isinstance(data, DataSet):
        return data
    if isinstance(data, LabelledData):
        raise SettingError(f"The data set '{data.name}' is not split yet: pass data.split(seed).")
    user = read_user_data(data, label)
    return build_dataset(user, scale=find_pixel_scale(user))


def find_pixel_scale(user: UserData) -> PointScale | None:
    """The scale of images of bytes; None for floats."""
    return PointScale.constant(user.x.shape[1:], HALF_RANGE, HALF_RANGE) if user.is_bytes else None


def build_dataset(
    user: UserData,
    *,
    scale: PointScale | None = None,
    rows: tuple[Rows, Rows] | None = None,
    flat: bool = False,
    class_names: tuple[str, ...] | None = None,
) -> DataSet:
    """A data set of the user's points.

    `rows` are those that train and those that are held out (default: all train). `flat` flattens images.
    `class_names` gives the order of the classes.
    """
    shape = user.x.shape[1:]
    points = _convert(user.x, scale)
    points = points.flatten(1) if flat else points
    train_rows, held_out_rows = rows or (slice(None), None)
    data: TensorData | Split
    if user.labels is None:
        test = None if held_out_rows is None else points[held_out_rows]
        data = TensorData(points[train_rows], test, user.name)
        data.feature_names = user.feature_names
    else:
        source = LabelledPoints(points, *encode_labels(user.labels, class_names), user.name)
        source.feature_names = user.feature_names
        data = source.select(train_rows, held_out_rows)
    if len(shape) == 3:
        data.channels, data.side = shape[0], find_side(shape)
        data.given_shape = shape if flat else None
    if scale is not None:
        centre, width = scale.to_tensors()
        data.scale = (centre.flatten(), width.flatten()) if flat else (centre, width)
    return data


def _convert(x: NDArray[Any], scale: PointScale | None) -> Tensor:
    if scale is not None:
        return scale_points(x, scale.centre, scale.width)
    with np.errstate(over="ignore"):  # an infinity is reported when the data set checks its points
        return torch.from_numpy(np.array(x, dtype=np.float32, order="C"))

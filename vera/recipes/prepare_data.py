"""Data of a run: scaled for the networks, and split into points that train and points that are held out.

Columns of a table are standardised, images are scaled to [−1, 1]. A run that starts from a saved model scales
its data as that model does, because its networks know that scale.
"""

from typing import Any

import numpy as np

from vera.data.contract import DataSet
from vera.data.labelled import LabelledBatch, LabelledData
from vera.data.tables.contract import Rows, compute_moments, hold_out_last
from vera.data.user_data import UserData
from vera.data.user_dataset import PointScale, build_dataset, find_pixel_scale
from vera.errors import IncompatibleModel
from vera.saved.model import SavedModel

MOST_HELD_OUT = 10_000


def prepare_data(
    source: UserData | DataSet | LabelledData,
    flat: bool,
    held_out: float,
    seed: int,
    start_from: SavedModel | None,
) -> DataSet:
    """The data set of a run.

    The user's points are scaled, images flattened if `flat`, and a share held out. Data sets of vera are used
    as they are; labelled ones are split by the seed.
    """
    if isinstance(source, UserData):
        return _prepare_user_data(source, flat, held_out, seed, start_from)
    data = source.split(seed) if isinstance(source, LabelledData) else source
    if start_from is not None:
        _check_shape(find_shape(data), start_from.facts.shape)
    return data


def _prepare_user_data(
    user: UserData, flat: bool, held_out: float, seed: int, start_from: SavedModel | None
) -> DataSet:
    share = min(held_out, MOST_HELD_OUT / len(user))
    rows = hold_out_last(len(user), share, seed)
    if start_from is None:
        scale, names = choose_scale(user, rows[0]), None
    else:
        _check_shape(user.x.shape[1:], start_from.facts.given_shape)
        scale, names = _get_scale(start_from), _get_class_names(user, start_from)
        flat = len(start_from.facts.shape) == 1
    used = rows if int(share * len(user)) else None
    return build_dataset(user, scale=scale, rows=used, flat=flat, class_names=names)


def find_shape(data: DataSet) -> tuple[int, ...]:
    """The shape of a point as the networks see it."""
    batch = data.stream(1, 0).next_batch()
    return tuple((batch.x if isinstance(batch, LabelledBatch) else batch).shape[1:])


def choose_scale(user: UserData, rows: Rows) -> PointScale | None:
    """The scale for networks that expect standardised columns, or pixels in [−1, 1]."""
    x = user.x[rows]
    if x.ndim == 2:
        return PointScale(*compute_moments(x))
    low, high = float(x.min()), float(x.max())
    if user.is_bytes:
        return find_pixel_scale(user)
    if low >= 0 and high <= 1:
        return PointScale.constant(x.shape[1:], 0.5, 0.5)
    if low >= -1 and high <= 1:
        return None
    return PointScale.constant(x.shape[1:], (low + high) / 2, (high - low) / 2 or 1.0)


def _get_scale(model: SavedModel) -> PointScale | None:
    """The scale of a model, of the shape of a point as the user has it."""
    if "data.width" not in model.tensors:
        return None
    arrays: list[Any] = [
        np.asarray(model.tensors[name].double().cpu()).reshape(model.facts.given_shape)
        for name in ("data.centre", "data.width")
    ]
    return PointScale(*arrays)


def _get_class_names(user: UserData, model: SavedModel) -> tuple[str, ...] | None:
    names = model.facts.data.get("class_names")
    return None if user.labels is None or names is None else tuple(names)


def _check_shape(found: tuple[int, ...], known: tuple[int, ...]) -> None:
    if found != known:
        raise IncompatibleModel(
            f"start_from: the model has points of shape {known}, the data have shape {found}."
        )

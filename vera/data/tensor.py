"""User data: an (N, D) tensor or array of floats, or (N, C, H, W) images, used in shuffled epochs.

The points are copied once, to float32 on the CPU, so the fingerprint stays valid if the caller changes the
original. `vera/data/user_data.py` reads other inputs (frames, pairs, torch data sets). Trap: a NaN or an
infinity raises `DataCorrupt`. If such rows were dropped, the user would train on other data than expected; if
they were kept, the run would end as *diverged*, as if the method had failed.
"""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vera.data.contract import TEST_POINTS, DataSet, Stream, check_finite
from vera.data.epochs import EpochStream, choose_rows
from vera.errors import SettingError, VeraError
from vera.spec.settings import Count, validate_arguments
from vera.training.state.random_state import derive_seed

MAX_COLOURS = 4
"""Images with more channels than this, whose last axis is at most this long, have their channels last."""
Points = Tensor | NDArray[np.floating[Any]]


class TensorData(DataSet):
    """A tensor or array of points or images, with an optional test set."""

    channels: int | None = None
    side: int | None = None
    """Channels and side of a point that is a square image."""
    feature_names: tuple[str, ...] | None = None

    def __init__(self, x: Points, test: Points | None = None, name: str = "tensor") -> None:
        self.name = name
        self.train = _convert_points(x, "the training data")
        self.test = None if test is None else _convert_points(test, "the test data")
        shape = self.train.shape[1:]
        self.data_dim = shape.numel()
        if len(shape) == 3:
            self.channels, self.side = shape[0], find_side(shape)
        if self.test is not None and self.test.shape[1:] != shape:
            raise SettingError(
                f"The training data have {_describe_point(shape)}, "
                f"the test data {_describe_point(self.test.shape[1:])}."
            )
        check_finite(self.train, name, "training")
        if self.test is not None:
            check_finite(self.test, name, "test")

    @cached_property
    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for points in (self.train, self.test):
            if points is not None:
                digest.update(f"{tuple(points.shape)}".encode())
                digest.update(points.numpy().data)
        return digest.hexdigest()[:16]

    @validate_arguments
    def stream(self, batch_size: Count, seed: int) -> Stream:
        return EpochStream(self.train, batch_size, seed)

    @validate_arguments
    def test_points(self, seed: int, n: Count | None = None) -> Tensor:
        if self.test is None:
            raise VeraError(
                f"The data set '{self.name}' has no test points; pass them as TensorData(x, test=...)."
            )
        return choose_rows(self.test, n, torch.Generator().manual_seed(derive_seed(seed, TEST_POINTS)))


def find_side(shape: Sequence[int]) -> int | None:
    """Return the side of a square image of shape (channels, height, width); None for other images."""
    return shape[2] if shape[1] == shape[2] else None


def _describe_point(shape: Sequence[int]) -> str:
    return f"{shape[0]} columns" if len(shape) == 1 else f"images of shape {tuple(shape)}"


def check_points(x: Any, what: str) -> None:
    """Raise `SettingError` unless x is a dense tensor or array of points or images, of any dtype."""
    if not isinstance(x, Tensor | np.ndarray):
        raise SettingError(
            f"{what} must be a torch.Tensor or a numpy array, got {type(x).__name__}; "
            "vera.data.as_dataset converts frames, pairs and torch data sets."
        )
    if isinstance(x, np.ma.MaskedArray) or (isinstance(x, Tensor) and x.layout != torch.strided):
        raise SettingError(
            f"{what} must be dense and without a mask; convert it first, "
            "for example with x.filled() or x.to_dense()."
        )
    if isinstance(x, Tensor) and x.is_meta:
        raise SettingError(
            f"{what} must have values; a tensor on the device 'meta' has none. Create it on the device 'cpu'."
        )
    shape = tuple(x.shape)
    if x.ndim and len(x) == 0:
        raise SettingError(f"{what} must have at least one point, got shape {shape}.")
    if x.ndim not in (2, 4) or 0 in shape:
        hint = {1: "; use x.reshape(-1, 1)", 3: "; x[:, None] adds the channel"}.get(x.ndim, "")
        raise SettingError(
            f"{what} must be (points, dimensions) or images (points, channels, height, width), "
            f"got shape {shape}{hint}."
        )
    if x.ndim == 4 and shape[1] > MAX_COLOURS >= shape[3]:
        transposed = "x.permute(0, 3, 1, 2)" if isinstance(x, Tensor) else "x.transpose(0, 3, 1, 2)"
        raise SettingError(
            f"{what} must be images (points, channels, height, width), got shape {shape}; use {transposed}."
        )


def check_floats(x: Points, what: str) -> None:
    """Raise `SettingError` unless x has floats."""
    floating = x.is_floating_point() if isinstance(x, Tensor) else np.issubdtype(x.dtype, np.floating)
    if not floating:
        raise SettingError(
            f"{what} must be floats, got {x.dtype}; convert with .float() or .astype(float) "
            "and add uniform noise of one quantisation step."
        )


def _convert_points(x: Any, what: str) -> Tensor:
    check_points(x, what)
    check_floats(x, what)
    if isinstance(x, Tensor):
        return x.detach().to("cpu", torch.float32, copy=True).contiguous()
    with np.errstate(over="ignore"):  # values beyond float32 become infinite, which check_finite reports
        return torch.from_numpy(np.array(x, dtype=np.float32, order="C"))

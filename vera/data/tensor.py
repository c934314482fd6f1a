"""User data: an (N, D) tensor or array of floats, used in shuffled epochs.

The points are copied once, to float32 on the CPU, so the fingerprint stays valid if the caller changes the
original. Trap: a NaN or an infinity raises `DataCorrupt`. If such rows were dropped, the user would train on
other data than expected; if they were kept, the run would end as *diverged*, as if the method had failed.
"""

import hashlib
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
from vera.training.random_state import derive_seed

Points = Tensor | NDArray[np.floating[Any]]


class TensorData(DataSet):
    """A tensor or array of points, with an optional test set."""

    def __init__(self, x: Points, test: Points | None = None, name: str = "tensor") -> None:
        self.name = name
        self.train = _convert_points(x, "the training data")
        self.test = None if test is None else _convert_points(test, "the test data")
        self.data_dim = self.train.shape[1]
        if self.test is not None and self.test.shape[1] != self.data_dim:
            raise SettingError(
                f"The training data has {self.data_dim} columns, the test data {self.test.shape[1]}."
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


def as_dataset(data: Any) -> DataSet:
    """Return a data set unchanged, and a tensor or an array as `TensorData`."""
    if isinstance(data, DataSet):
        return data
    if isinstance(data, Tensor | np.ndarray):
        return TensorData(data)
    raise SettingError(
        "Data must be a DataSet, a torch.Tensor or a numpy array, "
        f"got {type(data).__name__}{_suggest_conversion(data)}."
    )


def _suggest_conversion(data: Any) -> str:
    """Return how to convert common containers; they are recognised by attributes, so pandas is not
    imported."""
    if isinstance(data, list | tuple):
        return "; pass torch.tensor(data)"
    if hasattr(data, "to_numpy"):
        return "; pass df.to_numpy()"
    return "; pass its points, data.tensors[0]" if hasattr(data, "tensors") else ""


def _convert_points(x: Any, what: str) -> Tensor:
    if not isinstance(x, Tensor | np.ndarray):
        raise SettingError(
            f"{what} must be a torch.Tensor or a numpy array, got {type(x).__name__}{_suggest_conversion(x)}."
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
    if x.ndim and len(x) == 0:
        raise SettingError(f"{what} must have at least one point, got shape {tuple(x.shape)}.")
    if x.ndim != 2 or x.shape[1] == 0:
        hint = "; x.reshape(len(x), -1) flattens images" if x.ndim else ""
        raise SettingError(f"{what} must be (points, dimensions), got shape {tuple(x.shape)}{hint}.")
    floating = x.is_floating_point() if isinstance(x, Tensor) else np.issubdtype(x.dtype, np.floating)
    if not floating:
        raise SettingError(
            f"{what} must be floats, got {x.dtype}; convert with .float() or .astype(float) "
            "and add uniform noise of one quantisation step."
        )
    if isinstance(x, Tensor):
        return x.detach().to("cpu", torch.float32, copy=True).contiguous()
    with np.errstate(
        over="ignore"
    ):  # a float64 beyond float32 becomes an infinity, which check_finite reports
        return torch.from_numpy(np.array(x, dtype=np.float32, order="C"))

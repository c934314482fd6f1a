"""The columns of the store, derived from the dataclasses that declare them, and a record as tables and back.

An annotation decides a column's Arrow type and its text becomes the field's description, so that a Parquet
file explains itself. Curves and arrays carry the stamp of the record that left them (attempt, finished_at)
beside the trial's id: a retry overwrites neither, and a row is never read together with the curves of another
attempt. Arrays are bytes with a dtype and a shape; nothing is ever pickled.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from math import isfinite, prod
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sweeps.errors import StoreError
from sweeps.store.row import SCHEMA_VERSION, CurvePoint, Record, Row, plain_array

Kind = Literal["curves", "arrays", "rows"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""In the order in which a record is written: a trial is finished exactly when its row is there, so the row
comes last."""

Stamp = tuple[int, str]
"""(attempt, finished_at): which of a trial's records."""
STAMP = ("attempt", "finished_at")
KEY = ("trial_id", *STAMP)

ARROW_TYPES: dict[Any, pa.DataType] = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    bytes: pa.binary(),
    list[int]: pa.list_(pa.int64()),
}


@dataclass(frozen=True)
class StoredArray:
    """One array of a trial."""

    trial_id: Annotated[str, "the trial"]
    name: Annotated[str, "name of the array"]
    dtype: Annotated[str, "numpy's name of the type of its numbers, little-endian"]
    shape: Annotated[list[int], "its shape; empty for a single number"]
    data: Annotated[bytes, "its numbers in C order"]


@cache
def column_types(cls: type) -> dict[str, tuple[Any, str]]:
    """Each column's Python type (or Literal) and its description."""
    hints = get_type_hints(cls, include_extras=True)
    return {f.name: (get_args(hints[f.name])[0], get_args(hints[f.name])[1]) for f in fields(cls)}


def _field(name: str, annotation: Any, description: str) -> pa.Field:
    python_type = type(get_args(annotation)[0]) if get_origin(annotation) is Literal else annotation
    return pa.field(name, ARROW_TYPES[python_type], nullable=False, metadata={"description": description})


def _schema(cls: type, kind: Kind, stamped: bool) -> pa.Schema:
    columns = [_field(name, *column) for name, column in column_types(cls).items()]
    columns += [_field(name, *column_types(Row)[name]) for name in STAMP if stamped]
    return pa.schema(columns, metadata={"vera.kind": kind, "vera.schema_version": str(SCHEMA_VERSION)})


SCHEMAS: dict[Kind, pa.Schema] = {
    "curves": _schema(CurvePoint, "curves", stamped=True),
    "arrays": _schema(StoredArray, "arrays", stamped=True),
    "rows": _schema(Row, "rows", stamped=False),
}


def stamp_of(row: Row) -> Stamp:
    return row.attempt, row.finished_at


def to_tables(record: Record) -> dict[Kind, pa.Table]:
    """The record as one table a kind, in the order of writing; a kind that it has nothing of is left out."""
    row = record.row
    arrays = [store_array(row.trial_id, name, array) for name, array in record.arrays.items()]
    items: dict[Kind, list[Any]] = {"curves": record.curves, "arrays": arrays, "rows": [row]}
    return {kind: _table(kind, items[kind], row) for kind in KINDS if items[kind]}


def _table(kind: Kind, items: list[Any], row: Row) -> pa.Table:
    schema = SCHEMAS[kind]
    columns = [[getattr(row if f.name in STAMP else item, f.name) for item in items] for f in schema]
    try:
        return pa.Table.from_arrays(
            [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema
        )
    except (
        pa.ArrowException,
        OverflowError,
        UnicodeError,
    ) as error:  # an integer beyond 64 bits, half a surrogate pair
        raise StoreError(f"The trial {row.trial_id} cannot be stored: {error}.") from error


_NAMES = {cls: [f.name for f in fields(cls)] for cls in (Row, CurvePoint, StoredArray)}


def rows_of(table: pa.Table) -> list[Row]:
    return [Row(*values) for values in lines(table, _NAMES[Row])]


def points_of(table: pa.Table) -> list[CurvePoint]:
    return [CurvePoint(*values) for values in lines(table, _NAMES[CurvePoint])]


def arrays_of(table: pa.Table) -> dict[str, NDArray[Any]]:
    return {
        stored.name: load_array(stored)
        for stored in (StoredArray(*values) for values in lines(table, _NAMES[StoredArray]))
    }


def lines(table: pa.Table, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The values of these columns, row by row."""
    return zip(*(table.column(name).to_pylist() for name in columns), strict=True)


def store_array(trial_id: str, name: str, array: Any) -> StoredArray:
    plain = plain_array(array)
    return StoredArray(trial_id, name, plain.dtype.str, list(plain.shape), plain.tobytes())


def load_array(stored: StoredArray) -> NDArray[Any]:
    """The array; ValueError where type, shape and bytes do not agree."""
    dtype = np.dtype(stored.dtype)
    if (
        dtype.kind not in "biuf"
        or min(stored.shape, default=0) < 0
        or prod(stored.shape) * dtype.itemsize != len(stored.data)
    ):
        raise ValueError(f"array '{stored.name}' is no {stored.dtype} of shape {stored.shape}")
    return np.frombuffer(bytearray(stored.data), dtype).reshape(stored.shape)


FREE_TEXT = ("reason", "log_tail")
"""Columns that may quote a message of any program; whoever fills them takes paths out."""
_ABSOLUTE = re.compile(r"/\w|~/|file:|[A-Za-z]:[\\/]|\\\\")
_TRIAL_ID = re.compile(r"(?!compacted)[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


def check(record: Record) -> None:
    """StoreError unless the record keeps what the columns promise: their types, finite numbers, canonical
    JSON, no paths."""
    row = record.row
    try:
        _check_columns([row], Row)
        _require(
            _TRIAL_ID.fullmatch(row.trial_id) is not None, "trial_id", row.trial_id, "fit to name a file"
        )
        _require(row.attempt >= 1, "attempt", row.attempt, "1 or more")
        _require(
            row.schema_version == SCHEMA_VERSION, "schema_version", row.schema_version, str(SCHEMA_VERSION)
        )
        _check_columns(record.curves, CurvePoint)
        for trial_id in {point.trial_id for point in record.curves}:
            _require(trial_id == row.trial_id, "a curve's trial_id", trial_id, "the row's")
        for name, value in json.loads(row.metrics).items():
            _require(_is_number(value), f"the metric '{name}'", value, "a number")
        for name, array in record.arrays.items():
            _require(
                isinstance(name, str) and array.dtype.kind in "biuf",
                f"the array '{name}'",
                array.dtype,
                "numbers",
            )
    except (OverflowError, ValueError) as error:
        raise StoreError(f"The trial {row.trial_id} cannot be stored: {error}.") from error


def _check_columns(items: Sequence[Any], cls: type) -> None:
    for name, (annotation, _) in column_types(cls).items():
        fits, wanted = _rule(annotation)
        values = [getattr(item, name) for item in items]
        for value in values:
            _require(fits(value), name, value, wanted)
        for text in set(values) if annotation is str else ():
            check_text(name, text, cls)


def check_text(name: str, text: str, cls: type = Row) -> None:
    """ValueError unless the column of that name may hold the text; whoever knows the text before the rest can
    ask early."""
    text.encode()  # half a surrogate pair is no text to others
    if column_types(cls)[name][1].startswith("JSON"):
        _check_json(name, text)
    elif name not in FREE_TEXT:
        _require(not _ABSOLUTE.match(text), name, text, "free of absolute paths")


def _rule(annotation: Any) -> tuple[Callable[[Any], bool], str]:
    if annotation is float:
        return _is_number, "a finite number"
    if get_origin(annotation) is Literal:
        return get_args(annotation).__contains__, f"one of {', '.join(get_args(annotation))}"
    return lambda value: type(value) is annotation, f"of type {annotation.__name__}"


def _require(holds: bool, name: str, value: Any, wanted: str) -> None:
    if not holds:
        raise ValueError(f"{name} must be {wanted}, got {value!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _check_json(name: str, text: str) -> None:
    value = json.loads(text, object_pairs_hook=_sorted_object)
    _require(
        isinstance(value, list if name == "restarts" else dict),
        name,
        text,
        "a JSON object (restarts: a list)",
    )
    for leaf in _leaves(value):
        _require(
            not isinstance(leaf, float) or isfinite(leaf), name, leaf, "free of numbers that are not finite"
        )
        _require(not isinstance(leaf, str) or not _ABSOLUTE.match(leaf), name, leaf, "free of absolute paths")


def _sorted_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    if keys != sorted(set(keys)):
        raise ValueError(f"JSON must have its keys sorted and once each, got {', '.join(keys)}")
    return dict(pairs)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    else:
        yield value

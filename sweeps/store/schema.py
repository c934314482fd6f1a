"""The columns of the store, derived from the dataclasses that declare them, and conversion of records to
tables and back.

An annotation gives a column its Arrow type, and its text becomes the field's description, so a Parquet file
documents itself. Curves and arrays hold the stamp of their record (attempt, finished_at) besides the trial
id. So a retry does not overwrite them, and a row is never read together with the curves of another attempt.
Arrays are stored as bytes with a dtype and a shape; nothing is pickled.
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
from sweeps.store.row import SCHEMA_VERSION, CurvePoint, Record, Row, to_plain_array

Kind = Literal["curves", "arrays", "rows"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""In the order of writing. The row comes last, because a trial counts as finished once its row exists."""

Stamp = tuple[int, str]
"""(attempt, finished_at): identifies a record among those of one trial."""
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
def read_column_types(cls: type) -> dict[str, tuple[Any, str]]:
    """The Python type (or Literal) and the description of each column."""
    hints = get_type_hints(cls, include_extras=True)
    return {f.name: (get_args(hints[f.name])[0], get_args(hints[f.name])[1]) for f in fields(cls)}


def _build_field(name: str, annotation: Any, description: str) -> pa.Field:
    python_type = type(get_args(annotation)[0]) if get_origin(annotation) is Literal else annotation
    return pa.field(name, ARROW_TYPES[python_type], nullable=False, metadata={"description": description})


def _build_schema(cls: type, kind: Kind, stamped: bool) -> pa.Schema:
    columns = [_build_field(name, *column) for name, column in read_column_types(cls).items()]
    columns += [_build_field(name, *read_column_types(Row)[name]) for name in STAMP if stamped]
    return pa.schema(columns, metadata={"vera.kind": kind, "vera.schema_version": str(SCHEMA_VERSION)})


SCHEMAS: dict[Kind, pa.Schema] = {
    "curves": _build_schema(CurvePoint, "curves", stamped=True),
    "arrays": _build_schema(StoredArray, "arrays", stamped=True),
    "rows": _build_schema(Row, "rows", stamped=False),
}


def get_stamp(row: Row) -> Stamp:
    """The stamp of the row's record."""
    return row.attempt, row.finished_at


def to_tables(record: Record) -> dict[Kind, pa.Table]:
    """The record as one table per kind, in the order of writing, without kinds that would be empty."""
    row = record.row
    arrays = [encode_array(row.trial_id, name, array) for name, array in record.arrays.items()]
    items: dict[Kind, list[Any]] = {"curves": record.curves, "arrays": arrays, "rows": [row]}
    return {kind: _build_table(kind, items[kind], row) for kind in KINDS if items[kind]}


def _build_table(kind: Kind, items: list[Any], row: Row) -> pa.Table:
    schema = SCHEMAS[kind]
    columns = [[getattr(row if f.name in STAMP else item, f.name) for item in items] for f in schema]
    try:
        return pa.Table.from_arrays(
            [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema
        )
    # Caused by integers beyond 64 bits and by half a surrogate pair.
    except (pa.ArrowException, OverflowError, UnicodeError) as error:
        raise StoreError(f"The trial {row.trial_id} cannot be stored: {error}.") from error


_NAMES = {cls: [f.name for f in fields(cls)] for cls in (Row, CurvePoint, StoredArray)}


def to_rows(table: pa.Table) -> list[Row]:
    """The rows of a table of kind "rows"."""
    return [Row(*values) for values in iterate_values(table, _NAMES[Row])]


def to_curve_points(table: pa.Table) -> list[CurvePoint]:
    """The points of a table of kind "curves"."""
    return [CurvePoint(*values) for values in iterate_values(table, _NAMES[CurvePoint])]


def to_stored_arrays(table: pa.Table) -> list[StoredArray]:
    """The arrays of a table of kind "arrays", not yet decoded."""
    return [StoredArray(*values) for values in iterate_values(table, _NAMES[StoredArray])]


def iterate_values(table: pa.Table, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The values of these columns, row by row."""
    return zip(*(table.column(name).to_pylist() for name in columns), strict=True)


def encode_array(trial_id: str, name: str, array: Any) -> StoredArray:
    """The array as it is stored."""
    plain = to_plain_array(array)
    return StoredArray(trial_id, name, plain.dtype.str, list(plain.shape), plain.tobytes())


def decode_array(stored: StoredArray) -> NDArray[Any]:
    """The array; ValueError if type, shape and bytes do not agree."""
    dtype = np.dtype(stored.dtype)
    is_valid = dtype.kind in "biuf" and min(stored.shape, default=0) >= 0
    if not is_valid or prod(stored.shape) * dtype.itemsize != len(stored.data):
        raise ValueError(
            f"array '{stored.name}': {len(stored.data)} bytes are no {stored.dtype} of shape {stored.shape}"
        )
    return np.frombuffer(bytearray(stored.data), dtype).reshape(stored.shape)


FREE_TEXT = ("reason", "log_tail")
"""Columns that may quote messages of any program. `sweeps.run.scrub` removes paths from them."""
_ABSOLUTE = re.compile(r"/\w|~/|file:|[A-Za-z]:[\\/]|\\\\")
_TRIAL_ID = re.compile(r"(?!compacted)[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


def check_record(record: Record) -> None:
    """StoreError unless the record fits the columns: types, finite numbers, canonical JSON, no paths."""
    row = record.row
    try:
        _check_columns([row], Row)
        _require(_TRIAL_ID.fullmatch(row.trial_id), "trial_id", row.trial_id, "usable as a file name")
        _require(row.attempt >= 1, "attempt", row.attempt, "1 or more")
        version = row.schema_version
        _require(version == SCHEMA_VERSION, "schema_version", version, str(SCHEMA_VERSION))
        _check_columns(record.curves, CurvePoint)
        for trial_id in {point.trial_id for point in record.curves}:
            _require(trial_id == row.trial_id, "a curve's trial_id", trial_id, "the row's")
        for name, value in json.loads(row.metrics).items():
            _require(_is_number(value), f"the metric '{name}'", value, "a number")
        for name, array in record.arrays.items():
            is_numeric = isinstance(name, str) and array.dtype.kind in "biuf"
            _require(is_numeric, f"the array '{name}'", array.dtype, "numbers")
    except (OverflowError, RecursionError, ValueError) as error:
        raise StoreError(f"The trial {row.trial_id} cannot be stored: {error}.") from error


def _check_columns(items: Sequence[Any], cls: type) -> None:
    for name, (annotation, _) in read_column_types(cls).items():
        fits, wanted = _find_rule(annotation)
        values = [getattr(item, name) for item in items]
        for value in values:
            _require(fits(value), name, value, wanted)
        for text in set(values) if annotation is str else ():
            check_text(name, text, cls)


def check_text(name: str, text: str, cls: type = Row) -> None:
    """ValueError unless the column of that name may hold the text. Allows checking a text before its row
    exists."""
    text.encode()  # fails for half a surrogate pair
    if read_column_types(cls)[name][1].startswith("JSON"):
        _check_json(name, text)
    elif name not in FREE_TEXT:
        _require(not _ABSOLUTE.match(text), name, text, "free of absolute paths")


def _find_rule(annotation: Any) -> tuple[Callable[[Any], bool], str]:
    if annotation is float:
        return _is_number, "a finite number"
    if get_origin(annotation) is Literal:
        return get_args(annotation).__contains__, f"one of {', '.join(get_args(annotation))}"
    return lambda value: type(value) is annotation, f"of type {annotation.__name__}"


def _require(holds: object, name: str, value: Any, wanted: str) -> None:
    if not holds:
        raise ValueError(f"{name} must be {wanted}, got {value!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _check_json(name: str, text: str) -> None:
    value = json.loads(text, object_pairs_hook=_require_sorted_keys)
    expected = list if name == "restarts" else dict
    _require(isinstance(value, expected), name, text, "a JSON object (restarts: a list)")
    for leaf in _iterate_leaves(value):
        if isinstance(leaf, float):
            _require(isfinite(leaf), name, leaf, "free of numbers that are not finite")
        if isinstance(leaf, str):
            _require(not _ABSOLUTE.match(leaf), name, leaf, "free of absolute paths")


def _require_sorted_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    if keys != sorted(set(keys)):
        raise ValueError(f"JSON keys must be sorted and unique, got {', '.join(keys)}")
    return dict(pairs)


def _iterate_leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _iterate_leaves(item)
    else:
        yield value

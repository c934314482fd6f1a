"""The schema: described columns, exact round trips, and rejection of records that break a rule."""

import json
import subprocess
import sys
from dataclasses import fields, replace
from tempfile import TemporaryDirectory
from typing import Literal, get_args, get_origin

import numpy as np
import pyarrow as pa
import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from store_helpers import make_row

from sweeps.errors import StoreError
from sweeps.store.row import SCHEMA_VERSION, CurvePoint, Record, Row
from sweeps.store.schema import (
    SCHEMAS,
    StoredArray,
    check_record,
    decode_array,
    encode_array,
    read_column_types,
)
from sweeps.store.store import Store


def test_every_column_has_a_type_and_a_description():
    assert SCHEMAS["rows"].names == [f.name for f in fields(Row)]
    for schema in SCHEMAS.values():
        for column in schema:
            assert column.metadata[b"description"]
            assert not column.nullable
    assert SCHEMAS["rows"].field("seconds").type == pa.float64()
    assert SCHEMAS["rows"].field("outcome").type == pa.string()
    assert SCHEMAS["arrays"].field("shape").type == pa.list_(pa.int64())


def test_files_hold_the_descriptions_and_the_version(tmp_path):
    Store(tmp_path).write(Record(make_row()))
    schema = pa.parquet.read_schema(tmp_path / "rows" / "abc0.parquet")
    assert schema.field("reason").metadata[b"description"] == b"why it ended, in one line; empty for ok"
    assert schema.metadata[b"vera.schema_version"] == str(SCHEMA_VERSION).encode()


finite = st.floats(allow_nan=False, allow_infinity=False)
words = st.text(st.characters(categories=["L", "N"]), max_size=8)
objects = st.dictionaries(words, finite | st.integers() | words, max_size=4).map(
    lambda x: json.dumps(x, sort_keys=True)
)
numbers = st.dictionaries(st.text(max_size=8), finite | st.integers(), max_size=4).map(
    lambda x: json.dumps(x, sort_keys=True)
)
OF_COLUMN = {
    "trial_id": st.from_regex(r"[0-9a-f]{16}", fullmatch=True),
    "reason": st.text(),
    "log_tail": st.text(),
    "metrics": numbers,
    "spec": objects,
    "versions": objects,
    "restarts": st.lists(objects.map(json.loads), max_size=2).map(lambda x: json.dumps(x, sort_keys=True)),
    "attempt": st.integers(1, 2**63 - 1),
    "schema_version": st.just(SCHEMA_VERSION),
}
OF_TYPE = {str: words, int: st.integers(-(2**63), 2**63 - 1), float: finite, bool: st.booleans()}


def of_column(name, annotation):
    choices = (
        st.sampled_from(get_args(annotation))
        if get_origin(annotation) is Literal
        else OF_TYPE.get(annotation)
    )
    return OF_COLUMN.get(name, choices)


rows = st.builds(
    Row, **{name: of_column(name, annotation) for name, (annotation, _) in read_column_types(Row).items()}
)
points = st.builds(
    CurvePoint, st.just(""), st.sampled_from(["training", "evaluation"]), words, OF_TYPE[int], finite
)
dtypes = (
    hnp.boolean_dtypes()
    | hnp.integer_dtypes()
    | hnp.unsigned_integer_dtypes()
    | hnp.floating_dtypes(sizes=(16, 32, 64))
)
arrays = st.dictionaries(
    st.text(max_size=8), hnp.arrays(dtypes, hnp.array_shapes(min_dims=0, min_side=0)), max_size=3
)


@settings(max_examples=60, deadline=None)
@given(rows, st.lists(points, max_size=5), arrays)
def test_a_record_is_read_back_bit_for_bit(row, points, arrays):
    points = [replace(point, trial_id=row.trial_id) for point in points]
    with TemporaryDirectory() as folder:
        Store(folder).write(Record(row, points, arrays))
        store = Store(folder, create=False)
        assert repr(store.read_rows()) == repr([row])
        assert repr(store.read_curves(row.trial_id)) == repr(points)
        back = store.read_arrays(row.trial_id)
    assert back.keys() == arrays.keys()
    for name, array in arrays.items():
        assert back[name].shape == array.shape
        assert back[name].dtype == array.dtype.newbyteorder("<")
        assert back[name].tobytes() == array.astype(back[name].dtype).tobytes()
        assert back[name].flags.writeable


def test_a_single_number_and_a_strided_view_keep_their_shape():
    for array in (
        np.array(3.5),
        np.arange(12).reshape(3, 4)[::2, ::-1],
        np.zeros((0, 3)),
        np.arange(6, dtype=">i4").reshape(2, 3).T,
    ):
        back = decode_array(encode_array("abc0", "a", array))
        assert back.shape == array.shape
        np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize(
    ("dtype", "shape", "data"),
    [("<f4", [2], b"1234"), ("|O", [1], b"12345678"), ("<f4", [-1], b"1234"), ("<f4", [-1, -1], b"1234")],
)
def test_an_array_whose_bytes_do_not_fit_is_refused(dtype, shape, data):
    with raises_with(ValueError, "'a'", f"{dtype} of shape {shape}"):
        decode_array(StoredArray("abc0", "a", dtype, shape, data))


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        ({"metrics": '{"nll": NaN}'}, ["metrics", "not finite"]),
        ({"metrics": '{"nll": 1e999}'}, ["metrics", "not finite"]),
        ({"metrics": '{"nll": "low"}'}, ["'nll'", "number", "'low'"]),
        ({"metrics": '{"b": 1, "a": 2}'}, ["sorted", "b, a"]),
        ({"metrics": '{"a": 1, "a": 2}'}, ["unique", "a, a"]),
        ({"metrics": "nll = 3"}, ["Expecting value"]),
        ({"restarts": "{}"}, ["restarts", "list"]),
        (
            {"spec": '{"dataset": {"data_dir": "/home/someone/data"}}'},
            ["spec", "/home/someone"],
        ),
        ({"versions": '{"python": ["C:\\\\Users\\\\x"]}'}, ["versions", "absolute path"]),
        ({"label": "~/results"}, ["label", "absolute path", "~/results"]),
        ({"seconds": float("inf")}, ["seconds", "finite number", "inf"]),
        ({"seed": 1.0}, ["seed", "int", "1.0"]),
        ({"seed": 2**63}, ["abc0"]),
        ({"git_dirty": 1}, ["git_dirty", "bool"]),
        ({"outcome": "fine"}, ["outcome", "ok, diverged", "'fine'"]),
        ({"reason": None}, ["reason", "str", "None"]),
        ({"reason": "\ud800"}, ["surrogates"]),
        ({"attempt": 0}, ["attempt", "1 or more", "got 0"]),
        (
            {"schema_version": SCHEMA_VERSION + 1},
            ["schema_version", f"must be {SCHEMA_VERSION}", f"got {SCHEMA_VERSION + 1}"],
        ),
        ({"trial_id": "../x"}, ["trial_id", "file name", "../x"]),
        ({"trial_id": "compacted-1"}, ["trial_id", "file name", "compacted-1"]),
    ],
)
def test_a_row_that_breaks_a_rule_is_refused(tmp_path, changes, facts):
    store = Store(tmp_path)
    with raises_with(StoreError, "cannot be stored", *facts):
        store.write(Record(make_row(**changes)))
    assert store.read_rows() == []
    assert list(tmp_path.rglob("*.parquet")) == []


def test_curves_and_arrays_that_break_a_rule_are_refused():
    check_record(Record(make_row(), [CurvePoint("abc0", "training", "loss", 1, 0.5)], {"a": np.ones(2)}))
    with raises_with(StoreError, "value", "finite number", "nan"):
        check_record(Record(make_row(), [CurvePoint("abc0", "training", "loss", 1, float("nan"))]))
    with raises_with(StoreError, "trial_id", "'other'"):
        check_record(Record(make_row(), [CurvePoint("other", "training", "loss", 1, 0.5)]))
    with raises_with(StoreError, "'a'", "numbers"):
        check_record(Record(make_row(), [], {"a": np.array([{}])}))


def test_reading_results_imports_neither_torch_nor_ray():
    loaded = "sorted({'torch', 'ray'} & set(sys.modules))"
    code = f"import sys, sweeps.store.store, sweeps.store.frame; sys.exit(str({loaded}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "[]"

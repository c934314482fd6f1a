"""The columns say what they hold; a record comes back bit for bit; what a row must not hold is refused."""

import json
import subprocess
import sys
from dataclasses import fields, replace
from tempfile import TemporaryDirectory
from typing import Literal, get_args, get_origin

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sweeps.errors import StoreError
from sweeps.store.row import SCHEMA_VERSION, CurvePoint, Record, Row
from sweeps.store.schema import SCHEMAS, StoredArray, check, column_types, load_array, store_array
from sweeps.store.store import Store

JSON_COLUMNS = {"metrics": "{}", "spec": "{}", "versions": "{}", "restarts": "[]"}
PLAIN = {str: "plain", int: 1, float: 0.5, bool: False}


def make_row(**changes):
    values = {name: PLAIN.get(annotation, "ok") for name, (annotation, _) in column_types(Row).items()}
    return Row(**(values | JSON_COLUMNS | {"trial_id": "abc0", "schema_version": SCHEMA_VERSION} | changes))


def test_every_column_has_a_type_and_a_description():
    assert SCHEMAS["rows"].names == [f.name for f in fields(Row)]
    for schema in SCHEMAS.values():
        for column in schema:
            assert column.metadata[b"description"]
            assert not column.nullable
    assert SCHEMAS["rows"].field("seconds").type == pa.float64()
    assert SCHEMAS["rows"].field("outcome").type == pa.string()
    assert SCHEMAS["arrays"].field("shape").type == pa.list_(pa.int64())


def test_the_files_carry_the_descriptions_and_the_version(tmp_path):
    Store(tmp_path).write(Record(make_row()))
    schema = pa.parquet.read_schema(tmp_path / "rows" / "abc0.parquet")
    assert schema.field("reason").metadata[b"description"] == b"why it ended so, in one line; empty for ok"
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
    Row, **{name: of_column(name, annotation) for name, (annotation, _) in column_types(Row).items()}
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
def test_a_record_comes_back_bit_for_bit(row, points, arrays):
    points = [replace(point, trial_id=row.trial_id) for point in points]
    with TemporaryDirectory() as folder:
        Store(folder).write(Record(row, points, arrays))
        store = Store(folder, create=False)
        assert repr(store.rows()) == repr([row])
        assert repr(store.curves(row.trial_id)) == repr(points)
        back = store.arrays(row.trial_id)
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
        back = load_array(store_array("abc0", "a", array))
        assert back.shape == array.shape
        np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize(
    ("dtype", "shape", "data"),
    [("<f4", [2], b"1234"), ("|O", [1], b"12345678"), ("<f4", [-1], b"1234"), ("<f4", [-1, -1], b"1234")],
)
def test_an_array_whose_bytes_do_not_fit_is_refused(dtype, shape, data):
    with pytest.raises(ValueError, match="array 'a'"):
        load_array(StoredArray("abc0", "a", dtype, shape, data))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metrics": '{"nll": NaN}'}, "not finite"),
        ({"metrics": '{"nll": 1e999}'}, "not finite"),
        ({"metrics": '{"nll": "low"}'}, "the metric 'nll' must be a number"),
        ({"metrics": '{"b": 1, "a": 2}'}, "keys sorted"),
        ({"metrics": '{"a": 1, "a": 2}'}, "once each"),
        ({"metrics": "nll = 3"}, "Expecting value"),
        ({"restarts": "{}"}, "restarts must be a JSON"),
        ({"spec": '{"dataset": {"data_dir": "/home/someone/data"}}'}, "absolute paths"),
        ({"versions": '{"python": ["C:\\\\Users\\\\x"]}'}, "absolute paths"),
        ({"label": "~/results"}, "absolute paths"),
        ({"seconds": float("inf")}, "seconds must be a finite number"),
        ({"seed": 1.0}, "seed must be of type int"),
        ({"seed": 2**63}, "cannot be stored"),
        ({"git_dirty": 1}, "git_dirty must be of type bool"),
        ({"outcome": "fine"}, "outcome must be one of ok, diverged"),
        ({"reason": None}, "reason must be of type str"),
        ({"reason": "\ud800"}, "surrogates"),
        ({"attempt": 0}, "attempt must be 1 or more"),
        ({"schema_version": SCHEMA_VERSION + 1}, "schema_version must be"),
        ({"trial_id": "../x"}, "fit to name a file"),
        ({"trial_id": "compacted-1"}, "fit to name a file"),
    ],
)
def test_a_row_that_breaks_its_promise_is_refused(tmp_path, changes, message):
    store = Store(tmp_path)
    with pytest.raises(StoreError, match=message):
        store.write(Record(make_row(**changes)))
    assert store.rows() == []
    assert list(tmp_path.rglob("*.parquet")) == []


def test_curves_and_arrays_are_held_to_it_too():
    check(Record(make_row(), [CurvePoint("abc0", "training", "loss", 1, 0.5)], {"a": np.ones(2)}))
    for point in (
        CurvePoint("abc0", "training", "loss", 1, float("nan")),
        CurvePoint("other", "training", "loss", 1, 0.5),
    ):
        with pytest.raises(StoreError, match=r"value must be a finite|the row's"):
            check(Record(make_row(), [point]))
    with pytest.raises(StoreError, match="the array 'a' must be numbers"):
        check(Record(make_row(), [], {"a": np.array([{}])}))


def test_reading_results_loads_neither_torch_nor_ray():
    code = "import sys, sweeps.store.store, sweeps.store.frame; sys.exit(str(sorted({'torch', 'ray'} & set(sys.modules))))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "[]"

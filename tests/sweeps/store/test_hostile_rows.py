"""Rows that were edited or made up: the part or the row is named and left out, and all others are read."""

import json
import os
import socket

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from facts import raises_with
from store_helpers import fill_store, holds, make_record, make_row

from sweeps.errors import StoreError
from sweeps.store.row import SCHEMA_VERSION, Record
from sweeps.store.schema import SCHEMAS, to_tables
from sweeps.store.store import Store

HOSTILE = {
    "no JSON": {"spec": "{"},
    "a list": {"metrics": "[1]"},
    "a number": {"spec": "7"},
    "a component that is a text": {"spec": '{"dataset": "moons"}'},
    "a component without a name": {"spec": '{"method": {"name": 3}}'},
    "networks that are a list": {"spec": '{"networks": [1]}'},
    "a metric that is a text": {"metrics": '{"loss": "low"}'},
    "a metric that is NaN": {"metrics": '{"loss": NaN}'},
    "a metric beyond floats": {"metrics": '{"loss": 1e999}'},
    "an integer beyond floats": {"metrics": '{"loss": 1' + "0" * 400 + "}"},
    "an integer beyond parsing": {"metrics": '{"loss": 1' + "0" * 5_000 + "}"},
    "versions that are a list": {"versions": "[]"},
    "versions with an object": {"versions": '{"torch": {"a": 1}}'},
    "restarts that are numbers": {"restarts": "[1]"},
    "a restart at a text": {"restarts": '[{"step": "a"}]'},
    "deep nesting": {"spec": '{"a":' * 100_000},
    "nesting that parses": {"spec": '{"a":' * 500 + "1" + "}" * 500},
    "an unknown outcome": {"outcome": "won"},
    "an id that is a path": {"trial_id": "../../etc/passwd"},
    "an id of a compacted file": {"trial_id": "compacted-1"},
    "an empty id": {"trial_id": ""},
    "an id with an escape sequence": {"trial_id": "\x1b[2J"},
    "an attempt of 0": {"attempt": 0},
    "seconds that are infinite": {"seconds": float("inf")},
    "a schema version of its own": {"schema_version": -5},
}
hostile = pytest.mark.parametrize("changes", HOSTILE.values(), ids=HOSTILE.keys())


def write_table(path, rows, version=SCHEMA_VERSION):
    columns = [pa.array([getattr(row, f.name) for row in rows], f.type) for f in SCHEMAS["rows"]]
    table = pa.Table.from_arrays(columns, schema=SCHEMAS["rows"])
    metadata = {"vera.kind": "rows", "vera.schema_version": str(version)}
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table.replace_schema_metadata(metadata), path)


def read_everything(store):
    store.read_rows()
    return store.read_row("t00")


@hostile
@pytest.mark.parametrize("read", [read_everything, Store.compact])
def test_a_part_with_a_hostile_row_is_set_aside(tmp_path, changes, read):
    store = fill_store(tmp_path, 2)
    write_table(tmp_path / "rows" / "bad.parquet", [make_row(**{"trial_id": "bad"} | changes)])
    read(store)
    (problem,) = store.problems
    assert problem.startswith("rows/bad.parquet ")
    assert "moved to set-aside/rows-bad.parquet" in problem
    assert problem.isprintable()
    assert len(problem) < 400
    again = Store(tmp_path)
    assert [row.trial_id for row in again.read_rows()] == ["t00", "t01"]
    assert again.problems == []
    assert holds(again, make_record("t00"))


@hostile
def test_a_hostile_row_among_others_is_named_once_and_left_out(tmp_path, changes):
    rows = [make_row("a1"), make_row(**{"trial_id": "a2"} | changes), make_row("a3")]
    write_table(tmp_path / "rows" / "compacted-0.parquet", rows)
    store = Store(tmp_path)
    for _ in range(2):
        assert [row.trial_id for row in store.read_rows()] == ["a1", "a3"]
        assert store.read_row("a3") == rows[2]
    (problem,) = store.problems
    assert problem.startswith("rows/compacted-0.parquet ")
    store.write(make_record("b1"))
    store.compact()
    again = Store(tmp_path)
    assert [row.trial_id for row in again.read_rows()] == ["a1", "a3", "b1"]
    assert again.problems == []
    assert os.listdir(tmp_path / "set-aside") == ["rows-compacted-0.parquet"]


@hostile
def test_what_reading_refuses_cannot_be_written(tmp_path, changes):
    with pytest.raises(StoreError):
        Store(tmp_path).write(Record(make_row(**changes)))


def test_many_hostile_rows_are_counted(tmp_path):
    rows = [make_row(f"t{i:03}", metrics="[]" if i else "{}") for i in range(100)]
    write_table(tmp_path / "rows" / "compacted-0.parquet", rows)
    store = Store(tmp_path)
    assert len(store.read_rows()) == 1
    assert len(store.problems) == 3
    assert all("96 more rows" in problem for problem in store.problems)


def test_a_text_that_is_not_utf8_is_left_out(tmp_path):
    rows = [make_row("a1"), make_row("a2", label="needle"), make_row("a3")]
    path = tmp_path / "rows" / "part.parquet"
    write_table(path, rows)
    table = pq.read_table(path)
    labels = pa.array([b"ok", b"\xff\xfe", b"ok"]).view(pa.string())
    index = table.column_names.index("label")
    pq.write_table(table.set_column(index, SCHEMAS["rows"].field("label"), labels), path)
    store = Store(tmp_path)
    assert [row.trial_id for row in store.read_rows()] == ["a1", "a3"]
    assert "UTF-8" in store.problems[0]


@pytest.mark.parametrize("version", ["9" * 30, "9" * 6_000, "999999"])
def test_an_absurd_schema_version_is_set_aside(tmp_path, version):
    store = fill_store(tmp_path, 2)
    write_table(tmp_path / "rows" / "bad.parquet", [make_row("bad")], version)
    assert len(store.read_rows()) == 2
    assert "schema version" in store.problems[0]
    assert (tmp_path / "set-aside" / "rows-bad.parquet").exists()


def make_directory(path):
    path.mkdir()


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(path.parent)  # the path of a socket is limited to a hundred characters
        server.bind(path.name)


@pytest.mark.parametrize("make", [os.mkfifo, make_directory, make_socket])
@pytest.mark.parametrize("kind", ["rows", "curves", "arrays"])
@pytest.mark.parametrize("name", ["t00.parquet", "compacted-7.parquet"])
def test_what_is_no_file_is_set_aside_without_waiting(tmp_path, monkeypatch, make, kind, name):
    monkeypatch.chdir(tmp_path)
    store = fill_store(tmp_path / "store", 2)
    path = tmp_path / "store" / kind / name
    path.unlink(missing_ok=True)
    make(path)
    store.compact()
    assert any(problem.startswith(f"{kind}/{name} ") for problem in store.problems)
    assert not path.exists()
    assert holds(Store(tmp_path / "store"), make_record("t01"))


def test_a_model_that_is_no_file_is_an_error(tmp_path):
    store = fill_store(tmp_path, 1)
    (tmp_path / "models" / "t00.safetensors").mkdir(parents=True)
    with raises_with(StoreError, "t00", "a directory"):
        store.models.read("t00")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_curve_points_that_are_not_finite_are_left_out(tmp_path, value):
    store = fill_store(tmp_path, 1)
    [path] = (tmp_path / "curves").iterdir()
    table = to_tables(make_record("t00"))["curves"]
    values = pa.array([1.0, value, 1.0])
    field = SCHEMAS["curves"].field("value")
    pq.write_table(table.set_column(table.column_names.index("value"), field, values), path)
    assert [point.step for point in store.read_curves("t00")] == [0, 2]
    assert "value" in store.problems[0]


def test_an_array_that_does_not_fit_its_shape_is_named_and_left_out(tmp_path):
    store = fill_store(tmp_path, 1)
    [path] = (tmp_path / "arrays").iterdir()
    table = to_tables(make_record("t00"))["arrays"]
    field = SCHEMAS["arrays"].field("dtype")
    pq.write_table(table.set_column(table.column_names.index("dtype"), field, pa.array(["|O"])), path)
    assert store.read_arrays("t00") == {}
    assert all(fact in store.problems[0] for fact in ("samples", "t00"))


def test_a_valid_row_has_no_problem(tmp_path):
    row = make_row(
        spec=json.dumps({"dataset": {"name": "moons"}, "method": {"name": "ml"}, "networks": {}}),
        restarts='[{"step": 3}]',
        versions='{"torch": "2"}',
        metrics='{"loss": -1e300}',
    )
    Store(tmp_path).write(Record(row))
    assert Store(tmp_path).read_rows() == [row]

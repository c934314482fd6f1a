"""Parts of an older release are migrated when they are read; parts of a newer one are an error and left
alone."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from facts import raises_with
from store_helpers import fill_store, holds, make_record

from sweeps.errors import StoreError
from sweeps.store.migrations import MIGRATIONS
from sweeps.store.row import SCHEMA_VERSION
from sweeps.store.schema import to_tables
from sweeps.store.store import Store


def write_version_0(path, kind, table):
    metadata = {"vera.kind": kind, "vera.schema_version": "0"}
    pq.write_table(table.replace_schema_metadata(metadata), path)


def test_a_part_of_an_older_version_is_migrated_when_read(tmp_path, monkeypatch):
    """In an invented version 0 `reason` is called `why`, there is no `log_tail`, and the order of columns
    differs."""
    store = fill_store(tmp_path, 2)
    table = to_tables(make_record("t09"))["rows"].drop_columns(["log_tail", "schema_version"])
    table = table.rename_columns([{"reason": "why"}.get(name, name) for name in table.column_names])
    write_version_0(tmp_path / "rows" / "t09.parquet", "rows", table.select(table.column_names[::-1]))

    def to_1(old):
        new = old.rename_columns([{"why": "reason"}.get(name, name) for name in old.column_names])
        return new.append_column("log_tail", pa.array([""] * old.num_rows))

    with raises_with(StoreError, "t09.parquet", "schema version 0", "no migration"):
        store.read_rows()
    monkeypatch.setitem(MIGRATIONS, 0, {"rows": to_1})
    expected = replace(make_record("t09").row, log_tail="")
    assert store.read_row("t09") == expected
    assert store.read_outcomes()["t09"] == "ok"
    store.compact()
    monkeypatch.undo()
    assert store.read_row("t09") == expected
    assert store.problems == []


def test_a_kind_without_a_migration_is_read_unchanged(tmp_path, monkeypatch):
    monkeypatch.setitem(MIGRATIONS, 0, {})
    store = fill_store(tmp_path, 1)
    path = next((tmp_path / "curves").iterdir())
    write_version_0(path, "curves", to_tables(make_record("t00"))["curves"])
    assert holds(store, make_record("t00"))


def write_t00(store):
    store.write(make_record("t00"))


@pytest.mark.parametrize(
    "read",
    [Store.read_rows, Store.read_outcomes, Store.compact, write_t00],
)
def test_a_part_of_a_newer_version_is_named_and_left_alone(tmp_path, read):
    store = fill_store(tmp_path, 2)
    path = tmp_path / "rows" / "t00.parquet"
    newer = {"vera.kind": "rows", "vera.schema_version": str(SCHEMA_VERSION + 1)}
    pq.write_table(pa.table({"unheard_of": [1]}).replace_schema_metadata(newer), path)
    before = path.read_bytes()
    with raises_with(StoreError, "t00.parquet", "newer release", f"version is {SCHEMA_VERSION + 1}"):
        read(store)
    assert path.read_bytes() == before
    assert list(tmp_path.rglob(".*.tmp")) == []

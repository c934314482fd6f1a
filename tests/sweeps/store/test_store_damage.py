"""Bad, foreign and unreadable parts are reported and set aside; all other parts are read."""

import errno
import os
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from store_helpers import fill_store, holds, make_record, refuse

from sweeps.store import merging
from sweeps.store.schema import to_tables
from sweeps.store.store import Store


def foreign(path):
    pq.write_table(pa.table({"trial_id": ["x"], "price": [3.0]}), path)


def other_kind(path):
    pq.write_table(to_tables(make_record())["curves"], path)


def other_columns(path):
    pq.write_table(to_tables(make_record())["rows"].drop_columns(["reason"]), path)


def damaged(path):
    data = bytearray(path.read_bytes())
    # Still a valid trial id, but another one: only the checksum differs.
    data[data.index(b"\x03\x00\x00\x00t03") + 5] ^= 0x01
    path.write_bytes(bytes(data))


BAD = {
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("trial_id,outcome\n"),
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-100]),
    "half": lambda path: path.write_bytes(path.read_bytes()[:200]),
    "foreign": foreign,
    "other kind": other_kind,
    "other columns": other_columns,
    "damaged": damaged,
}


@pytest.mark.parametrize("spoil", BAD.values(), ids=BAD.keys())
@pytest.mark.parametrize("read", [Store.read_rows, Store.read_outcomes, Store.compact])
def test_a_bad_part_is_reported_and_set_aside_and_the_others_are_read(tmp_path, spoil, read):
    store = fill_store(tmp_path)
    spoil(tmp_path / "rows" / "t03.parquet")
    read(store)
    assert len(store.problems) == 1
    assert store.problems[0].startswith("rows/t03.parquet ")
    assert "moved to set-aside/rows-t03.parquet" in store.problems[0]
    assert os.listdir(tmp_path / "set-aside") == ["rows-t03.parquet"]
    assert list(store.read_outcomes()) == ["t00", "t01", "t02", "t04"]
    store.write(make_record("t03"))
    assert holds(store, make_record("t03"))


def test_two_bad_parts_of_one_name_are_both_kept(tmp_path):
    store = fill_store(tmp_path)
    for text in ("one", "two"):
        (tmp_path / "rows" / "t03.parquet").write_text(text)
        store.read_rows()
    aside = {path.name: path.read_text() for path in (tmp_path / "set-aside").iterdir()}
    assert sorted(aside.values()) == ["one", "two"]
    named = [re.search(r"moved to set-aside/(\S+?);", problem)[1] for problem in store.problems]
    assert [aside[name] for name in named] == ["one", "two"], "each problem names the file that was moved"


def test_a_bad_part_that_cannot_be_moved_is_left_and_skipped(tmp_path, monkeypatch):
    store = fill_store(tmp_path)
    (tmp_path / "rows" / "t03.parquet").write_bytes(b"")
    monkeypatch.setattr("sweeps.store.local_folder.os.replace", refuse(errno.EROFS))
    for _ in range(2):
        assert len(store.read_rows()) == 4
    assert len(store.problems) == 1
    assert "left where it is" in store.problems[0]


def test_a_trial_whose_part_is_damaged_has_no_row(store):
    name = "rows/abc0.parquet" if store.folder.has_lock else "rows/abc0-1-bad.parquet"
    store.write(make_record("abc1"))
    with store.folder.stage("rows", lambda file: file.write(b"no Parquet")) as commit:
        commit(name)
    assert store.has_part("abc0")
    assert store.wait_for_row("abc0", 1) is None
    assert name in store.problems[0]
    store.write(make_record())
    assert store.wait_for_row("abc0", 1) == make_record().row


@pytest.mark.parametrize("function", ["ParquetFile", "ParquetFile.read_row_group"])
def test_a_lack_of_memory_does_not_count_as_damage(tmp_path, monkeypatch, function):
    store = fill_store(tmp_path, 2)

    def lack(*arguments, **options):
        raise pa.ArrowMemoryError("malloc of size 2147483648 failed")

    monkeypatch.setattr(f"sweeps.store.parts.pq.{function}", lack)
    with pytest.raises(MemoryError, match="malloc"):
        store.read_rows()
    monkeypatch.undo()
    assert len(store.read_rows()) == 2
    assert store.problems == []


def test_bad_curves_do_not_hide_the_row(tmp_path):
    store = fill_store(tmp_path, 2)
    next((tmp_path / "curves").glob("t01*")).write_bytes(b"PAR1")
    assert store.read_curves("t01") == []
    assert store.read_row("t01") == make_record("t01").row
    assert store.problems[0].startswith("curves/t01-1-")


def test_nothing_is_taken_from_a_damaged_compacted_file(tmp_path, monkeypatch):
    monkeypatch.setattr(merging, "GROUP_BYTES", 1)
    store = fill_store(tmp_path)
    store.compact()
    damaged(next((tmp_path / "rows").iterdir()))
    store.write(make_record("t88"))
    store.compact()
    assert list(store.read_outcomes()) == ["t88"]
    assert len(store.problems) == 1


def test_a_damaged_retry_does_not_supersede_the_earlier_attempt(tmp_path):
    store = fill_store(tmp_path)
    store.compact()
    store.write(make_record("t01", attempt=2, reason="needle"))
    path = tmp_path / "rows" / "t01.parquet"
    path.write_bytes(path.read_bytes().replace(b"needle", b"noodle"))
    store.compact()
    assert holds(store, make_record("t01"))
    assert "checksum" in store.problems[0].lower()

"""Compaction and merging of stores: no record is lost, even if others write at the same time."""

import os
import time
from dataclasses import replace

import pytest
from facts import raises_with
from store_helpers import files, fill_store, holds, make_record, make_row, parquet_files

from sweeps.errors import StoreError
from sweeps.store import merging
from sweeps.store.local_folder import lock_file
from sweeps.store.row import Record
from sweeps.store.schema import KINDS
from sweeps.store.store import Store


def test_compaction_leaves_one_file_per_kind_and_all_records(location):
    store = fill_store(location)
    before = store.read_rows()
    assert store.compact() == 15
    assert [len(files(store, kind)) for kind in KINDS] == [1, 1, 1]
    assert store.read_rows() == before
    assert all(holds(store, make_record(row.trial_id)) for row in before)
    assert store.compact() == 0


def test_records_after_a_compaction_are_compacted_by_the_next_one(location):
    store = fill_store(location)
    store.compact()
    store.write(make_record("t01", attempt=2))
    store.write(make_record("t77"))
    for _ in range(2):
        assert len(store.read_rows()) == 6
        assert holds(store, make_record("t01", attempt=2))
        assert holds(store, make_record("t77"))
        assert holds(store, make_record("t02"))
        store.compact()
    assert sum(file.metadata.num_rows for file in parquet_files(store, "rows")) == 6
    assert sum(file.metadata.num_rows for file in parquet_files(store, "curves")) == 6 * 3
    assert [len(files(store, kind)) for kind in KINDS] == [1, 1, 1]


def test_every_trial_is_found_after_a_compaction_into_many_row_groups(location, monkeypatch):
    monkeypatch.setattr(merging, "GROUP_BYTES", 1)
    store = fill_store(location, 8)
    store.compact()
    store.write(make_record("t99"))
    store.compact()
    assert next(parquet_files(store, "arrays")).num_row_groups > 4
    assert all(holds(store, make_record(row.trial_id)) for row in store.read_rows())


def test_duplicates_of_a_killed_compaction_are_resolved_by_readers(location, monkeypatch):
    store = fill_store(location)
    before = store.read_rows()
    with monkeypatch.context() as patch:
        patch.setattr(type(store.folder), "remove", lambda self, files: None)
        store.compact()
    assert len(files(store)) == 6
    assert store.read_rows() == before
    assert all(holds(store, make_record(row.trial_id)) for row in before)
    store.compact()
    assert [len(files(store, kind)) for kind in KINDS] == [1, 1, 1]
    assert store.read_rows() == before
    assert all(holds(store, make_record(row.trial_id)) for row in before)


@pytest.mark.parametrize("kind", KINDS)
def test_records_written_during_a_compaction_are_kept(location, monkeypatch, kind):
    store, merge = fill_store(location), Store._merge_parts

    def merge_then_write(self, which, source, keep):
        read = merge(self, which, source, keep)
        if which == kind:
            store.write(make_record("t01", attempt=2))
            store.write(make_record("t98"))
        return read

    monkeypatch.setattr(Store, "_merge_parts", merge_then_write)
    store.compact()
    monkeypatch.undo()
    for _ in range(2):
        assert len(store.read_rows()) == 6
        assert all(holds(store, make_record(row.trial_id, row.attempt)) for row in store.read_rows())
        assert store.read_row("t01").attempt == 2
        store.compact()


def test_a_result_written_during_a_compaction_replaces_a_failure_that_ended_later(location, monkeypatch):
    store, merge = fill_store(location), Store._merge_parts
    store.write(make_record("t98", outcome="error"))
    result = Record(replace(make_record("t98").row, finished_at="2025-12-31"), make_record("t98").curves)

    def write_then_merge(self, which, source, keep):
        if which == "curves":
            store.write(result)
        return merge(self, which, source, keep)

    monkeypatch.setattr(Store, "_merge_parts", write_then_merge)
    store.compact()
    monkeypatch.undo()
    for _ in range(2):
        assert holds(store, result)
        store.compact()


def test_curves_whose_row_is_still_missing_survive_a_compaction(tmp_path):
    store = fill_store(tmp_path)
    store.write(make_record("t97"))
    row = tmp_path / "rows" / "t97.parquet"
    row.rename(tmp_path / "late")
    store.compact()
    (tmp_path / "late").rename(row)
    assert holds(store, make_record("t97"))


def test_a_second_compaction_at_the_same_time_is_an_error(tmp_path):
    store = fill_store(tmp_path)
    with (
        lock_file(tmp_path / ".compaction.lock"),
        raises_with(StoreError, "Another process", str(tmp_path)),
    ):
        store.compact()
    assert store.compact() == 15


def test_a_compaction_removes_old_temporary_files(tmp_path):
    store = fill_store(tmp_path)
    old, new = tmp_path / "rows" / ".1-a.tmp", tmp_path / "rows" / ".2-b.tmp"
    for path in (old, new):
        path.write_bytes(b"half a part")
    os.utime(old, (time.time() - 1e6,) * 2)
    store.compact()
    assert (old.exists(), new.exists()) == (False, True)


@pytest.mark.parametrize("compacted", [False, True])
def test_a_merge_copies_trials_that_are_missing_or_of_a_lower_attempt(tmp_path, compacted):
    store, other = fill_store(tmp_path / "a", 3), Store(tmp_path / "b")
    store.write(make_record("t02", attempt=3))
    for record in (make_record("t01", attempt=2), make_record("t02"), make_record("t50"), make_record("t51")):
        other.write(record)
    if compacted:
        other.compact()
    before = {path: path.read_bytes() for path in other.folder.path.rglob("*.parquet")}
    assert store.merge(other.folder.path) == 3
    assert store.merge(other.folder.path) == 0
    assert {row.trial_id: row.attempt for row in store.read_rows()} == {
        "t00": 1,
        "t01": 2,
        "t02": 3,
        "t50": 1,
        "t51": 1,
    }
    assert all(holds(store, make_record(row.trial_id, row.attempt)) for row in store.read_rows())
    assert {path: path.read_bytes() for path in other.folder.path.rglob("*.parquet")} == before


def test_a_merge_replaces_a_failure_by_a_result_of_the_same_attempt_and_not_the_reverse(tmp_path):
    store, other = Store(tmp_path / "a"), Store(tmp_path / "b")
    failure, result = Record(make_row(outcome="error", finished_at="2026-01-09")), make_record()
    store.write(failure)
    other.write(result)
    assert other.merge(store.folder.path) == 0
    assert store.merge(other.folder.path) == 1
    assert store.merge(other.folder.path) == 0
    assert holds(store, result)
    assert holds(other, result)


def test_a_merge_reports_a_bad_part_of_the_other_store_and_leaves_it(tmp_path):
    store, other = fill_store(tmp_path / "a", 1), fill_store(tmp_path / "b", 3)
    (other.folder.path / "rows" / "t02.parquet").write_bytes(b"")
    assert store.merge(other.folder.path) == 1
    assert "rows/t02.parquet" in store.problems[0]
    assert "left where it is" in store.problems[0]
    assert (other.folder.path / "rows" / "t02.parquet").exists()


def test_stores_can_be_merged_by_copying_their_files(tmp_path):
    first, second = fill_store(tmp_path / "a", 4), Store(tmp_path / "b")
    for record in (make_record("t01", attempt=2), make_record("t60")):
        second.write(record)
    first.compact()
    second.compact()
    for path in second.folder.path.rglob("*.parquet"):
        (first.folder.path / path.relative_to(second.folder.path)).write_bytes(path.read_bytes())
    assert len(first.read_rows()) == 5
    assert all(holds(first, make_record(row.trial_id, row.attempt)) for row in first.read_rows())
    assert first.read_row("t01").attempt == 2

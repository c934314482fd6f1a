"""Many parts become one file of each kind, and two stores one: nothing is lost, whoever writes meanwhile."""

import os
import time
from dataclasses import replace

import pytest
from store_helpers import files, fill_store, holds, make_record, make_row, parquet_files

from sweeps.errors import StoreError
from sweeps.store import parts
from sweeps.store.local_folder import locked
from sweeps.store.row import Record
from sweeps.store.schema import KINDS
from sweeps.store.store import Store


def test_compaction_leaves_one_file_a_kind_and_changes_nothing(place):
    store = fill_store(place)
    before = store.rows()
    assert store.compact() == 15
    assert [len(files(store, kind)) for kind in KINDS] == [1, 1, 1]
    assert store.rows() == before
    assert all(holds(store, make_record(row.trial_id)) for row in before)
    assert store.compact() == 0


def test_what_comes_after_a_compaction_is_compacted_too(place):
    store = fill_store(place)
    store.compact()
    store.write(make_record("t01", attempt=2))
    store.write(make_record("t77"))
    for _ in range(2):
        assert len(store.rows()) == 6
        assert holds(store, make_record("t01", attempt=2))
        assert holds(store, make_record("t77"))
        assert holds(store, make_record("t02"))
        store.compact()
    assert sum(file.metadata.num_rows for file in parquet_files(store, "rows")) == 6
    assert sum(file.metadata.num_rows for file in parquet_files(store, "curves")) == 6 * 3
    assert [len(files(store, kind)) for kind in KINDS] == [1, 1, 1]


def test_a_compaction_of_many_row_groups_finds_every_trial(place, monkeypatch):
    monkeypatch.setattr(parts, "GROUP_BYTES", 1)
    store = fill_store(place, 8)
    store.compact()
    store.write(make_record("t99"))
    store.compact()
    assert next(parquet_files(store, "arrays")).num_row_groups > 4
    assert all(holds(store, make_record(row.trial_id)) for row in store.rows())


def test_a_compaction_that_is_killed_before_it_removes_the_parts_leaves_duplicates_that_reading_resolves(
    place, monkeypatch
):
    store = fill_store(place)
    before = store.rows()
    with monkeypatch.context() as patch:
        patch.setattr(type(store.folder), "remove", lambda self, files: None)
        store.compact()
    assert len(files(store)) == 6
    assert store.rows() == before
    assert all(holds(store, make_record(row.trial_id)) for row in before)
    store.compact()
    assert [len(files(store, kind)) for kind in KINDS] == [1, 1, 1]
    assert store.rows() == before
    assert all(holds(store, make_record(row.trial_id)) for row in before)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_during_a_compaction_is_not_lost(place, monkeypatch, kind):
    store, gather = fill_store(place), Store._gather

    def gather_and_be_overtaken(self, which, source, keep):
        read = gather(self, which, source, keep)
        if which == kind:
            store.write(make_record("t01", attempt=2))
            store.write(make_record("t98"))
        return read

    monkeypatch.setattr(Store, "_gather", gather_and_be_overtaken)
    store.compact()
    monkeypatch.undo()
    for _ in range(2):
        assert len(store.rows()) == 6
        assert all(holds(store, make_record(row.trial_id, row.attempt)) for row in store.rows())
        assert store.row("t01").attempt == 2
        store.compact()


def test_a_result_that_is_written_during_a_compaction_takes_the_place_of_a_failure_that_ended_later(
    place, monkeypatch
):
    store, gather = fill_store(place), Store._gather
    store.write(make_record("t98", outcome="error"))
    result = Record(replace(make_record("t98").row, finished_at="2025-12-31"), make_record("t98").curves)

    def be_overtaken_and_gather(self, which, source, keep):
        if which == "curves":
            store.write(result)
        return gather(self, which, source, keep)

    monkeypatch.setattr(Store, "_gather", be_overtaken_and_gather)
    store.compact()
    monkeypatch.undo()
    for _ in range(2):
        assert holds(store, result)
        store.compact()


def test_curves_whose_row_is_yet_to_come_survive_a_compaction(tmp_path):
    store = fill_store(tmp_path)
    store.write(make_record("t97"))
    row = tmp_path / "rows" / "t97.parquet"
    row.rename(tmp_path / "late")
    store.compact()
    (tmp_path / "late").rename(row)
    assert holds(store, make_record("t97"))


def test_one_compaction_at_a_time(tmp_path):
    store = fill_store(tmp_path)
    with (
        locked(tmp_path / ".compaction.lock"),
        pytest.raises(StoreError, match="Another process is compacting"),
    ):
        store.compact()
    assert store.compact() == 15


def test_a_compaction_removes_what_a_killed_writer_left(tmp_path):
    store = fill_store(tmp_path)
    old, new = tmp_path / "rows" / ".1-a.tmp", tmp_path / "rows" / ".2-b.tmp"
    for path in (old, new):
        path.write_bytes(b"half a part")
    os.utime(old, (time.time() - 1e6,) * 2)
    store.compact()
    assert (old.exists(), new.exists()) == (False, True)


@pytest.mark.parametrize("compacted", [False, True])
def test_a_merge_takes_what_is_missing_or_of_a_lower_attempt(tmp_path, compacted):
    store, other = fill_store(tmp_path / "a", 3), Store(tmp_path / "b")
    store.write(make_record("t02", attempt=3))
    for record in (make_record("t01", attempt=2), make_record("t02"), make_record("t50"), make_record("t51")):
        other.write(record)
    if compacted:
        other.compact()
    before = {path: path.read_bytes() for path in other.folder.path.rglob("*.parquet")}
    assert store.merge(other.folder.path) == 3
    assert store.merge(other.folder.path) == 0
    assert {row.trial_id: row.attempt for row in store.rows()} == {
        "t00": 1,
        "t01": 2,
        "t02": 3,
        "t50": 1,
        "t51": 1,
    }
    assert all(holds(store, make_record(row.trial_id, row.attempt)) for row in store.rows())
    assert {path: path.read_bytes() for path in other.folder.path.rglob("*.parquet")} == before


def test_a_merge_takes_the_result_of_an_attempt_that_failed_here_and_no_failure_of_one_that_did_not(tmp_path):
    store, other = Store(tmp_path / "a"), Store(tmp_path / "b")
    failure, result = Record(make_row(outcome="error", finished_at="2026-01-09")), make_record()
    store.write(failure)
    other.write(result)
    assert other.merge(store.folder.path) == 0
    assert store.merge(other.folder.path) == 1
    assert store.merge(other.folder.path) == 0
    assert holds(store, result)
    assert holds(other, result)


def test_a_merge_names_a_bad_part_of_the_other_and_leaves_it(tmp_path):
    store, other = fill_store(tmp_path / "a", 1), fill_store(tmp_path / "b", 3)
    (other.folder.path / "rows" / "t02.parquet").write_bytes(b"")
    assert store.merge(other.folder.path) == 1
    assert "rows/t02.parquet" in store.problems[0]
    assert "left where it is" in store.problems[0]
    assert (other.folder.path / "rows" / "t02.parquet").exists()


def test_stores_merge_by_copying_their_files_together(tmp_path):
    first, second = fill_store(tmp_path / "a", 4), Store(tmp_path / "b")
    for record in (make_record("t01", attempt=2), make_record("t60")):
        second.write(record)
    first.compact()
    second.compact()
    for path in second.folder.path.rglob("*.parquet"):
        (first.folder.path / path.relative_to(second.folder.path)).write_bytes(path.read_bytes())
    assert len(first.rows()) == 5
    assert all(holds(first, make_record(row.trial_id, row.attempt)) for row in first.rows())
    assert first.row("t01").attempt == 2

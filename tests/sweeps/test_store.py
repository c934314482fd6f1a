"""The store under everything that can happen to it: retries, crashes, full disks, foreign files, many processes.

A test that asks for `place` is run in a directory and in a bucket; what only a bucket can do is in test_remote_store.py.
"""

import errno
import json
import os
import re
import signal
import time
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from store_helpers import a_record, a_row, files, filled, finish, holds, parquet_files, python

from sweeps import parts
from sweeps.errors import StoreError, UnknownTrial
from sweeps.local_folder import locked
from sweeps.migrations import MIGRATIONS
from sweeps.row import SCHEMA_VERSION, Record
from sweeps.schema import KINDS, SCHEMAS, to_tables
from sweeps.store import Store


@pytest.fixture
def store(place):
    return Store(place)


# What is written is read.


def test_a_trial_is_there_when_its_row_is(store):
    assert not store.has_part("abc0")
    store.write(a_record())
    assert holds(store, a_record())
    assert store.outcomes() == {"abc0": "ok"}
    assert store.has_part("abc0")
    (name,) = files(store)
    with store.folder.opened(f"rows/{name}") as source:
        identity = source.identity
    store.folder.remove({f"rows/{name}": identity})
    assert store.rows() == []
    with pytest.raises(UnknownTrial):
        store.curves("abc0")


def test_an_empty_store_has_no_rows(store):
    assert (store.rows(), store.outcomes(), store.compact()) == ([], {}, 0)


def test_a_failed_trial_may_leave_nothing_but_its_row(store):
    store.write(Record(a_row(outcome="error", reason="RuntimeError: ∂ is not defined")))
    assert (store.curves("abc0"), store.arrays("abc0")) == ([], {})
    assert store.row("abc0").reason == "RuntimeError: ∂ is not defined"


def test_a_retry_takes_the_place_of_the_earlier_attempt_and_never_the_other_way(store):
    for attempt in (1, 3, 2):
        store.write(a_record(attempt=attempt))
    assert holds(store, a_record(attempt=3))
    assert len(store.rows()) == 1
    store.compact()
    assert len(files(store)) == 1
    assert holds(store, a_record(attempt=3))


def test_a_failure_never_takes_the_place_of_a_result_of_the_same_attempt(store):
    result, failure = a_record(), Record(a_row(outcome="error", finished_at="2026-01-09"))
    store.write(result)
    store.write(failure)
    for _ in range(2):
        assert holds(store, result)
        assert store.outcomes() == {"abc0": "ok"}
        assert store.ended("abc0", 1) in (result.row, None)  # none once it is compacted
        store.compact()
    assert sum(file.metadata.num_rows for file in parquet_files(store, "rows")) == 1


@pytest.mark.parametrize("compacted", [False, True])
def test_a_result_takes_the_place_of_a_failure_of_the_same_attempt_that_ended_later(store, compacted):
    store.write(Record(a_row(outcome="timeout", finished_at="2026-01-09")))
    store.write(a_record("abc1"))
    if compacted:
        store.compact()
    store.write(a_record())
    for _ in range(2):
        assert holds(store, a_record())
        assert store.outcomes() == {"abc0": "ok", "abc1": "ok"}
        store.compact()
    assert sum(file.metadata.num_rows for file in parquet_files(store, "rows")) == 2


def test_the_failure_of_a_retry_takes_the_place_of_an_earlier_result(store):
    store.write(a_record())
    store.write(a_record(attempt=2, outcome="error"))
    store.compact()
    assert holds(store, a_record(attempt=2, outcome="error"))


def test_a_retry_in_a_directory_overwrites_the_row_of_the_attempt_before(tmp_path):
    store = Store(tmp_path)
    for attempt in (1, 3, 2):
        store.write(a_record(attempt=attempt))
    assert files(store) == ["abc0.parquet"]


def test_a_retry_that_left_no_curves_does_not_show_those_of_the_attempt_before(store):
    store.write(a_record())
    store.write(Record(a_row(attempt=2)))
    assert (store.curves("abc0"), store.arrays("abc0")) == ([], {})
    store.compact()
    assert (store.curves("abc0"), store.arrays("abc0")) == ([], {})


def test_a_trial_is_found_by_the_beginning_of_its_id(store):
    for trial_id in ("abc0", "abc01", "abd2"):
        store.write(Record(a_row(trial_id)))
    assert store.row("abd").trial_id == "abd2"
    assert store.row("abc0").trial_id == "abc0"
    with pytest.raises(UnknownTrial, match="3 trials begin with 'ab': abc0, abc01, abd2"):
        store.row("ab")
    with pytest.raises(UnknownTrial, match="Nearest: abd2"):
        store.row("abe2")
    with pytest.raises(UnknownTrial, match=r"'zzzz', or one that begins so\."):
        store.row("zzzz")
    store.compact()
    assert store.row("abd").trial_id == "abd2"


# Plain pandas reads it.


def test_pandas_reads_the_rows_before_and_after_compaction_and_in_a_mix(tmp_path):
    store = filled(tmp_path)
    (tmp_path / "rows" / ".123-abc.tmp").write_bytes(b"half a part")
    (tmp_path / "rows" / ".hidden.parquet").write_bytes(b"half a part")
    ids = [f"t{i:02}" for i in range(5)]
    for change in (lambda: None, store.compact, lambda: store.write(a_record("t99"))):
        change()
        table = pd.read_parquet(tmp_path / "rows")
        assert sorted(table["trial_id"]) == [row.trial_id for row in store.rows()]
        assert set(ids) <= set(table["trial_id"])
        assert json.loads(table["metrics"][0]) == {"nll": 0.1}
    assert store.problems == []


# Compaction.


def test_compaction_leaves_one_file_a_kind_and_changes_nothing(place):
    store = filled(place)
    before = store.rows()
    assert store.compact() == 15
    assert [len(files(store, kind)) for kind in KINDS] == [1, 1, 1]
    assert store.rows() == before
    assert all(holds(store, a_record(row.trial_id)) for row in before)
    assert store.compact() == 0


def test_what_comes_after_a_compaction_is_compacted_too(place):
    store = filled(place)
    store.compact()
    store.write(a_record("t01", attempt=2))
    store.write(a_record("t77"))
    for _ in range(2):
        assert len(store.rows()) == 6
        assert holds(store, a_record("t01", attempt=2))
        assert holds(store, a_record("t77"))
        assert holds(store, a_record("t02"))
        store.compact()
    assert sum(file.metadata.num_rows for file in parquet_files(store, "rows")) == 6
    assert sum(file.metadata.num_rows for file in parquet_files(store, "curves")) == 6 * 3
    assert [len(files(store, kind)) for kind in KINDS] == [1, 1, 1]


def test_a_compaction_of_many_row_groups_finds_every_trial(place, monkeypatch):
    monkeypatch.setattr(parts, "GROUP_BYTES", 1)
    store = filled(place, 8)
    store.compact()
    store.write(a_record("t99"))
    store.compact()
    assert next(parquet_files(store, "arrays")).num_row_groups > 4
    assert all(holds(store, a_record(row.trial_id)) for row in store.rows())


def test_a_compaction_that_is_killed_before_it_removes_the_parts_leaves_duplicates_that_reading_resolves(place, monkeypatch):
    store = filled(place)
    before = store.rows()
    with monkeypatch.context() as patch:
        patch.setattr(type(store.folder), "remove", lambda self, files: None)
        store.compact()
    assert len(files(store)) == 6
    assert store.rows() == before
    assert all(holds(store, a_record(row.trial_id)) for row in before)
    store.compact()
    assert [len(files(store, kind)) for kind in KINDS] == [1, 1, 1]
    assert store.rows() == before
    assert all(holds(store, a_record(row.trial_id)) for row in before)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_during_a_compaction_is_not_lost(place, monkeypatch, kind):
    store, gather = filled(place), Store._gather

    def gather_and_be_overtaken(self, which, source, keep):
        read = gather(self, which, source, keep)
        if which == kind:
            store.write(a_record("t01", attempt=2))
            store.write(a_record("t98"))
        return read

    monkeypatch.setattr(Store, "_gather", gather_and_be_overtaken)
    store.compact()
    monkeypatch.undo()
    for _ in range(2):
        assert len(store.rows()) == 6
        assert all(holds(store, a_record(row.trial_id, row.attempt)) for row in store.rows())
        assert store.row("t01").attempt == 2
        store.compact()


def test_a_result_that_is_written_during_a_compaction_takes_the_place_of_a_failure_that_ended_later(place, monkeypatch):
    store, gather = filled(place), Store._gather
    store.write(a_record("t98", outcome="error"))
    result = Record(replace(a_record("t98").row, finished_at="2025-12-31"), a_record("t98").curves)

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
    store = filled(tmp_path)
    store.write(a_record("t97"))
    row = tmp_path / "rows" / "t97.parquet"
    row.rename(tmp_path / "late")
    store.compact()
    (tmp_path / "late").rename(row)
    assert holds(store, a_record("t97"))


def test_one_compaction_at_a_time(tmp_path):
    store = filled(tmp_path)
    with locked(tmp_path / ".compaction.lock"), pytest.raises(StoreError, match="Another process is compacting"):
        store.compact()
    assert store.compact() == 15


def test_a_compaction_removes_what_a_killed_writer_left(tmp_path):
    store = filled(tmp_path)
    old, new = tmp_path / "rows" / ".1-a.tmp", tmp_path / "rows" / ".2-b.tmp"
    for path in (old, new):
        path.write_bytes(b"half a part")
    os.utime(old, (time.time() - 1e6,) * 2)
    store.compact()
    assert (old.exists(), new.exists()) == (False, True)


# Merging.


@pytest.mark.parametrize("compacted", [False, True])
def test_a_merge_takes_what_is_missing_or_of_a_lower_attempt(tmp_path, compacted):
    store, other = filled(tmp_path / "a", 3), Store(tmp_path / "b")
    store.write(a_record("t02", attempt=3))
    for record in (a_record("t01", attempt=2), a_record("t02"), a_record("t50"), a_record("t51")):
        other.write(record)
    if compacted:
        other.compact()
    before = {path: path.read_bytes() for path in other.folder.path.rglob("*.parquet")}
    assert store.merge(other.folder.path) == 3
    assert store.merge(other.folder.path) == 0
    assert {row.trial_id: row.attempt for row in store.rows()} == {"t00": 1, "t01": 2, "t02": 3, "t50": 1, "t51": 1}
    assert all(holds(store, a_record(row.trial_id, row.attempt)) for row in store.rows())
    assert {path: path.read_bytes() for path in other.folder.path.rglob("*.parquet")} == before


def test_a_merge_takes_the_result_of_an_attempt_that_failed_here_and_no_failure_of_one_that_did_not(tmp_path):
    store, other = Store(tmp_path / "a"), Store(tmp_path / "b")
    failure, result = Record(a_row(outcome="error", finished_at="2026-01-09")), a_record()
    store.write(failure)
    other.write(result)
    assert other.merge(store.folder.path) == 0
    assert store.merge(other.folder.path) == 1
    assert store.merge(other.folder.path) == 0
    assert holds(store, result)
    assert holds(other, result)


def test_a_merge_names_a_bad_part_of_the_other_and_leaves_it(tmp_path):
    store, other = filled(tmp_path / "a", 1), filled(tmp_path / "b", 3)
    (other.folder.path / "rows" / "t02.parquet").write_bytes(b"")
    assert store.merge(other.folder.path) == 1
    assert "rows/t02.parquet" in store.problems[0]
    assert "left where it is" in store.problems[0]
    assert (other.folder.path / "rows" / "t02.parquet").exists()


def test_stores_merge_by_copying_their_files_together(tmp_path):
    first, second = filled(tmp_path / "a", 4), Store(tmp_path / "b")
    for record in (a_record("t01", attempt=2), a_record("t60")):
        second.write(record)
    first.compact()
    second.compact()
    for path in second.folder.path.rglob("*.parquet"):
        (first.folder.path / path.relative_to(second.folder.path)).write_bytes(path.read_bytes())
    assert len(first.rows()) == 5
    assert all(holds(first, a_record(row.trial_id, row.attempt)) for row in first.rows())
    assert first.row("t01").attempt == 2


# Bad files.


def foreign(path):
    pq.write_table(pa.table({"trial_id": ["x"], "price": [3.0]}), path)


def other_kind(path):
    pq.write_table(to_tables(a_record())["curves"], path)


def other_columns(path):
    pq.write_table(to_tables(a_record())["rows"].drop_columns(["reason"]), path)


def damaged(path):
    data = bytearray(path.read_bytes())
    data[data.index(b"\x03\x00\x00\x00t03") + 5] ^= 0x01  # still a trial's id, but another: only the checksum tells
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
@pytest.mark.parametrize("read", [Store.rows, Store.outcomes, Store.compact])
def test_a_bad_part_is_named_and_set_aside_and_the_rest_is_read(tmp_path, spoil, read):
    store = filled(tmp_path)
    spoil(tmp_path / "rows" / "t03.parquet")
    read(store)
    assert len(store.problems) == 1
    assert store.problems[0].startswith("rows/t03.parquet is not readable (")
    assert "moved to set-aside/rows-t03.parquet" in store.problems[0]
    assert os.listdir(tmp_path / "set-aside") == ["rows-t03.parquet"]
    assert list(store.outcomes()) == ["t00", "t01", "t02", "t04"]
    store.write(a_record("t03"))
    assert holds(store, a_record("t03"))


def test_bad_parts_of_one_name_do_not_overwrite_each_other(tmp_path):
    store = filled(tmp_path)
    for text in ("one", "two"):
        (tmp_path / "rows" / "t03.parquet").write_text(text)
        store.rows()
    aside = {path.name: path.read_text() for path in (tmp_path / "set-aside").iterdir()}
    assert sorted(aside.values()) == ["one", "two"]
    named = [re.search(r"moved to set-aside/(\S+?);", problem)[1] for problem in store.problems]
    assert [aside[name] for name in named] == ["one", "two"], "each is called what it is called there"


def test_a_bad_part_that_cannot_be_moved_is_left_and_skipped(tmp_path, monkeypatch):
    store = filled(tmp_path)
    (tmp_path / "rows" / "t03.parquet").write_bytes(b"")
    monkeypatch.setattr("sweeps.local_folder.os.replace", refuse(errno.EROFS))
    for _ in range(2):
        assert len(store.rows()) == 4
    assert len(store.problems) == 1
    assert "left where it is" in store.problems[0]


def test_a_trial_whose_part_is_damaged_has_not_ended(store):
    name = "rows/abc0.parquet" if store.folder.has_lock else "rows/abc0-1-bad.parquet"
    store.write(a_record("abc1"))
    with store.folder.staged("rows", lambda file: file.write(b"no Parquet")) as commit:
        commit(name)
    assert store.has_part("abc0")
    assert store.ended("abc0", 1) is None
    assert name in store.problems[0]
    store.write(a_record())
    assert store.ended("abc0", 1) == a_record().row


@pytest.mark.parametrize("place", ["ParquetFile", "ParquetFile.read_row_group"])
def test_a_lack_of_memory_is_not_taken_for_damage(tmp_path, monkeypatch, place):
    store = filled(tmp_path, 2)

    def lack(*arguments, **options):
        raise pa.ArrowMemoryError("malloc of size 2147483648 failed")

    monkeypatch.setattr(f"sweeps.parts.pq.{place}", lack)
    with pytest.raises(MemoryError, match="malloc"):
        store.rows()
    monkeypatch.undo()
    assert len(store.rows()) == 2
    assert store.problems == []


def test_bad_curves_do_not_hide_the_row(tmp_path):
    store = filled(tmp_path, 2)
    next((tmp_path / "curves").glob("t01*")).write_bytes(b"PAR1")
    assert store.curves("t01") == []
    assert store.row("t01") == a_record("t01").row
    assert store.problems[0].startswith("curves/t01-1-")


def test_a_compacted_file_that_is_damaged_gives_nothing_rather_than_half(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "GROUP_BYTES", 1)
    store = filled(tmp_path)
    store.compact()
    damaged(next((tmp_path / "rows").iterdir()))
    store.write(a_record("t88"))
    store.compact()
    assert list(store.outcomes()) == ["t88"]
    assert len(store.problems) == 1


def test_a_damaged_retry_does_not_take_the_attempt_before_it_along(tmp_path):
    store = filled(tmp_path)
    store.compact()
    store.write(a_record("t01", attempt=2, reason="needle"))
    path = tmp_path / "rows" / "t01.parquet"
    path.write_bytes(path.read_bytes().replace(b"needle", b"noodle"))
    store.compact()
    assert holds(store, a_record("t01"))
    assert "checksum" in store.problems[0].lower()


# A file system that refuses.


def refuse(number, after=0):
    """A call that fails so, once it has been made `after` times without doing anything."""
    calls = []

    def call(*arguments, **options):
        calls.append(arguments)
        if len(calls) > after:
            raise OSError(number, os.strerror(number))

    return call


@pytest.mark.parametrize("after", range(6))
def test_a_full_disk_leaves_the_earlier_record_whole(tmp_path, monkeypatch, after):
    store = filled(tmp_path, 2)
    with monkeypatch.context() as patch:
        patch.setattr("sweeps.local_folder.os.fsync", refuse(errno.ENOSPC, after))
        with pytest.raises(StoreError, match=r"the disk is full\. Free some space"):
            store.write(a_record("t01", attempt=2))
    assert list(tmp_path.rglob(".*.tmp")) == []
    assert holds(store, a_record("t01", attempt=2 if after == 5 else 1))  # the sixth is after the row's renaming
    store.compact()
    assert holds(store, a_record("t01", attempt=2 if after == 5 else 1))
    assert store.problems == []


def test_a_write_that_breaks_off_in_the_middle_leaves_nothing(tmp_path):
    filled(tmp_path, 1)
    code = """
import resource
from dataclasses import replace
from sweeps.errors import StoreError
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
record = a_record("t00", attempt=2)
try:
    Store(sys.argv[1]).write(replace(record, arrays={"big": np.random.rand(100_000)}))
except StoreError as error:
    assert "Cannot write the results in" in str(error)
else:
    raise SystemExit("written")
"""
    finish(python(code, tmp_path))
    assert list(tmp_path.rglob(".*.tmp")) == []
    assert holds(Store(tmp_path), a_record("t00"))


@pytest.mark.parametrize(
    ("number", "message"), [(errno.EROFS, "read-only"), (errno.EACCES, "permission denied"), (errno.EIO, "nput")]
)
def test_a_directory_that_cannot_be_written_is_a_clear_error(tmp_path, monkeypatch, number, message):
    store = filled(tmp_path, 1)
    monkeypatch.setattr("sweeps.local_folder.Path.open", refuse(number))
    with pytest.raises(StoreError, match=message):
        store.write(a_record("t01"))


def test_a_directory_that_cannot_be_read_is_a_clear_error(tmp_path, monkeypatch):
    store = filled(tmp_path, 1)
    monkeypatch.setattr("sweeps.local_folder.os.listdir", refuse(errno.EACCES))
    with pytest.raises(StoreError, match=r"Cannot read the results in .* permission denied"):
        store.rows()
    with pytest.raises(StoreError, match="Cannot use the results in"):
        Store(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_read_only_store_is_read(tmp_path):
    store = filled(tmp_path, 2)
    (tmp_path / "rows" / "t01.parquet").write_bytes(b"")
    for path in (tmp_path / "rows", tmp_path):
        path.chmod(0o555)
    try:
        assert [row.trial_id for row in Store(tmp_path).rows()] == ["t00"]
        with pytest.raises(StoreError, match="permission denied"):
            store.write(a_record("t02"))
    finally:
        for path in (tmp_path, tmp_path / "rows"):
            path.chmod(0o755)


def test_a_path_that_is_no_directory_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    for create in (True, False):
        with pytest.raises(StoreError, match="a file where a directory should be"):
            Store(tmp_path / "file", create=create)
        with pytest.raises(StoreError):
            Store(tmp_path / "file" / "below", create=create)
    with pytest.raises(StoreError, match="There are no results in"):
        Store(tmp_path / "missing", create=False)
    assert not (tmp_path / "missing").exists()


def test_a_file_system_without_locks_is_written_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("sweeps.local_folder.fcntl.flock", refuse(errno.ENOLCK))
    store = filled(tmp_path)
    store.compact()
    assert len(store.rows()) == 5


# Versions.


def version_0(path, kind, table):
    metadata = {"vera.kind": kind, "vera.schema_version": "0"}
    pq.write_table(table.replace_schema_metadata(metadata), path)


def test_a_part_of_an_older_version_is_migrated_when_read(tmp_path, monkeypatch):
    """Version 0, made up here: `reason` was called `why`, there was no `log_tail`, and the columns stood in another order."""
    store = filled(tmp_path, 2)
    table = to_tables(a_record("t09"))["rows"].drop_columns(["log_tail", "schema_version"])
    table = table.rename_columns([{"reason": "why"}.get(name, name) for name in table.column_names])
    version_0(tmp_path / "rows" / "t09.parquet", "rows", table.select(table.column_names[::-1]))

    def to_1(old):
        new = old.rename_columns([{"why": "reason"}.get(name, name) for name in old.column_names])
        return new.append_column("log_tail", pa.array([""] * old.num_rows))

    with pytest.raises(StoreError, match=r"t09\.parquet has schema version 0, and there is no migration from version 0"):
        store.rows()
    monkeypatch.setitem(MIGRATIONS, 0, {"rows": to_1})
    expected = replace(a_record("t09").row, log_tail="")
    assert store.row("t09") == expected
    assert store.outcomes()["t09"] == "ok"
    store.compact()
    monkeypatch.undo()
    assert store.row("t09") == expected
    assert store.problems == []


def test_a_kind_that_did_not_change_at_a_version_is_read_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setitem(MIGRATIONS, 0, {})
    store = filled(tmp_path, 1)
    path = next((tmp_path / "curves").iterdir())
    version_0(path, "curves", to_tables(a_record("t00"))["curves"])
    assert holds(store, a_record("t00"))


@pytest.mark.parametrize("read", [Store.rows, Store.outcomes, Store.compact, lambda store: store.write(a_record("t00"))])
def test_a_newer_version_is_refused_by_name_and_left_alone(tmp_path, read):
    store = filled(tmp_path, 2)
    path = tmp_path / "rows" / "t00.parquet"
    newer = {"vera.kind": "rows", "vera.schema_version": str(SCHEMA_VERSION + 1)}
    pq.write_table(pa.table({"unheard_of": [1]}).replace_schema_metadata(newer), path)
    before = path.read_bytes()
    with pytest.raises(
        StoreError, match=rf"t00\.parquet was written by a newer release: its schema version is {SCHEMA_VERSION + 1}"
    ):
        read(store)
    assert path.read_bytes() == before
    assert list(tmp_path.rglob(".*.tmp")) == []


# Many processes.


def test_two_writers_of_one_trial_leave_one_whole_record(place, tmp_path):
    code = "store = Store(sys.argv[1])\nfor _ in range(20): store.write(a_record(attempt=int(sys.argv[2])))"
    for process in [python(code, place, attempt) for attempt in (1, 2)]:
        finish(process)
    store = Store(place)
    assert len(store.rows()) == 1
    assert holds(store, a_record(attempt=2))
    store.compact()
    assert len(files(store)) == 1
    assert list(tmp_path.rglob(".*.tmp")) == []


def test_readers_miss_nothing_while_others_write_and_compact(tmp_path):
    store = filled(tmp_path, 10)
    write = "store = Store(sys.argv[1])\nfor i in range(60): store.write(a_record(f't{i % 20:02}', attempt=1 + i // 20))"
    compact = "store = Store(sys.argv[1])\nfor _ in range(30): store.compact()"
    running = [python(write, tmp_path), python(compact, tmp_path)]
    while any(process.poll() is None for process in running):
        assert {f"t{i:02}" for i in range(10)} <= set(store.outcomes())
        assert all(holds_some_attempt(store, f"t{i:02}") for i in range(10))
    for process in running:
        finish(process)
    assert [row.attempt for row in store.rows()] == [3] * 20
    assert all(holds(store, a_record(row.trial_id, 3)) for row in store.rows())
    assert store.problems == []


def holds_some_attempt(store, trial_id):
    """Curves of one attempt, whole; a retry may come between two looks at the store, so the row's own is not asked for."""
    curves = store.curves(trial_id)
    return len(curves) == 3 and len({point.value for point in curves}) == 1


def test_a_writer_that_is_killed_leaves_whole_rows_only(tmp_path):
    store = Store(tmp_path)
    code = "store = Store(sys.argv[1])\nfor i in range(100_000): store.write(a_record(f't{i:06}'))"
    for _ in range(3):
        process = python(code, tmp_path)
        seen = len(store.outcomes())
        while process.poll() is None and len(store.outcomes()) < seen + 10 and len(store.outcomes()) < 100:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert all(holds(store, a_record(row.trial_id)) for row in store.rows())
        assert len(pd.read_parquet(tmp_path / "rows")) == len(store.rows())
    assert store.problems == []


def test_the_schemas_are_what_the_files_have(tmp_path):
    store = filled(tmp_path, 2)
    for _ in range(2):
        for kind in KINDS:
            schema = pq.read_schema(tmp_path / kind / files(store, kind)[0])
            assert schema.equals(SCHEMAS[kind])
            assert [column.metadata for column in schema] == [column.metadata for column in SCHEMAS[kind]]
        store.compact()

"""Parts are compacted as they accumulate; no record is lost to concurrent writers or a kill."""

import signal
import time

import pytest
from store_helpers import (
    files,
    fill_store,
    finish_python,
    holds,
    make_record,
    parquet_files,
    refuse,
    start_python,
)

from sweeps.store import merging
from sweeps.store import store as store_module
from sweeps.store.local_folder import lock_file
from sweeps.store.merging import COMPACTED
from sweeps.store.schema import KINDS
from sweeps.store.store import Store

WRITE = """
import sweeps.store.store as module
module.LOOSE_LIMIT = 4
store = Store(sys.argv[1])
for i in range(int(sys.argv[2]), int(sys.argv[3])):
    store.write(make_record(f't{i % 1000:03}', attempt=1 + i // 1000))
"""


@pytest.fixture
def low_limit(monkeypatch):
    monkeypatch.setattr(store_module, "LOOSE_LIMIT", 4)
    monkeypatch.setattr("sweeps.store.store.random.random", lambda: 0.0)


def count_loose(store, kind="rows"):
    return sum(not name.startswith(COMPACTED) for name in files(store, kind))


@pytest.mark.usefixtures("low_limit")
def test_parts_are_compacted_as_they_accumulate(location):
    store = Store(location)
    for i in range(14):
        store.write(make_record(f"t{i:02}"))
        assert all(count_loose(store, kind) < 4 for kind in KINDS)
    assert all(len(files(store, kind)) < 7 for kind in KINDS)
    assert all(holds(Store(location), make_record(f"t{i:02}")) for i in range(14))
    assert Store(location).wait_for_row("t00", 1) == make_record("t00").row
    assert store.problems == []


@pytest.mark.usefixtures("low_limit")
def test_a_record_is_rewritten_a_few_times_only(tmp_path, monkeypatch):
    written = []
    merge = merging.PartMerge.merge_groups

    def count(self):
        for table in merge(self):
            written.append(table.num_rows if self.kind == "rows" else 0)
            yield table

    monkeypatch.setattr(merging.PartMerge, "merge_groups", count)
    store = Store(tmp_path)
    for i in range(100):
        store.write(make_record(f"t{(i * 37) % 100:02}"))
    assert sum(written) + count_loose(store) >= 100
    assert sum(written) <= 100 * 7, "each of log2(100) times"
    assert len(files(store)) <= 10


@pytest.mark.usefixtures("low_limit")
def test_a_retry_supersedes_a_compacted_record(tmp_path):
    store = Store(tmp_path)
    for attempt in (1, 2):
        for i in range(6):
            store.write(make_record(f"t{i:02}", attempt))
    assert all(holds(store, make_record(f"t{i:02}", 2)) for i in range(6))
    assert len(store.read_rows()) == 6


@pytest.mark.usefixtures("low_limit")
def test_a_writer_does_not_wait_for_another_compaction(tmp_path):
    store = Store(tmp_path)
    with lock_file(tmp_path / ".compaction.lock"):
        for i in range(6):
            store.write(make_record(f"t{i:02}"))
    assert count_loose(store) == 6
    store.write(make_record("t06"))
    assert count_loose(store) == 0


@pytest.mark.usefixtures("low_limit")
def test_a_compaction_that_fails_does_not_fail_the_writer(tmp_path, monkeypatch):
    store = Store(tmp_path)
    monkeypatch.setattr(store, "_merge_parts", refuse(28))
    for i in range(6):
        store.write(make_record(f"t{i:02}"))
    assert count_loose(store) == 6
    assert len(store.read_rows()) == 6


def test_two_writers_that_compact_lose_and_double_nothing(tmp_path):
    running = [start_python(WRITE, tmp_path, first, first + 40) for first in (0, 20)]
    store = Store(tmp_path)
    while any(process.poll() is None for process in running):
        seen = set(store.read_outcomes())
        assert seen <= set(Store(tmp_path).read_outcomes())
    for process in running:
        finish_python(process)
    assert [row.trial_id for row in store.read_rows()] == [f"t{i:03}" for i in range(60)]
    assert all(holds(store, make_record(f"t{i:03}")) for i in range(60))
    assert len(files(store)) < 30
    store.compact()
    assert sum(file.metadata.num_rows for file in parquet_files(store, "rows")) == 60
    assert sum(file.metadata.num_rows for file in parquet_files(store, "curves")) == 60 * 3
    assert store.problems == []


def test_a_writer_killed_while_it_compacts_loses_nothing(tmp_path):
    store, written = Store(tmp_path), 0
    for round_number in range(4):
        process = start_python(WRITE, tmp_path, 100 * round_number, 100 * round_number + 100)
        enough = len(store.read_outcomes()) + 6 + round_number
        while process.poll() is None and len(store.read_outcomes()) < enough:
            time.sleep(0.003)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        found = store.read_rows()
        assert len(found) >= max(written, enough)
        assert all(holds(store, make_record(row.trial_id)) for row in found)
        written = len(found)
    store.compact()
    assert len(store.read_rows()) == written
    assert sum(file.metadata.num_rows for file in parquet_files(store, "rows")) == written
    assert store.problems == []


@pytest.mark.parametrize("step", ["before the new file", "before removing", "while removing"])
@pytest.mark.usefixtures("low_limit")
def test_nothing_is_lost_wherever_a_compaction_ends(tmp_path, monkeypatch, step):
    """An exception that nothing catches stands for the kill."""

    class Killed(BaseException):
        pass

    def kill(*arguments, **options):
        raise Killed

    store = fill_store(tmp_path, 3)
    remove = type(store.folder).remove

    def remove_one(folder, found):
        remove(folder, dict(list(found.items())[:1]))
        raise Killed

    with monkeypatch.context() as patch:
        if step == "before the new file":
            patch.setattr(merging.PartMerge, "hash_taken", kill)
        else:
            patch.setattr(type(store.folder), "remove", kill if step == "before removing" else remove_one)
        with pytest.raises(Killed):
            store.write(make_record("t03"))
    again = Store(tmp_path)
    for _ in range(2):
        assert [row.trial_id for row in again.read_rows()] == ["t00", "t01", "t02", "t03"]
        assert all(holds(again, make_record(f"t{i:02}")) for i in range(4))
        again.compact()


def test_a_lookup_reads_one_row_group_of_each_compacted_file(tmp_path, monkeypatch):
    monkeypatch.setattr(merging, "GROUP_BYTES", 1)
    store = fill_store(tmp_path, 20)
    store.compact()
    read = []
    original = merging.Part._read_group
    monkeypatch.setattr(
        merging.Part, "_read_group", lambda self, *rest: (read.append(self.kind), original(self, *rest))[1]
    )
    assert store.read_curves("t07") == make_record("t07").curves
    assert sorted(read) == ["curves", "rows"]


def test_a_compacted_file_is_ordered_by_trial_whatever_was_merged(tmp_path, monkeypatch):
    monkeypatch.setattr(merging, "GROUP_BYTES", 1_000)
    store = Store(tmp_path)
    for turn in range(3):
        for i in range(turn, 30, 3):
            store.write(make_record(f"t{(7 * i) % 30:02}"))
        store.compact()
    for kind in KINDS:
        for file in parquet_files(store, kind):
            ids = file.read(["trial_id"]).column(0).to_pylist()
            assert ids == sorted(ids)
            assert file.num_row_groups > 1
        assert len(files(store, kind)) == 1
    assert all(holds(store, make_record(f"t{i:02}")) for i in range(30))

"""A store in a bucket, which has neither renames nor locks."""

import shutil

import numpy as np
import pytest
from pyarrow import fs
from store_helpers import files, fill_store, finish_python, holds, make_record, parquet_files, start_python

from sweeps.store import bucket_folder
from sweeps.store.bucket_folder import BucketFolder
from sweeps.store.schema import KINDS
from sweeps.store.store import Store


def test_a_row_is_never_overwritten_by_another_attempt(bucket):
    """Two writers may both find no row and then write in either order; the later one must not replace the
    other's."""
    store = Store(bucket)
    store.write(make_record(attempt=2))
    store.write(make_record(attempt=1))
    assert len(files(store)) == 2
    assert holds(store, make_record(attempt=2))
    assert [row.attempt for row in store.read_rows()] == [2]
    assert store.read_outcomes() == {"abc0": "ok"}


def test_a_reader_whose_objects_are_removed_after_the_listing_reads_the_compacted_one(bucket, monkeypatch):
    store, other = fill_store(bucket), Store(bucket)
    before, names, listed = store.read_rows(), BucketFolder.list_names, []

    def list_names_then_compact(self, kind):
        found = names(self, kind)
        if self is store.folder and not listed:
            listed.append(found)
            other.compact()
        return found

    monkeypatch.setattr(BucketFolder, "list_names", list_names_then_compact)
    assert store.read_rows() == before
    assert len(listed[0]) == 5


@pytest.mark.parametrize("newcomer", [False, True])
def test_two_compactions_at_once_lose_nothing(bucket, monkeypatch, newcomer):
    """The second one runs after the first has written its file and before it removes rows, with the same
    records or with one more."""
    store, other, remove, overtaken = fill_store(bucket, 3), Store(bucket), BucketFolder.remove, []

    def compact_then_remove(self, read):
        if self is store.folder and any(name.startswith("rows/") for name in read):
            overtaken.append(read)
            if newcomer:
                other.write(make_record("t90"))
            other.compact()
        remove(self, read)

    monkeypatch.setattr(BucketFolder, "remove", compact_then_remove)
    store.compact()
    monkeypatch.undo()
    assert overtaken
    assert len(store.read_rows()) == (4 if newcomer else 3)
    store.compact()
    assert all(holds(store, make_record(row.trial_id)) for row in store.read_rows())
    assert [len(files(store, kind)) for kind in KINDS] == [1, 1, 1]


def test_readers_miss_nothing_while_processes_write_and_compact(bucket):
    store = fill_store(bucket, 3)
    write = """
store = Store(sys.argv[1])
for i in range(12):
    store.write(make_record(f't{i % 6:02}', attempt=1 + i // 6))
"""
    compact = "store = Store(sys.argv[1])\nfor _ in range(3): store.compact()"
    running = [start_python(write, bucket), start_python(compact, bucket), start_python(compact, bucket)]
    while any(process.poll() is None for process in running):
        assert {"t00", "t01", "t02"} <= set(store.read_outcomes())
    for process in running:
        finish_python(process)
    assert [row.attempt for row in store.read_rows()] == [2] * 6
    assert all(holds(store, make_record(row.trial_id, 2)) for row in store.read_rows())
    assert store.problems == []


def test_an_object_that_is_no_part_is_reported_and_left(bucket, tmp_path):
    store = fill_store(bucket, 2)
    (tmp_path / "bad").write_text("no Parquet")
    store.folder.put("rows/t00-1-bad.parquet", tmp_path / "bad")
    for read in (Store.read_rows, Store.compact, Store.read_rows):
        read(store)
    assert len(store.read_rows()) == 2
    assert len(store.problems) == 1
    url = f"{bucket.partition('?')[0]}/rows/t00-1-bad.parquet"
    for fact in ("rows/t00-1-bad.parquet", "left where it is", f"delete the object {url}", "vera run"):
        assert fact in store.problems[0]
    assert "t00-1-bad.parquet" in files(store)


def test_an_object_that_was_replaced_since_it_was_read_is_not_removed(bucket, tmp_path):
    store = Store(bucket)
    for text in ("one", "two"):
        (tmp_path / text).write_text(text)
    store.folder.put("rows/x.parquet", tmp_path / "one")
    with store.folder.open_file("rows/x.parquet") as source:
        identity = source.identity
    store.folder.put("rows/x.parquet", tmp_path / "two")
    store.folder.remove({"rows/x.parquet": identity, "rows/gone.parquet": identity})
    assert files(store) == ["x.parquet"]


def test_a_large_object_is_read_in_ranges(bucket, monkeypatch, tmp_path):
    store = fill_store(bucket, 4)
    store.compact()
    monkeypatch.setattr(bucket_folder, "WHOLE", 100)
    assert all(holds(store, make_record(row.trial_id)) for row in store.read_rows())
    assert next(parquet_files(store, "rows")).metadata.num_rows == 4
    (tmp_path / "large").write_bytes(np.random.default_rng(0).bytes(1234))
    store.folder.put("large", tmp_path / "large")
    assert store.folder.get("large", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "large").read_bytes()


def test_a_store_is_copied_into_a_bucket_and_merged_back(bucket, tmp_path):
    local = fill_store(tmp_path / "a", 3)
    remote = Store(bucket)
    for path in local.folder.path.rglob("*.parquet"):
        remote.folder.put(str(path.relative_to(local.folder.path)), path)
    assert remote.read_rows() == local.read_rows()
    remote.write(make_record("t01", attempt=2))
    remote.write(make_record("t50"))
    assert Store(tmp_path / "a").merge(bucket) == 2
    shutil.rmtree(tmp_path / "a")
    assert Store(tmp_path / "b").merge(bucket) == 4
    merged = Store(tmp_path / "b")
    assert all(holds(merged, make_record(row.trial_id, row.attempt)) for row in remote.read_rows())


def test_nothing_in_the_bucket_holds_a_credential(bucket):
    store = fill_store(bucket, 2)
    store.compact()
    keys = [
        info.path
        for info in store.folder.objects.get_file_info(fs.FileSelector(store.folder.root, recursive=True))
        if info.is_file
    ]
    assert len(keys) == 3
    for key in keys:
        data = store.folder.objects.open_input_file(key).read()
        assert b"nobody" not in data
        assert bucket.partition("?")[2].encode() not in data

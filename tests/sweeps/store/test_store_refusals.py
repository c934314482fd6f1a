"""Errors of the file system: stored records stay complete, and the error says what to do."""

import errno
import os

import pytest
from facts import raises_with
from store_helpers import fill_store, finish_python, holds, make_record, refuse, start_python

from sweeps.errors import StoreError
from sweeps.store.store import Store


@pytest.mark.parametrize("after", range(6))
def test_a_full_disk_leaves_the_earlier_record_complete(tmp_path, monkeypatch, after):
    store = fill_store(tmp_path, 2)
    with monkeypatch.context() as patch:
        patch.setattr("sweeps.store.local_folder.os.fsync", refuse(errno.ENOSPC, after))
        with raises_with(StoreError, str(tmp_path), "disk is full", "Free some space"):
            store.write(make_record("t01", attempt=2))
    assert list(tmp_path.rglob(".*.tmp")) == []
    expected = make_record("t01", attempt=2 if after == 5 else 1)  # the sixth follows the row's rename
    assert holds(store, expected)
    store.compact()
    assert holds(store, expected)
    assert store.problems == []


def test_an_interrupted_write_leaves_nothing(tmp_path):
    fill_store(tmp_path, 1)
    code = """
import resource
from dataclasses import replace
from sweeps.errors import StoreError
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
record = make_record("t00", attempt=2)
try:
    Store(sys.argv[1]).write(replace(record, arrays={"big": np.random.rand(100_000)}))
except StoreError as error:
    assert sys.argv[1] in str(error)
else:
    raise SystemExit("written")
"""
    finish_python(start_python(code, tmp_path))
    assert list(tmp_path.rglob(".*.tmp")) == []
    assert holds(Store(tmp_path), make_record("t00"))


@pytest.mark.parametrize(
    ("number", "fact"),
    [(errno.EROFS, "read-only"), (errno.EACCES, "permission denied"), (errno.EIO, "nput")],
)
def test_a_directory_that_cannot_be_written_is_named_with_the_reason(tmp_path, monkeypatch, number, fact):
    store = fill_store(tmp_path, 1)
    monkeypatch.setattr("sweeps.store.local_folder.Path.open", refuse(number))
    with raises_with(StoreError, "write", str(tmp_path), fact):
        store.write(make_record("t01"))


def test_a_directory_that_cannot_be_read_is_named_with_the_reason(tmp_path, monkeypatch):
    store = fill_store(tmp_path, 1)
    monkeypatch.setattr("sweeps.store.local_folder.os.listdir", refuse(errno.EACCES))
    with raises_with(StoreError, "read", str(tmp_path), "permission denied"):
        store.read_rows()
    with raises_with(StoreError, str(tmp_path), "permission denied"):
        Store(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_store_is_read(tmp_path):
    store = fill_store(tmp_path, 2)
    (tmp_path / "rows" / "t01.parquet").write_bytes(b"")
    for path in (tmp_path / "rows", tmp_path):
        path.chmod(0o555)
    try:
        assert [row.trial_id for row in Store(tmp_path).read_rows()] == ["t00"]
        with raises_with(StoreError, "permission denied"):
            store.write(make_record("t02"))
    finally:
        for path in (tmp_path, tmp_path / "rows"):
            path.chmod(0o755)


def test_a_path_that_is_no_directory_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    for create in (True, False):
        with raises_with(StoreError, str(tmp_path / "file"), "--results-dir"):
            Store(tmp_path / "file", create=create)
        with pytest.raises(StoreError):
            Store(tmp_path / "file" / "below", create=create)
    with raises_with(StoreError, str(tmp_path / "missing"), "no such directory"):
        Store(tmp_path / "missing", create=False)
    assert not (tmp_path / "missing").exists()


def test_a_file_system_without_locks_can_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr("sweeps.store.local_folder.fcntl.flock", refuse(errno.ENOLCK))
    store = fill_store(tmp_path)
    store.compact()
    assert len(store.read_rows()) == 5

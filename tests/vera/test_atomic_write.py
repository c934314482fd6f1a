"""Atomic writes: a file appears complete or not at all."""

import os

import pytest

from vera.atomic_write import write_atomically


def test_two_writers_with_the_same_process_id_do_not_collide(tmp_path, monkeypatch):
    """Two nodes of a cluster can share a disk and have processes with the same id."""
    monkeypatch.setattr(os, "getpid", lambda: 7)
    path = tmp_path / "run.pt"
    with write_atomically(path) as first, write_atomically(path) as second:
        first.write(b"first")
        second.write(b"second")
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failing", ["write", "fsync", "replace"])
def test_a_failure_keeps_the_old_file_and_leaves_no_other(tmp_path, monkeypatch, failing):
    def fail(*_):
        raise OSError("no space left")

    path = tmp_path / "run.pt"
    path.write_bytes(b"old")
    if failing != "write":
        monkeypatch.setattr(os, failing, fail)
    with pytest.raises(OSError, match="no space left"), write_atomically(path) as file:
        file.write(b"new") if failing != "write" else fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_private_file_is_never_readable_by_others(tmp_path):
    path = tmp_path / "token"
    with write_atomically(path, mode=0o600) as file:
        assert os.fstat(file.fileno()).st_mode & 0o077 == 0
    assert path.stat().st_mode & 0o777 == 0o600

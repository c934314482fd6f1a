"""A store that cannot be written is refused before training."""

import errno
import os
import tempfile

import pytest
from facts import raises_with
from store_helpers import fill_store

from bench.cli.main import main
from sweeps.errors import StoreError
from sweeps.run.writable_store import check_writable


@pytest.fixture
def read_only(monkeypatch):
    """Return a function that makes a folder read-only for `check_writable`, also when root runs the test."""
    frozen, create = [], tempfile.TemporaryFile

    def refuse(*arguments, dir, **options):
        if os.path.realpath(dir) in frozen:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return create(*arguments, dir=dir, **options)

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    return lambda folder: frozen.append(os.path.realpath(folder))


def test_a_writable_store_stays_as_it_is(tmp_path):
    fill_store(tmp_path / "trials")
    before = sorted(tmp_path.rglob("*"))
    check_writable(tmp_path / "trials", tmp_path / "checkpoints", tmp_path / "no" / "such" / "folder")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("folder", ["trials", "trials/rows", "trials/curves"])
def test_one_read_only_folder_is_enough_to_refuse(folder, tmp_path, read_only):
    fill_store(tmp_path / "trials")
    read_only(tmp_path / folder)
    with raises_with(StoreError, str(tmp_path / "trials"), "read-only", "--results-dir"):
        check_writable(tmp_path / "checkpoints", tmp_path / "trials")


def test_a_new_directory_needs_a_writable_parent(tmp_path, read_only):
    read_only(tmp_path)
    with raises_with(StoreError, "read-only"):
        check_writable(tmp_path / "new" / "trials")


@pytest.mark.parametrize("flags", [(), ("--dry-run",)])
@pytest.mark.parametrize("words", [("run", "toy-demo"), ("search", "moons", "--configurations", "1")])
def test_a_run_is_refused_before_a_cluster_starts(words, flags, tmp_path, read_only, monkeypatch, capsys):
    def connect(*arguments, **options):
        raise AssertionError("a cluster was started")

    monkeypatch.setattr("sweeps.cluster.engine.connect", connect)
    (tmp_path / "trials" / "rows").mkdir(parents=True)
    read_only(tmp_path / "trials" / "rows")
    assert main([*words, "--profile", "smoke", *flags, "--results-dir", str(tmp_path)]) == 2
    assert "read-only" in capsys.readouterr().err

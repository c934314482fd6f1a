"""Models in a store: complete files by trial id, in a directory and in a bucket."""

import errno
import os

import pytest
from facts import raises_with
from store_helpers import fill_store, make_record

from sweeps.errors import AmbiguousTrial, StoreError, UnknownTrial
from sweeps.store.store import Store


@pytest.fixture(params=["directory", "bucket"])
def store(request, tmp_path):
    return Store(tmp_path / "trials" if request.param == "directory" else request.getfixturevalue("bucket"))


def test_a_model_is_read_as_it_was_written_and_the_newest_counts(store):
    store.models.write("abc0", b"first")
    store.models.write("abc0", b"second, longer")
    assert store.models.read("abc0") == b"second, longer"
    assert store.models.list_sizes() == {"abc0": 14}
    assert store.read_rows() == []


def test_models_are_found_by_the_beginning_of_their_id(store):
    for trial_id in ("abc0", "abc1", "b"):
        store.models.write(trial_id, b"x")
    assert store.models.find("b") == "b"
    assert store.models.find("abc1") == "abc1"
    with raises_with(AmbiguousTrial, "2 models", "abc0", "abc1"):
        store.models.find("abc")
    with raises_with(UnknownTrial, "'zzz'", "vera models"):
        store.models.find("zzz")
    with raises_with(UnknownTrial, "zzz", store.location):
        store.models.read("zzz")


def test_removing_takes_only_the_named_models(store):
    store.models.write("abc0", b"x")
    store.models.write("abc1", b"y")
    store.models.remove(["abc0", "never-written"])
    assert list(store.models.list_sizes()) == ["abc1"]


def test_compacting_rows_leaves_the_models(store):
    fill_store(store.location, 3)
    before = [row.trial_id for row in store.read_rows()]
    for trial_id in before:
        store.models.write(trial_id, trial_id.encode())
    assert store.compact() > 0
    assert {name: store.models.read(name) for name in before} == {name: name.encode() for name in before}


def test_a_merge_takes_the_models_of_the_trials_it_takes(store, tmp_path):
    source = Store(tmp_path / "source")
    for trial_id in ("abc0", "abc1"):
        source.write(make_record(trial_id))
        source.models.write(trial_id, trial_id.encode())
    source.models.write("orphan", b"has no row")
    assert store.merge(source.location, only=["abc0"], models=False) == 1
    assert store.models.list_sizes() == {}
    assert store.merge(source.location) == 1
    assert list(store.models.list_sizes()) == ["abc1"]
    assert store.models.read("abc1") == b"abc1"


def test_a_full_disk_is_named_and_leaves_the_earlier_model(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.models.write("abc0", b"first")

    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with raises_with(StoreError, str(tmp_path), "disk is full"):
        store.models.write("abc0", b"second")
    assert store.models.read("abc0") == b"first"
    assert os.listdir(tmp_path / "models") == ["abc0.safetensors"]

"""SVHN: the digit 0, the order of axes, no mirroring; missing or changed files are refused."""

import numpy as np
import torch
from facts import raises_with
from image_helpers import N, make_pixels, publish, write_svhn

from vera.data.files.image_fetch import load_torchvision
from vera.data.images import svhn
from vera.errors import DataCorrupt, DataMissing
from vera.spec.registry import datasets


def test_images_and_digits(monkeypatch, tmp_path):
    split = datasets.create("svhn", data_dir=str(write_svhn(monkeypatch, tmp_path))).split(0)
    assert np.array_equal(split.train.numpy(), make_pixels(0))
    torch.testing.assert_close(split.held_out, torch.from_numpy(make_pixels(1)) / 127.5 - 1)
    assert split.train_labels.tolist() == [(row + 1) % 10 for row in range(N)]
    assert not split.flips


def test_torchvision_reads_the_same(monkeypatch, tmp_path):
    write_svhn(monkeypatch, tmp_path)
    kind = load_torchvision().datasets.SVHN
    monkeypatch.setitem(kind.split_list, "test", ["", svhn.TEST.name, svhn.TEST.checksum])
    theirs = kind(tmp_path, split="test")
    images, labels = svhn.read_mat(svhn.TEST, tmp_path)
    assert np.array_equal(images.numpy(), theirs.data)
    assert np.array_equal(labels.numpy(), theirs.labels)


def test_checksums_are_those_of_torchvision():
    listed = load_torchvision().datasets.SVHN.split_list
    assert [(file.name, file.checksum) for file in (svhn.TRAIN, svhn.TEST)] == [
        tuple(listed[subset][1:]) for subset in ("train", "test")
    ]


def test_missing_and_damaged_files_are_named(monkeypatch, tmp_path):
    with raises_with(DataMissing, f"{tmp_path}/train_32x32.mat", "vera data fetch svhn"):
        datasets.create("svhn", data_dir=str(tmp_path)).split(0)
    write_svhn(monkeypatch, tmp_path)
    (tmp_path / "test_32x32.mat").write_bytes(b"half a file")
    with raises_with(DataCorrupt, "test_32x32.mat", "md5"):
        svhn.read_mat(svhn.TEST, tmp_path)
    publish(monkeypatch, svhn.TEST, "test_32x32.mat", b"no matrix" * 50, tmp_path)
    with raises_with(DataCorrupt, "test_32x32.mat", "house numbers"):
        svhn.read_mat(svhn.TEST, tmp_path)

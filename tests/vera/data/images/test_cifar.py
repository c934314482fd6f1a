"""CIFAR: both official forms give the same images; missing, damaged or malicious files are refused."""

import os
import pickle

import numpy as np
import pytest
import torch
from facts import raises_with
from image_helpers import (
    N,
    encode_batch,
    find_real_data,
    make_cifar10_batch,
    make_cifar100_batch,
    publish,
    write_cifar10,
    write_cifar100,
)
from loopback import MaliciousPickle

from vera.data import CIFAR10, CIFAR100, SmallCIFAR10
from vera.data.files.image_fetch import load_torchvision
from vera.data.images import cifar
from vera.errors import DataCorrupt, DataMissing, SettingError
from vera.spec.registry import datasets

FORMS = {
    "python": {"binary": False},
    "python in Fortran order": {"binary": False, "by_columns": True},
    "binary": {"binary": True},
}


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_of_cifar10_give_the_same_images(form, monkeypatch, tmp_path):
    split = datasets.create(
        "cifar10", data_dir=str(write_cifar10(monkeypatch, tmp_path, **FORMS[form]))
    ).split(0)
    batches = [make_cifar10_batch(number) for number in (1, 2, 3, 4, 5)]
    assert split.train.dtype == torch.uint8
    assert np.array_equal(split.train.numpy(), np.concatenate([pixels for pixels, _ in batches]))
    assert split.train_labels.tolist() == [label for _, labels in batches for label in labels[b"labels"]]
    pixels, labels = make_cifar10_batch(0)
    torch.testing.assert_close(split.held_out, torch.from_numpy(pixels) / 127.5 - 1)
    assert split.held_out_labels.tolist() == labels[b"labels"]
    assert split.flips


@pytest.mark.parametrize("binary", [False, True])
def test_cifar100_has_the_fine_labels(binary, monkeypatch, tmp_path):
    data = CIFAR100(write_cifar100(monkeypatch, tmp_path, binary=binary))
    split = data.split(0)
    for number, (x, labels) in enumerate(
        ((split.held_out, split.held_out_labels), (split.train, split.train_labels))
    ):
        pixels, expected = make_cifar100_batch(number)
        assert labels.tolist() == expected[b"fine_labels"]
        scale = x if number else ((x + 1) * 127.5).round()
        assert np.array_equal(scale.numpy(), pixels)
    assert (data.name, data.classes, split.flips) == ("cifar100", 100, True)


def test_an_image_is_three_planes_of_rows(monkeypatch, tmp_path):
    """The record of the binary version by its own description: label, 1024 red, 1024 green, 1024 blue, row by
    row."""
    record = bytes([7]) + bytes([11] * 1024) + bytes([22] * 32 + [23] * 992) + bytes([33] * 1024)
    publish(monkeypatch, cifar.CIFAR10_TEST, "cifar-10-batches-bin/test_batch.bin", record, tmp_path)
    images, labels = CIFAR10.read(cifar.CIFAR10_TEST, tmp_path)
    assert labels.tolist() == [7]
    assert images[0, :, 0, 31].tolist() == [11, 22, 33]
    assert images[0, :, 1, 0].tolist() == [11, 23, 33]


def test_incomplete_batches_must_be_selected(monkeypatch, tmp_path):
    write_cifar10(monkeypatch, tmp_path, binary=True, numbers=(0, 2, 4))
    facts = ("data_batch_1", "cifar-10-batches-py/data_batch_1 or ", "batches=2+4.")
    with raises_with(DataMissing, *facts, f"vera data fetch cifar10 --data-dir {tmp_path}"):
        CIFAR10(tmp_path).split(0)
    data = CIFAR10(tmp_path, batches=[2, 4])
    assert data.name == "cifar10 (batches 2, 4 of 5)"
    assert np.array_equal(
        data.split(0).train.numpy(), np.concatenate([make_cifar10_batch(2)[0], make_cifar10_batch(4)[0]])
    )
    assert len({CIFAR10(batches=batches).fingerprint for batches in ((1,), (2, 4), (1, 2, 3, 4, 5))}) == 3
    assert CIFAR10(batches=(1,)).name == "cifar10 (batch 1 of 5)"
    assert CIFAR10().name == "cifar10"


def test_small_images_are_means_of_four_pixels(monkeypatch, tmp_path):
    write_cifar10(monkeypatch, tmp_path, binary=True, numbers=(0, 2))
    small = SmallCIFAR10(tmp_path, batches=(2,))
    assert small.name == "cifar10-16x16 (batch 2 of 5)"
    assert small.fingerprint not in {CIFAR10(batches=(2,)).fingerprint, SmallCIFAR10().fingerprint}
    split, (pixels, labels) = small.split(0), make_cifar10_batch(2)
    means = pixels.reshape(-1, 3, 16, 2, 16, 2).mean((3, 5))
    assert np.abs(split.train.numpy() - means).max() <= 0.5
    assert split.train_labels.tolist() == labels[b"labels"]
    assert (split.side, split.data_dim, split.margin) == (16, 768, 2)


@pytest.mark.parametrize("batches", [(), (1, 1), (2, 1), (6,), (0, 1)])
def test_batches_are_numbers_from_one_to_five(batches):
    with raises_with(SettingError, "batches"):
        CIFAR10(batches=batches)


def test_the_fingerprint_needs_no_files_and_is_the_same_for_both_forms(monkeypatch, tmp_path):
    before = CIFAR10(tmp_path / "nothing").fingerprint
    monkeypatch.setitem(cifar.CIFAR10_TEST.forms, "cifar-10-batches-bin/test_batch.bin", "0" * 32)
    assert CIFAR10().fingerprint == before
    monkeypatch.setitem(cifar.CIFAR10_TEST.forms, "cifar-10-batches-py/test_batch", "0" * 32)
    assert CIFAR10().fingerprint != before
    assert CIFAR10().fingerprint != CIFAR100().fingerprint
    assert CIFAR10(labels_per_class=10).fingerprint == CIFAR10().fingerprint


def test_a_changed_file_is_refused(monkeypatch, tmp_path):
    write_cifar10(monkeypatch, tmp_path, binary=False)
    path = tmp_path / "cifar-10-batches-py" / "data_batch_3"
    content = bytearray(path.read_bytes())
    content[-500] ^= 1
    path.write_bytes(content)
    with raises_with(DataCorrupt, "data_batch_3", "md5", "vera data fetch cifar10"):
        CIFAR10(tmp_path).split(0)


def test_a_sha1_is_distinguished_from_an_md5(monkeypatch, tmp_path):
    write_cifar100(monkeypatch, tmp_path, binary=True)
    monkeypatch.setitem(cifar.CIFAR100_TRAIN.forms, "cifar-100-binary/train.bin", "0" * 40)
    with raises_with(DataCorrupt, "train.bin", "sha1"):
        CIFAR100(tmp_path).split(0)


def test_a_pickle_does_not_execute_code(monkeypatch, tmp_path):
    content = pickle.dumps({"data": MaliciousPickle(tmp_path / "made by the pickle")}, 2)
    publish(monkeypatch, cifar.CIFAR10_TEST, "cifar-10-batches-py/test_batch", content, tmp_path)
    with raises_with(DataCorrupt, "test_batch", f"{os.name}.mkdir"):
        CIFAR10.read(cifar.CIFAR10_TEST, tmp_path)
    assert not (tmp_path / "made by the pickle").exists()


@pytest.mark.parametrize("content", [b"", b"\x80\x02}.", b"\x80\x02}(U\x06labels](K\x01eU\x04dataK\x05u."])
def test_a_pickle_of_something_else_is_refused(content, monkeypatch, tmp_path):
    publish(monkeypatch, cifar.CIFAR10_TEST, "cifar-10-batches-py/test_batch", content, tmp_path)
    with raises_with(DataCorrupt, "test_batch", "not a batch of CIFAR images"):
        CIFAR10.read(cifar.CIFAR10_TEST, tmp_path)


def test_a_file_in_both_forms_is_read_from_the_first(monkeypatch, tmp_path):
    write_cifar10(monkeypatch, tmp_path, binary=False)
    other, labels = make_cifar10_batch(3)
    (tmp_path / "cifar-10-batches-bin").mkdir()
    (tmp_path / "cifar-10-batches-bin" / "test_batch.bin").write_bytes(encode_batch(other, labels))
    assert np.array_equal(CIFAR10.read(cifar.CIFAR10_TEST, tmp_path)[0].numpy(), make_cifar10_batch(0)[0])


def test_checksums_of_the_python_version_are_those_of_torchvision():
    kinds = load_torchvision().datasets
    ours = [(file.name, file.checksum) for file in (*cifar.CIFAR10_TRAIN, cifar.CIFAR10_TEST)]
    assert ours == [tuple(entry) for entry in kinds.CIFAR10.train_list + kinds.CIFAR10.test_list]
    ours = [(file.name, file.checksum) for file in (cifar.CIFAR100_TRAIN, cifar.CIFAR100_TEST)]
    assert ours == [tuple(entry) for entry in kinds.CIFAR100.train_list + kinds.CIFAR100.test_list]
    assert next(iter(cifar.CIFAR10_TEST.forms)) == f"{kinds.CIFAR10.base_folder}/test_batch"
    assert next(iter(cifar.CIFAR100_TEST.forms)) == f"{kinds.CIFAR100.base_folder}/test"


def find_real_cifar10():
    """Return the directory of one training batch and the test batch, in either form."""
    forms = (("cifar-10-batches-py/data_batch_1", "cifar-10-batches-py/test_batch"),)
    forms += (("cifar-10-batches-bin/data_batch_1.bin", "cifar-10-batches-bin/test_batch.bin"),)
    return next((found for found in (find_real_data(*form) for form in forms) if found), None)


@pytest.mark.skipif(
    find_real_cifar10() is None, reason="CIFAR10 is neither in VERA_DATA nor in ../shared/data"
)
def test_the_real_files_are_the_published_ones():
    split = CIFAR10(find_real_cifar10(), batches=(1,)).split(0)
    assert split.held_out_labels.bincount().tolist() == [1000] * 10
    assert split.held_out_labels[:10].tolist() == [3, 8, 8, 0, 6, 6, 1, 6, 3, 1]
    assert split.train_labels[:10].tolist() == [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]
    assert split.train[0, :, 0, 0].tolist() == [59, 62, 63]  # as loaders of the python version return it
    assert split.facts[:3] == (3072, 10_000, 10)


@pytest.mark.skipif(
    not (find_real_data("cifar-100-binary/test.bin") or find_real_data("cifar-100-python/test")),
    reason="CIFAR100 is neither in VERA_DATA nor in ../shared/data",
)
def test_the_real_test_images_of_cifar100():
    directory = find_real_data("cifar-100-binary/test.bin") or find_real_data("cifar-100-python/test")
    images, labels = CIFAR100.read(cifar.CIFAR100_TEST, directory)
    assert images.shape == (10_000, 3, 32, 32)
    assert labels.bincount().tolist() == [100] * 100


def test_labels_per_class_limits_the_labelled_rows(monkeypatch, tmp_path):
    write_cifar10(monkeypatch, tmp_path, binary=True)
    split = CIFAR10(tmp_path, labels_per_class=3).split(0)
    assert split.train_labels[split.labelled_rows].bincount().tolist() == [3] * 10
    assert len(split.train) == 5 * N

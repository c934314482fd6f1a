"""CIFAR: both official forms give the same images; what is missing, broken or a program is refused."""

import os
import pickle

import numpy as np
import pytest
import torch
from image_helpers import (
    N,
    binary_batch,
    cifar10_batch,
    cifar100_batch,
    publish,
    real_data,
    write_cifar10,
    write_cifar100,
)

from vera.data import CIFAR10, CIFAR100
from vera.data.files.torchvision_import import load_torchvision
from vera.data.images import cifar
from vera.errors import DataCorrupt, DataMissing, SettingError
from vera.spec.registry import datasets

FORMS = {
    "python": {"binary": False},
    "python by columns": {"binary": False, "by_columns": True},
    "binary": {"binary": True},
}


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_of_cifar10_give_the_same_images(form, monkeypatch, tmp_path):
    split = datasets.create(
        "cifar10", data_dir=str(write_cifar10(monkeypatch, tmp_path, **FORMS[form]))
    ).split(0)
    batches = [cifar10_batch(number) for number in (1, 2, 3, 4, 5)]
    assert split.train.dtype == torch.uint8
    assert np.array_equal(split.train.numpy(), np.concatenate([pixels for pixels, _ in batches]))
    assert split.train_labels.tolist() == [label for _, labels in batches for label in labels[b"labels"]]
    pixels, labels = cifar10_batch(0)
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
        pixels, expected = cifar100_batch(number)
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


def test_some_batches_only_if_they_are_named(monkeypatch, tmp_path):
    write_cifar10(monkeypatch, tmp_path, binary=True, numbers=(0, 2, 4))
    with pytest.raises(DataMissing) as caught:
        CIFAR10(tmp_path).split(0)
    message = str(caught.value)
    assert "\n" not in message
    for part in (
        "data_batch_1 is not here",
        "cifar-10-batches-py/data_batch_1 or ",
        f"vera data fetch cifar10 --data-dir {tmp_path}",
    ):
        assert part in message
    assert message.endswith("batches=2+4.")
    data = CIFAR10(tmp_path, batches=[2, 4])
    assert data.name == "cifar10 (batches 2, 4 of 5)"
    assert np.array_equal(
        data.split(0).train.numpy(), np.concatenate([cifar10_batch(2)[0], cifar10_batch(4)[0]])
    )
    assert len({CIFAR10(batches=batches).fingerprint for batches in ((1,), (2, 4), (1, 2, 3, 4, 5))}) == 3
    assert CIFAR10(batches=(1,)).name == "cifar10 (batch 1 of 5)"
    assert CIFAR10().name == "cifar10"


@pytest.mark.parametrize("batches", [(), (1, 1), (2, 1), (6,), (0, 1)])
def test_batches_are_numbers_from_one_to_five(batches):
    with pytest.raises(SettingError, match="batches"):
        CIFAR10(batches=batches)


def test_the_fingerprint_is_known_before_the_files_and_one_for_both_forms(monkeypatch, tmp_path):
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
    with pytest.raises(
        DataCorrupt,
        match=r"data_batch_3 is not the published file: its md5 is .*Replace it with `vera data fetch",
    ):
        CIFAR10(tmp_path).split(0)


def test_a_sha1_is_told_from_an_md5(monkeypatch, tmp_path):
    write_cifar100(monkeypatch, tmp_path, binary=True)
    monkeypatch.setitem(cifar.CIFAR100_TRAIN.forms, "cifar-100-binary/train.bin", "0" * 40)
    with pytest.raises(DataCorrupt, match="its sha1 is"):
        CIFAR100(tmp_path).split(0)


class Attack:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_a_pickle_that_is_a_program_does_not_run(monkeypatch, tmp_path):
    content = pickle.dumps({"data": Attack(tmp_path / "made by the pickle")}, 2)
    publish(monkeypatch, cifar.CIFAR10_TEST, "cifar-10-batches-py/test_batch", content, tmp_path)
    with pytest.raises(DataCorrupt, match=r"asks for (posix|nt)\.mkdir"):
        CIFAR10.read(cifar.CIFAR10_TEST, tmp_path)
    assert not (tmp_path / "made by the pickle").exists()


@pytest.mark.parametrize("content", [b"", b"\x80\x02}.", b"\x80\x02}(U\x06labels](K\x01eU\x04dataK\x05u."])
def test_a_pickle_of_something_else_is_refused(content, monkeypatch, tmp_path):
    publish(monkeypatch, cifar.CIFAR10_TEST, "cifar-10-batches-py/test_batch", content, tmp_path)
    with pytest.raises(DataCorrupt, match="not a batch of CIFAR images"):
        CIFAR10.read(cifar.CIFAR10_TEST, tmp_path)


def test_a_file_that_is_there_in_both_forms_is_read_from_the_first(monkeypatch, tmp_path):
    write_cifar10(monkeypatch, tmp_path, binary=False)
    other, labels = cifar10_batch(3)
    (tmp_path / "cifar-10-batches-bin").mkdir()
    (tmp_path / "cifar-10-batches-bin" / "test_batch.bin").write_bytes(binary_batch(other, labels))
    assert np.array_equal(CIFAR10.read(cifar.CIFAR10_TEST, tmp_path)[0].numpy(), cifar10_batch(0)[0])


def test_checksums_of_the_python_version_are_torchvision_s():
    kinds = load_torchvision().datasets
    ours = [(file.name, file.checksum) for file in (*cifar.CIFAR10_TRAIN, cifar.CIFAR10_TEST)]
    assert ours == [tuple(entry) for entry in kinds.CIFAR10.train_list + kinds.CIFAR10.test_list]
    ours = [(file.name, file.checksum) for file in (cifar.CIFAR100_TRAIN, cifar.CIFAR100_TEST)]
    assert ours == [tuple(entry) for entry in kinds.CIFAR100.train_list + kinds.CIFAR100.test_list]
    assert next(iter(cifar.CIFAR10_TEST.forms)) == f"{kinds.CIFAR10.base_folder}/test_batch"
    assert next(iter(cifar.CIFAR100_TEST.forms)) == f"{kinds.CIFAR100.base_folder}/test"


def real_cifar10():
    """Where one training batch and the test batch are, in one form or the other."""
    forms = (("cifar-10-batches-py/data_batch_1", "cifar-10-batches-py/test_batch"),)
    forms += (("cifar-10-batches-bin/data_batch_1.bin", "cifar-10-batches-bin/test_batch.bin"),)
    return next((found for found in (real_data(*form) for form in forms) if found), None)


@pytest.mark.skipif(real_cifar10() is None, reason="CIFAR10 is neither in VERA_DATA nor in ../shared/data")
def test_the_real_files_are_the_published_ones():
    split = CIFAR10(real_cifar10(), batches=(1,)).split(0)
    assert split.held_out_labels.bincount().tolist() == [1000] * 10
    assert split.held_out_labels[:10].tolist() == [3, 8, 8, 0, 6, 6, 1, 6, 3, 1]
    assert split.train_labels[:10].tolist() == [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]
    assert split.train[0, :, 0, 0].tolist() == [59, 62, 63]  # as loaders of the python version show it
    assert split.facts[:3] == (3072, 10_000, 10)


@pytest.mark.skipif(
    not (real_data("cifar-100-binary/test.bin") or real_data("cifar-100-python/test")),
    reason="CIFAR100 is neither in VERA_DATA nor in ../shared/data",
)
def test_the_real_test_images_of_cifar100():
    directory = real_data("cifar-100-binary/test.bin") or real_data("cifar-100-python/test")
    images, labels = CIFAR100.read(cifar.CIFAR100_TEST, directory)
    assert images.shape == (10_000, 3, 32, 32)
    assert labels.bincount().tolist() == [100] * 100


def test_the_classes_of_a_small_file_are_shown_as_asked(monkeypatch, tmp_path):
    write_cifar10(monkeypatch, tmp_path, binary=True)
    split = CIFAR10(tmp_path, labels_per_class=3).split(0)
    assert split.train_labels[split.labelled_rows].bincount().tolist() == [3] * 10
    assert len(split.train) == 5 * N

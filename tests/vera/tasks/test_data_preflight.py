"""Checks before a trial starts: the files of its data set, and what its measurement needs."""

import gzip

import pytest
from facts import raises_with
from image_helpers import write_cifar10, write_svhn

from sweeps.cluster.execute import check_data
from sweeps.trial.identity import Trial
from vera.data.digits import mnist_files
from vera.data.images import svhn
from vera.errors import DataCorrupt, DataMissing, IncompatibleModel
from vera.spec.trial_spec import TrialSpec


def make_trial(dataset, **task):
    networks = {"energy": {"name": "wrn", "depth": 10, "width": 1}}
    task = {"name": "images", "features": "none", "unseen": [], **task}
    return Trial(TrialSpec(dataset, networks, {"name": "supervised"}, 1, task=task))


def test_only_the_files_of_the_chosen_training_batches_are_required(monkeypatch, tmp_path):
    write_cifar10(monkeypatch, tmp_path, binary=True, numbers=(0, 1, 3))
    assert check_data([make_trial({"name": "cifar10", "batches": [1, 3]})], str(tmp_path)) == []
    with raises_with(DataMissing, "data_batch_2", "batches=1+3"):
        check_data([make_trial({"name": "cifar10"})], str(tmp_path))


def test_stacked_digits_of_the_package_need_no_data_directory(tmp_path):
    stacked = Trial(
        TrialSpec(
            {"name": "stacked-mnist", "source": "mnist5k"}, {"energy": {"name": "mlp"}}, {"name": "pcd"}, 1
        )
    )
    check_data([stacked], str(tmp_path))
    whole = Trial(TrialSpec({"name": "stacked-mnist"}, {"energy": {"name": "mlp"}}, {"name": "pcd"}, 1))
    with raises_with(DataMissing, "train-images-idx3-ubyte"):
        check_data([stacked, whole], str(tmp_path))


def test_a_missing_unseen_set_is_reported_and_a_damaged_one_raises(monkeypatch, tmp_path):
    trial = make_trial({"name": "digits32"}, unseen=["svhn-test", "photos", "interpolated"])
    (note,) = check_data([trial, trial], str(tmp_path))
    assert "svhn-test" in note
    assert "test_32x32.mat" in note
    write_svhn(monkeypatch, tmp_path)
    assert check_data([trial], str(tmp_path)) == []
    (tmp_path / svhn.TEST.name).write_bytes(b"broken")
    with raises_with(DataCorrupt, svhn.TEST.name):
        check_data([trial], str(tmp_path))


def test_a_data_set_that_has_no_images_is_refused(tmp_path):
    with raises_with(IncompatibleModel, "'images'", "'wine'"):
        check_data([make_trial({"name": "wine"})], str(tmp_path))


@pytest.mark.parametrize(
    ("dataset", "damaged"),
    [
        ("mnist-logit", mnist_files.TEST_IMAGES),
        ("mnist-pixels", mnist_files.TRAIN_IMAGES),
        ("mnist-table", mnist_files.TRAIN_LABELS),
        ("stacked-mnist", mnist_files.TRAIN_IMAGES),
    ],
)
def test_damaged_mnist_is_found_before_training(dataset, damaged, small_mnist, tmp_path):
    small_mnist.write(tmp_path)
    spec = TrialSpec({"name": dataset}, {"energy": {"name": "mlp"}}, {"name": "pcd"}, 1)
    assert check_data([Trial(spec)], str(tmp_path)) == []
    file = tmp_path / "MNIST" / "raw" / f"{damaged}.gz"
    file.write_bytes(gzip.compress(small_mnist.contents[damaged][:-1] + b"?"))
    with raises_with(DataCorrupt, str(file), "vera data fetch mnist"):
        check_data([Trial(spec)], str(tmp_path))


def test_damaged_images_are_found_before_training(monkeypatch, tmp_path):
    write_cifar10(monkeypatch, tmp_path, binary=True, numbers=(0, 1, 3))
    trial = make_trial({"name": "cifar10", "batches": [1, 3]})
    (tmp_path / "cifar-10-batches-bin" / "data_batch_3.bin").write_bytes(b"broken")
    with raises_with(DataCorrupt, "data_batch_3"):
        check_data([trial], str(tmp_path))

"""Tables that install with the package, and MNIST as a table."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from facts import raises_with

from vera.data import BreastCancer, DigitsTable, EmbeddedMNISTTable, MNISTTable, Wine
from vera.data.digits import mnist_files
from vera.data.files import locations
from vera.data.tables import embedded
from vera.errors import DataCorrupt, DataMissing, SettingError
from vera.spec.registry import datasets

FACTS = {"digits-table": (64, 1438, 10), "breast-cancer": (30, 456, 2), "wine": (13, 143, 3)}
HELD_OUT = {"digits-table": 359, "breast-cancer": 113, "wine": 35}


def load_with_scikit_learn(name):
    from sklearn.datasets import load_breast_cancer, load_digits, load_wine

    return {"digits-table": load_digits, "breast-cancer": load_breast_cancer, "wine": load_wine}[name](
        return_X_y=True
    )


@pytest.mark.parametrize("name", FACTS)
def test_a_split_is_the_table_of_scikit_learn_shuffled_split_and_scaled(name):
    x, labels = load_with_scikit_learn(name)
    order = np.arange(len(x))
    np.random.RandomState(4).shuffle(order)
    train, held_out = np.split(order, [len(x) - HELD_OUT[name]])
    centre, width = (8, 8) if name == "digits-table" else (x[train].mean(0), x[train].std(0))
    data = datasets.create(name)
    split = data.split(4)
    np.testing.assert_allclose(split.train, (x[train] - centre) / width, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(split.held_out, (x[held_out] - centre) / width, rtol=1e-5, atol=1e-5)
    assert split.train_labels.tolist() == labels[train].tolist()
    assert split.held_out_labels.tolist() == labels[held_out].tolist()
    assert split.facts[:3] == FACTS[name] == (data.data_dim, len(train), data.classes)


def test_digits_are_images_scaled_to_plus_minus_one():
    split = DigitsTable().split(0)
    assert (split.side, float(split.train.min()), float(split.train.max())) == (8, -1, 1)
    assert Wine().side is None


def test_fingerprints_are_distinct_and_do_not_depend_on_the_labels():
    found = {datasets.create(name).fingerprint for name in (*FACTS, "mnist5k-table", "mnist-table")}
    assert len(found) == 5
    assert Wine().fingerprint == Wine(labels_per_class=None).fingerprint


def test_scikit_learn_is_not_imported():
    code = (
        "import sys; from vera.data import Wine; Wine().split(0); "
        "print({'sklearn', 'pandas', 'pyarrow'} & set(sys.modules))"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert run.stdout == "set()\n", run.stderr


def test_missing_or_changed_tables_are_named(monkeypatch, tmp_path):
    assert BreastCancer.locate().name == "embedded"
    monkeypatch.setattr(locations, "EMBEDDED", tmp_path)
    embedded._read_table.cache_clear()
    with raises_with(DataMissing, "wine_data.csv", "package vera"):
        Wine.locate()
    (tmp_path / "wine_data.csv").write_text("1,2,0\n")
    with raises_with(DataCorrupt, "wine_data.csv", "package vera"):
        Wine().split(0)


@pytest.mark.parametrize("side", [28, 14])
def test_the_embedded_digits_have_the_labels_of_their_file(side):
    split = EmbeddedMNISTTable(side=side).split(0)
    images, labels = mnist_files.read_embedded()
    rows = {
        row.numpy().tobytes(): int(label)
        for row, label in zip(mnist_files.flatten_images(images, side), labels, strict=True)
    }
    for pixels, found in zip(
        mnist_files.read_embedded_rows(side), (split.train_labels, split.held_out_labels), strict=True
    ):
        assert [rows[row.numpy().tobytes()] for row in pixels] == found.tolist()
    assert split.facts == (side**2, 4000, 10, 10.0)
    assert (split.side, float(split.train.min()), float(split.train.max())) == (side, -1, 1)
    assert split.name == ("mnist5k-table" if side == 28 else "mnist5k-table-14x14")
    assert len(split.labelled_rows) == 100


def test_mnist_is_evaluated_on_the_official_test_set(small_mnist, tmp_path):
    split = MNISTTable(small_mnist.write(tmp_path), labels_per_class=1).split(3)
    for x, labels, images, names in (
        (split.train, split.train_labels, mnist_files.TRAIN_IMAGES, mnist_files.TRAIN_LABELS),
        (split.held_out, split.held_out_labels, mnist_files.TEST_IMAGES, mnist_files.TEST_LABELS),
    ):
        expected = small_mnist.arrays[images].reshape(-1, 784) / 255.0 * 2 - 1
        np.testing.assert_allclose(x.numpy(), expected, atol=1e-6)
        assert labels.tolist() == small_mnist.arrays[names].tolist()
        assert labels.dtype == torch.int64


def test_mnist_is_evaluated_on_a_tenth_of_the_training_digits_on_request(small_mnist, tmp_path):
    split = MNISTTable(small_mnist.write(tmp_path), labels_per_class=1, validation="tenth").split(3)
    order = np.arange(60)
    np.random.RandomState(3).shuffle(order)
    images, labels = (
        small_mnist.arrays[name] for name in (mnist_files.TRAIN_IMAGES, mnist_files.TRAIN_LABELS)
    )
    np.testing.assert_allclose(
        split.held_out.numpy(), images[order[54:]].reshape(-1, 784) / 255.0 * 2 - 1, atol=1e-6
    )
    assert split.held_out_labels.tolist() == labels[order[54:]].tolist()
    assert split.train_labels.tolist() == labels[order[:54]].tolist()
    assert len(split.train) == 54


def test_the_validation_setting_of_mnist_is_part_of_its_fingerprint(tmp_path):
    assert MNISTTable().fingerprint != MNISTTable(validation="tenth").fingerprint
    assert MNISTTable(tmp_path).fingerprint == MNISTTable().fingerprint
    with pytest.raises(DataMissing):
        MNISTTable.locate(tmp_path)
    with raises_with(SettingError, "validation", "'test', 'tenth'", "'train'"):
        MNISTTable(validation="train")

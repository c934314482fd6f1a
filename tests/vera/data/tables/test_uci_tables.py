"""HEPMASS, CROP and HUMAN from small files in the original formats, against independent code."""

import dataclasses
import gzip
import os
import tracemalloc

import numpy as np
import pytest
import torch
from facts import raises_with
from image_helpers import find_real_data
from uci_helpers import ROWS, make_features, small_crop, small_hepmass, small_human, to_text, zip_members

from vera.data import Crop, Hepmass, Human
from vera.data.files import uci_archive
from vera.data.files.checksums import compute_sha256, record_checksum
from vera.data.tables import uci_tables
from vera.errors import DataCorrupt, DataMissing
from vera.spec.registry import datasets

SETS = {"human": (Human, small_human), "hepmass": (Hepmass, small_hepmass), "crop": (Crop, small_crop)}


@pytest.fixture(params=SETS)
def small(request, monkeypatch):
    kind, make = SETS[request.param]
    return kind, make(monkeypatch)


def shuffle_by_hand(n, seed):
    order = np.arange(n)
    np.random.RandomState(seed).shuffle(order)
    return order


def split_by_hand(kind, seed):
    if kind is Hepmass:
        return np.arange(180), np.arange(180, 200)
    order = shuffle_by_hand(ROWS, seed)
    return (order[:180], order[180:]) if kind is Human else (order[:162], order[162:180])


@pytest.mark.parametrize("seed", [0, 5])
def test_a_split_is_that_of_the_paper(small, tmp_path, seed):
    kind, file = small
    file.write(tmp_path)
    split = kind(tmp_path).split(seed)
    train, held_out = split_by_hand(kind, seed)
    x = file.x[:, file.kept]
    mean, deviation = x[train].mean(0), x[train].std(0)
    np.testing.assert_allclose(split.train.numpy(), (x[train] - mean) / deviation, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(split.held_out.numpy(), (x[held_out] - mean) / deviation, rtol=1e-4, atol=1e-5)
    assert split.train_labels.tolist() == file.labels[train].tolist()
    assert split.held_out_labels.tolist() == file.labels[held_out].tolist()
    assert (split.train.dtype, split.train_labels.dtype) == (torch.float32, torch.int64)
    assert split.train_labels[split.labelled_rows].bincount().tolist() == [10] * kind.classes
    assert split.facts[:3] == (len(file.kept), len(train), kind.classes)


@pytest.mark.parametrize("kind", [Human, Hepmass, Crop])
def test_published_counts_are_those_of_table_8(kind):
    rows, features, examples = kind.official
    cut = rows - int(0.1 * rows) if kind is Crop else rows
    assert examples == cut - int(0.1 * cut)
    assert kind().data_dim == features
    assert {Human: (523, 6_617, 6), Hepmass: (15, 6_300_000, 2), Crop: (174, 263_926, 7)}[kind] == (
        features,
        examples,
        kind.classes,
    )


def test_tables_are_registered_with_labels_per_class(tmp_path):
    for name in SETS:
        assert datasets.create(name, data_dir=str(tmp_path), labels_per_class=None).labels_per_class is None


def test_a_missing_file_has_a_fingerprint_and_no_split(small, tmp_path):
    kind, file = small
    absent = kind(tmp_path / "nowhere")
    assert len(absent.fingerprint) == 16
    with raises_with(DataMissing, file.name, f"vera data fetch {kind.file.source} --data-dir"):
        absent.split(0)
    with pytest.raises(DataMissing):
        kind.locate(tmp_path / "nowhere")
    file.write(tmp_path / "here")
    assert kind.locate(tmp_path / "here") == tmp_path / "here"
    assert (kind(tmp_path / "here").fingerprint == absent.fingerprint) == (
        kind is Crop
    )  # whose checksum is published


@pytest.mark.parametrize("name", ["human", "hepmass"])
def test_the_fingerprint_depends_on_the_content_and_trusts_the_recorded_checksum(monkeypatch, tmp_path, name):
    kind, make = SETS[name]
    file = make(monkeypatch)
    path = file.write(tmp_path / "one")
    fingerprint = kind(tmp_path / "one", labels_per_class=3).fingerprint
    record_checksum(path)
    assert kind(tmp_path / "one").fingerprint == fingerprint
    file.write(tmp_path / "two")
    assert kind(tmp_path / "two").fingerprint == fingerprint
    path.write_bytes(b"other")
    assert kind(tmp_path / "one").fingerprint == fingerprint
    (tmp_path / "two" / file.name).write_bytes(b"other")
    assert kind(tmp_path / "two").fingerprint != fingerprint


def test_a_changed_file_with_a_recorded_checksum_is_refused(small, tmp_path):
    kind, file = small
    path = file.write(tmp_path)
    record_checksum(path)
    path.write_bytes(file.content + b"\0")
    with raises_with(DataCorrupt, compute_sha256(path), f"vera data fetch {kind.file.source}"):
        kind(tmp_path).split(0)


def test_a_wrong_number_of_rows_or_features_is_refused_and_not_cached(small, tmp_path, monkeypatch):
    kind, file = small
    file.write(tmp_path)
    official = kind.official
    for wrong in (
        official._replace(rows=official.rows + 1),
        official._replace(features=official.features + 1),
    ):
        monkeypatch.setattr(kind, "official", wrong)
        facts = (f"{official.rows} rows", f"{wrong.rows} and {wrong.features}")
        with raises_with(DataCorrupt, *facts):
            kind(tmp_path).split(0)
    assert os.listdir(tmp_path) == [file.name]
    monkeypatch.setattr(kind, "official", official._replace(examples=1))
    with raises_with(DataCorrupt, "Table 8 has 1."):
        kind(tmp_path).split(0)


def test_wrong_classes_are_refused(monkeypatch, tmp_path):
    file = small_human(monkeypatch)
    file.write(tmp_path)
    monkeypatch.setattr(Human, "classes", 7)
    with raises_with(DataCorrupt, "0, 1, 2, 3, 4, 5 ", "0 to 6"):
        Human(tmp_path).split(0)


def test_the_converted_table_is_cached(small, tmp_path, monkeypatch):
    kind, file = small
    path = file.write(tmp_path)
    first = kind(tmp_path).split(0)
    kept = tmp_path / f"{file.name}.{compute_sha256(path)[:16]}-v1.npy"
    assert np.load(kept).shape == (ROWS, 1 + len(file.kept))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted([file.name, kept.name])
    uci_tables._load_content.cache_clear()
    monkeypatch.setattr(kind, "read", None)  # a second conversion would now be a TypeError
    assert isinstance(kind(tmp_path).read_table().x, np.memmap)
    again = kind(tmp_path).split(0)
    assert torch.equal(first.train, again.train)
    assert torch.equal(first.train_labels, again.train_labels)


@pytest.mark.parametrize("damage", [b"", b"\x93NUMPY half a file", None])
def test_a_damaged_cached_table_is_replaced(monkeypatch, tmp_path, damage):
    file = small_human(monkeypatch)
    path = file.write(tmp_path)
    kept = tmp_path / f"{file.name}.{compute_sha256(path)[:16]}-v1.npy"
    kept.write_bytes(damage) if damage is not None else np.save(kept, np.zeros((3, 3)))
    assert len(Human(tmp_path).split(0).train) == 180
    assert np.load(kept).shape == (ROWS, 5)


def test_a_folder_that_cannot_be_written_disables_the_cache(monkeypatch, tmp_path):
    file = small_human(monkeypatch)
    file.write(tmp_path)
    before = os.listdir(tmp_path)

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("vera.data.files.npy_cache.write_atomically", refuse)
    assert len(Human(tmp_path).split(0).train) == 180
    assert os.listdir(tmp_path) == before


def test_a_read_only_folder_stays_unchanged_even_for_the_superuser(monkeypatch, tmp_path):
    file = small_human(monkeypatch)
    folder = file.write(tmp_path / "data").parent
    folder.chmod(0o555)
    try:
        assert len(Human(folder).split(0).train) == 180
        assert os.listdir(folder) == [file.name]
    finally:
        folder.chmod(0o755)


@pytest.mark.parametrize("name", SETS)
def test_the_zip_of_the_new_site_is_read(monkeypatch, tmp_path, name):
    kind, make = SETS[name]
    file = make(monkeypatch)
    expected = kind(file.write(tmp_path / "old").parent).split(0)
    inner = "data.zip" if name == "crop" else f"folder/{file.name}"
    file.write(
        tmp_path / "new",
        zip_members({"notes.txt": "x", "other.zip": zip_members({}), inner: file.content}),
        kind.file.others[0],
    )
    found = kind(tmp_path / "new").split(0)
    assert torch.equal(found.train, expected.train)
    assert torch.equal(found.held_out_labels, expected.held_out_labels)


@pytest.mark.parametrize("damage", ["cut", "html", "empty", "other member"])
def test_a_damaged_file_is_corrupt_and_named(small, tmp_path, damage):
    kind, file = small
    member = (
        zip_members({"something.txt": "1 2 3"})
        if file.name.endswith(".zip")
        else gzip.compress(b"# header\nnot,numbers\n")
    )
    content = {
        "cut": file.content[:-200],
        "html": b"<html>moved</html>",
        "empty": b"",
        "other member": member,
    }[damage]
    path = file.write(tmp_path, content)
    with raises_with(DataCorrupt, str(path)):
        kind(tmp_path).split(0)


def test_a_crop_with_another_checksum_is_refused(monkeypatch, tmp_path):
    small_crop(monkeypatch).write(tmp_path, zip_members({"WinnipegDataset.txt": "label,f1,f2,f3\n1,2,3,4\n"}))
    with raises_with(DataCorrupt, "WinnipegDataset.txt", "sha256"):
        Crop(tmp_path).split(0)


def test_a_crop_without_labels_is_refused(monkeypatch, tmp_path):
    path = small_crop(monkeypatch).write(tmp_path, zip_members({"WinnipegDataset.txt": "f1,f2\n1,2\n"}))
    with raises_with(DataCorrupt, "'label'"):
        Crop.read(path, "")


def test_labels_of_another_length_than_the_features_are_refused(monkeypatch, tmp_path):
    file = small_human(monkeypatch)
    content = zip_members({"train/X_train.txt": to_text(file.x, " "), "train/y_train.txt": "1\n2\n"})
    with raises_with(DataCorrupt, "200 rows", "(2, 1)"):
        Human.read(file.write(tmp_path, content), "")


def test_the_copy_with_recomputed_columns_has_another_name(monkeypatch, tmp_path):
    file = small_human(monkeypatch)
    path = file.write(tmp_path)
    assert Human(tmp_path).name == "human"
    assert Human(tmp_path / "nowhere").name == "human"
    monkeypatch.setattr(uci_tables, "RECOMPUTED_HUMAN", compute_sha256(path))
    assert Human(tmp_path).name == "human (columns 266–561 recomputed)"
    assert Human(tmp_path).split(0).name == "human (columns 266–561 recomputed)"


def test_reading_hepmass_needs_little_more_memory_than_its_numbers(tmp_path):
    """28 columns in single precision, the kept ones again, and a block of lines; the text has 700 bytes per
    row."""
    rows = 50_000
    some = to_text(np.column_stack([np.arange(1000) % 2, make_features(1000, 27)]), ",")
    path = tmp_path / "1000_train.csv.gz"
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write("# header\n" + some * (rows // 1000))
    tracemalloc.start()
    try:
        table = Hepmass.read(path, "")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(table) == rows
    assert peak < 3 * rows * 28 * 4
    assert peak < 0.5 * rows * len(some) / 1000


REAL_HUMAN = find_real_data(uci_archive.HUMAN.name)


@pytest.mark.skipif(
    REAL_HUMAN is None, reason="UCI HAR Dataset.zip is neither in VERA_DATA nor in ../shared/data"
)
def test_the_real_human_has_the_counts_of_table_8():
    """The largest class of the paper, 19.4 %, is that of the training rows with the default seed of its
    code."""
    split = Human(REAL_HUMAN).split(1234)
    assert split.facts[:3] == (523, 6_617, 6)
    assert round(split.facts.largest_class, 1) == 19.4
    assert len(split.held_out) == 735
    assert len(split.labelled_rows) == 60
    torch.testing.assert_close(
        split.train.double().mean(0), torch.zeros(523, dtype=torch.float64), atol=1e-5, rtol=0
    )
    torch.testing.assert_close(
        split.train.double().std(0, correction=0), torch.ones(523, dtype=torch.float64), atol=1e-4, rtol=0
    )


def test_tables_use_the_declared_files():
    assert set(uci_archive.FILES) == set(SETS)
    for name, (kind, _) in SETS.items():
        assert dataclasses.asdict(kind.file) == dataclasses.asdict(uci_archive.FILES[name])

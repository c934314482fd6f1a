"""HEPMASS, CROP and HUMAN from small files in the original formats, against a reading written out by hand."""

import dataclasses
import gzip
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import torch
from locations import SHARED
from uci_helpers import ROWS, features, small_crop, small_hepmass, small_human, text, zipped

from vera.data import Crop, Hepmass, Human
from vera.data.files import uci_archive
from vera.data.files.checksums import compute_sha256, record
from vera.data.tables import uci_human as human
from vera.data.tables import uci_table as uci_tables
from vera.errors import DataCorrupt, DataMissing
from vera.spec.registry import datasets

SETS = {"human": (Human, small_human), "hepmass": (Hepmass, small_hepmass), "crop": (Crop, small_crop)}


@pytest.fixture(params=SETS)
def small(request, monkeypatch):
    kind, make = SETS[request.param]
    return kind, make(monkeypatch)


def shuffled_by_hand(n, seed):
    order = np.arange(n)
    np.random.RandomState(seed).shuffle(order)
    return order


def parts_by_hand(kind, seed):
    if kind is Hepmass:
        return np.arange(180), np.arange(180, 200)
    order = shuffled_by_hand(ROWS, seed)
    return (order[:180], order[180:]) if kind is Human else (order[:162], order[162:180])


@pytest.mark.parametrize("seed", [0, 5])
def test_a_split_is_the_papers(small, tmp_path, seed):
    kind, file = small
    file.write(tmp_path)
    split = kind(tmp_path).split(seed)
    train, held_out = parts_by_hand(kind, seed)
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
def test_official_counts_are_those_of_table_8(kind):
    rows, features, examples = kind.official
    cut = rows - int(0.1 * rows) if kind is Crop else rows
    assert examples == cut - int(0.1 * cut)
    assert kind().data_dim == features
    assert {Human: (523, 6_617, 6), Hepmass: (15, 6_300_000, 2), Crop: (174, 263_926, 7)}[kind] == (
        features,
        examples,
        kind.classes,
    )


def test_registered_with_labels_per_class(tmp_path):
    for name in SETS:
        assert datasets.create(name, data_dir=str(tmp_path), labels_per_class=None).labels_per_class is None


def test_a_file_that_is_not_here_has_a_fingerprint_and_no_split(small, tmp_path):
    kind, file = small
    absent = kind(tmp_path / "nowhere")
    assert len(absent.fingerprint) == 16
    with pytest.raises(
        DataMissing, match=rf"{file.name} is not in .*vera data fetch {kind.file.source} --data-dir"
    ):
        absent.split(0)
    with pytest.raises(DataMissing):
        kind.locate(tmp_path / "nowhere")
    file.write(tmp_path / "here")
    assert kind.locate(tmp_path / "here") == tmp_path / "here"
    assert (kind(tmp_path / "here").fingerprint == absent.fingerprint) == (
        kind is Crop
    )  # of which the content is published


@pytest.mark.parametrize("name", ["human", "hepmass"])
def test_a_fingerprint_is_one_of_the_content_and_the_recorded_checksum_is_taken_at_its_word(
    monkeypatch, tmp_path, name
):
    kind, make = SETS[name]
    file = make(monkeypatch)
    path = file.write(tmp_path / "one")
    fingerprint = kind(tmp_path / "one", labels_per_class=3).fingerprint
    record(path)
    assert kind(tmp_path / "one").fingerprint == fingerprint
    file.write(tmp_path / "two")
    assert kind(tmp_path / "two").fingerprint == fingerprint
    path.write_bytes(b"other")
    assert kind(tmp_path / "one").fingerprint == fingerprint
    (tmp_path / "two" / file.name).write_bytes(b"other")
    assert kind(tmp_path / "two").fingerprint != fingerprint


def test_a_changed_file_is_not_read_if_its_checksum_was_recorded(small, tmp_path):
    kind, file = small
    path = file.write(tmp_path)
    record(path)
    path.write_bytes(file.content + b"\0")
    with pytest.raises(
        DataCorrupt,
        match=rf"has changed: its sha256 is {compute_sha256(path)}.*vera data fetch {kind.file.source}",
    ):
        kind(tmp_path).split(0)


def test_another_number_of_rows_or_features_is_refused_and_not_kept(small, tmp_path, monkeypatch):
    kind, file = small
    file.write(tmp_path)
    official = kind.official
    for wrong in (
        official._replace(rows=official.rows + 1),
        official._replace(features=official.features + 1),
    ):
        monkeypatch.setattr(kind, "official", wrong)
        with pytest.raises(
            DataCorrupt,
            match=rf"has {official.rows} rows, .* published file has {wrong.rows} and {wrong.features}",
        ):
            kind(tmp_path).split(0)
    assert os.listdir(tmp_path) == [file.name]
    monkeypatch.setattr(kind, "official", official._replace(examples=1))
    with pytest.raises(DataCorrupt, match="Table 8 has 1"):
        kind(tmp_path).split(0)


def test_other_classes_are_refused(monkeypatch, tmp_path):
    file = small_human(monkeypatch)
    file.write(tmp_path)
    monkeypatch.setattr(Human, "classes", 7)
    with pytest.raises(DataCorrupt, match="has the classes 0, 1, 2, 3, 4, 5, counted from 0"):
        Human(tmp_path).split(0)


def test_the_converted_table_is_kept_and_opened_from_then_on(small, tmp_path, monkeypatch):
    kind, file = small
    path = file.write(tmp_path)
    first = kind(tmp_path).split(0)
    kept = tmp_path / f"{file.name}.{compute_sha256(path)[:16]}-v1.npy"
    assert np.load(kept).shape == (ROWS, 1 + len(file.kept))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted([file.name, kept.name])
    uci_tables._content.cache_clear()
    monkeypatch.setattr(kind, "read", None)  # a second conversion would now be a TypeError
    assert isinstance(kind(tmp_path).read_table().x, np.memmap)
    again = kind(tmp_path).split(0)
    assert torch.equal(first.train, again.train)
    assert torch.equal(first.train_labels, again.train_labels)


@pytest.mark.parametrize("damage", [b"", b"\x93NUMPY half a file", None])
def test_a_kept_table_that_is_no_table_is_made_again(monkeypatch, tmp_path, damage):
    file = small_human(monkeypatch)
    path = file.write(tmp_path)
    kept = tmp_path / f"{file.name}.{compute_sha256(path)[:16]}-v1.npy"
    kept.write_bytes(damage) if damage is not None else np.save(kept, np.zeros((3, 3)))
    assert len(Human(tmp_path).split(0).train) == 180
    assert np.load(kept).shape == (ROWS, 5)


def test_a_folder_that_cannot_be_written_only_costs_time(monkeypatch, tmp_path):
    file = small_human(monkeypatch)
    file.write(tmp_path)
    before = os.listdir(tmp_path)

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("vera.data.files.npy_cache.write_atomically", refuse)
    assert len(Human(tmp_path).split(0).train) == 180
    assert os.listdir(tmp_path) == before


def test_a_folder_that_is_meant_to_stay_as_it_is_stays_so_for_the_superuser_too(monkeypatch, tmp_path):
    file = small_human(monkeypatch)
    folder = file.write(tmp_path / "data").parent
    folder.chmod(0o555)
    try:
        assert len(Human(folder).split(0).train) == 180
        assert os.listdir(folder) == [file.name]
    finally:
        folder.chmod(0o755)


@pytest.mark.parametrize("name", SETS)
def test_the_zip_of_the_new_site_is_read_too(monkeypatch, tmp_path, name):
    kind, make = SETS[name]
    file = make(monkeypatch)
    expected = kind(file.write(tmp_path / "old").parent).split(0)
    inner = "data.zip" if name == "crop" else f"folder/{file.name}"
    file.write(
        tmp_path / "new",
        zipped({"notes.txt": "x", "other.zip": zipped({}), inner: file.content}),
        kind.file.others[0],
    )
    found = kind(tmp_path / "new").split(0)
    assert torch.equal(found.train, expected.train)
    assert torch.equal(found.held_out_labels, expected.held_out_labels)


@pytest.mark.parametrize("damage", ["cut", "html", "empty", "other member"])
def test_a_damaged_file_is_corrupt_and_named(small, tmp_path, damage):
    kind, file = small
    member = (
        zipped({"something.txt": "1 2 3"})
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
    with pytest.raises(DataCorrupt, match=str(path)):
        kind(tmp_path).split(0)


def test_another_crop_than_the_published_one_is_refused(monkeypatch, tmp_path):
    small_crop(monkeypatch).write(tmp_path, zipped({"WinnipegDataset.txt": "label,f1,f2,f3\n1,2,3,4\n"}))
    with pytest.raises(DataCorrupt, match="is not the published one: sha256"):
        Crop(tmp_path).split(0)


def test_a_crop_without_labels_is_refused(monkeypatch, tmp_path):
    path = small_crop(monkeypatch).write(tmp_path, zipped({"WinnipegDataset.txt": "f1,f2\n1,2\n"}))
    with pytest.raises(DataCorrupt, match="no column 'label'"):
        Crop.read(path, "")


def test_labels_that_do_not_fit_the_features_are_refused(monkeypatch, tmp_path):
    file = small_human(monkeypatch)
    content = zipped({"train/X_train.txt": text(file.x, " "), "train/y_train.txt": "1\n2\n"})
    with pytest.raises(DataCorrupt, match="200 rows of features and"):
        Human.read(file.write(tmp_path, content), "")


def test_the_copy_with_recomputed_columns_says_so(monkeypatch, tmp_path):
    file = small_human(monkeypatch)
    path = file.write(tmp_path)
    assert Human(tmp_path).name == "human"
    assert Human(tmp_path / "nowhere").name == "human"
    monkeypatch.setattr(human, "RECOMPUTED", compute_sha256(path))
    assert Human(tmp_path).name == "human (columns 266–561 recomputed)"
    assert Human(tmp_path).split(0).name == "human (columns 266–561 recomputed)"


def test_reading_hepmass_takes_memory_in_proportion_to_its_numbers(tmp_path):
    """28 columns in single precision, the kept ones again, and a block of lines: not the 700 bytes a row of
    the text."""
    rows = 50_000
    some = text(np.column_stack([np.arange(1000) % 2, features(1000, 27)]), ",")
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


def real_human():
    for folder in (os.environ.get("VERA_DATA"), SHARED / "data"):
        if folder and (Path(folder) / uci_archive.HUMAN.name).is_file():
            return Path(folder)
    return None


REAL_HUMAN = real_human()


@pytest.mark.skipif(
    REAL_HUMAN is None, reason="UCI HAR Dataset.zip is neither in VERA_DATA nor in ../shared/data"
)
def test_the_real_human_has_the_counts_of_table_8():
    """The paper's largest class, 19.4 %, is that of the training part with the seed that its code has by
    default."""
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


def test_files_are_declared_once():
    assert set(uci_archive.FILES) == set(SETS)
    for name, (kind, _) in SETS.items():
        assert dataclasses.asdict(kind.file) == dataclasses.asdict(uci_archive.FILES[name])

"""`vera.data.load`: csv files with and without labels, and arrays of numpy."""

import numpy as np
import pytest
from facts import raises_with
from locations import ROOT

import vera
from vera.errors import DataCorrupt, DataMissing, SettingError, VeraError

IRIS = ROOT / "docs" / "examples" / "iris.csv"


def write(tmp_path, text, name="mine.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_csv_file_without_label_is_an_array_with_names(tmp_path):
    data = vera.data.load(write(tmp_path, "a, b\n1,2.5\n3,-4e1\n"))
    assert np.asarray(data).tolist() == [[1.0, 2.5], [3.0, -40.0]]
    assert (data.feature_names, data.labels, data.name, len(data)) == (("a", "b"), None, "mine", 2)


def test_the_label_column_of_a_csv_file_holds_classes():
    data = vera.data.load(IRIS, label="species")
    assert data.x.shape == (150, 4)
    assert set(data.labels.tolist()) == {"setosa", "versicolor", "virginica"}
    assert "species" not in data.feature_names


@pytest.mark.parametrize(
    ("text", "label", "facts"),
    [
        ("", None, ["empty"]),
        ("a,b\n", None, ["0 rows"]),
        ("1.0,2.0\n3.0,4.0\n", None, ["first row", "1.0, 2.0", "x0,x1"]),
        ("a,b\n1,\n", None, ["'b'", "line 2"]),
        ("a,b\n1,nan\n", None, ["'b'", "line 2", "nan"]),
        ("a,kind\n1,x\n", None, ["line 2", "'x'", "--label kind", "label='kind'"]),
        ("a,a\n1,2\n", None, ["repeated", "'a'"]),
        ("a;b\n1;2\n", None, ["semicolons", "commas"]),
        ("a,b\n1,2\n1\n", None, ["line 3", "1 value;", "2 columns"]),
        ("a,kind\n1,x\n", "kid", ["'kid'", "a, kind"]),
        ("a,kind\n1,0.5\n", "kind", ["'kind'", "'0.5'"]),
    ],
)
def test_a_csv_file_that_is_no_table_is_refused(tmp_path, text, label, facts):
    with raises_with(VeraError, "mine.csv", *facts):
        vera.data.load(write(tmp_path, text), label=label)


def test_arrays_of_numpy_are_read_with_labels_under_y_or_another_name(tmp_path):
    x, y = np.random.default_rng(0).normal(size=(5, 3)), np.array([0, 1, 0, 1, 1])
    np.save(tmp_path / "x.npy", x)
    np.savez(tmp_path / "pair.npz", x=x, y=y)
    np.savez(tmp_path / "named.npz", points=x, classes=y)
    np.savez(tmp_path / "one.npz", points=x)
    assert np.array_equal(vera.data.load(tmp_path / "x.npy"), x)
    assert vera.data.load(tmp_path / "pair.npz").labels.tolist() == y.tolist()
    assert vera.data.load(tmp_path / "named.npz", label="classes").labels.tolist() == y.tolist()
    assert np.array_equal(vera.data.load(tmp_path / "one.npz"), x)
    with raises_with(SettingError, "named.npz", "points, classes"):
        vera.data.load(tmp_path / "named.npz")
    with raises_with(SettingError, "x.npy", "'kind'"):
        vera.data.load(tmp_path / "x.npy", label="kind")


def test_damaged_and_pickled_arrays_are_refused(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.zeros((50, 3)))
    path.write_bytes(path.read_bytes()[:300])
    with raises_with(DataCorrupt, "x.npy"):
        vera.data.load(path)
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with raises_with(DataCorrupt, "x.npy", "pickle"):
        vera.data.load(path)
    (tmp_path / "x.npz").write_bytes(b"PK\x03\x04 not a zip file")
    with raises_with(DataCorrupt, "x.npz"):
        vera.data.load(tmp_path / "x.npz")


def test_missing_files_and_other_formats_are_refused(tmp_path):
    with raises_with(DataMissing, "absent.csv"):
        vera.data.load(tmp_path / "absent.csv")
    with raises_with(SettingError, "t.parquet", "pandas.read_parquet(path)"):
        vera.data.load(write(tmp_path, "", "t.parquet"))
    with raises_with(SettingError, "t.png", ".npy"):
        vera.data.load(write(tmp_path, "", "t.png"))


def test_an_npz_file_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "zeros.npz", x=np.zeros((1_000, 100)))
    monkeypatch.setattr("vera.data.user_file.MAX_ARRAYS", 100_000)
    with raises_with(DataCorrupt, "zeros.npz", "800 kB", "100 kB", ".npy"):
        vera.data.load(tmp_path / "zeros.npz")


def test_an_array_that_announces_more_than_memory_holds_is_refused(tmp_path):
    path = tmp_path / "huge.npy"
    np.save(path, np.zeros((2, 3)))
    path.write_bytes(path.read_bytes().replace(b"(2, 3), }      ", b"(2, 3" + b"0" * 9 + b"),}"))
    with raises_with(DataCorrupt, "huge.npy"):
        vera.data.load(path)

"""User tables, as csv and as Parquet: the same rules, and errors for files that break them."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from facts import raises_with

from sweeps.parquet_table import ParquetTable
from sweeps.trial.identity import Trial, register_tables
from vera.data import CSVTable
from vera.errors import DataCorrupt, DataMissing, SettingError
from vera.spec.registry import datasets

ROWS = 40
RNG = np.random.default_rng(0)
COLUMNS = {
    "height": RNG.normal(170, 10, ROWS).round(3),
    "species": np.array(["setosa", "virginica", "iris, blue", "setosa"] * 10),
    "constant": np.full(ROWS, 0.1),
    "weight": RNG.normal(60, 5, ROWS).round(3),
    "code": np.array([10, 9, 2, 10] * 10),
}


def write_csv(path, columns=COLUMNS, lines=None):
    cell = lambda value: f'"{value}"' if "," in str(value) else str(value)  # noqa: E731
    rows = [",".join(cell(column[row]) for column in columns.values()) for row in range(ROWS)]
    path.write_text("\n".join(lines or [",".join(columns), *rows]) + "\n")
    return path


def write_parquet(path, columns=COLUMNS):
    pq.write_table(pa.table({name: pa.array(list(values)) for name, values in columns.items()}), path)
    return path


FORMATS = {"csv": (CSVTable, write_csv), "parquet": (ParquetTable, write_parquet)}


@pytest.fixture(params=FORMATS)
def table_format(request, tmp_path):
    """The class, and a function that writes columns into the data directory."""
    kind, write = FORMATS[request.param]
    return kind, lambda columns=COLUMNS: write(tmp_path / f"flowers.{request.param}", columns).name


def drop_columns(*names):
    return {name: column for name, column in COLUMNS.items() if name not in names}


def test_a_split_equals_one_by_hand(table_format, tmp_path):
    kind, write = table_format
    data = kind(write(drop_columns("code")), "species", data_dir=tmp_path, labels_per_class=2, held_out=0.2)
    order = np.arange(ROWS)
    np.random.RandomState(3).shuffle(order)
    x = np.column_stack([COLUMNS["height"], COLUMNS["weight"]])
    train, held_out = order[:32], order[32:]
    split = data.split(3)
    np.testing.assert_allclose(
        split.train, (x[train] - x[train].mean(0)) / x[train].std(0), rtol=1e-5, atol=1e-6
    )
    np.testing.assert_allclose(
        split.held_out, (x[held_out] - x[train].mean(0)) / x[train].std(0), rtol=1e-5, atol=1e-6
    )
    classes = ["iris, blue", "setosa", "virginica"]
    assert [classes[label] for label in split.held_out_labels] == COLUMNS["species"][held_out].tolist()
    assert split.train_labels[split.labelled_rows].bincount().tolist() == [2, 2, 2]
    assert (data.name, data.data_dim, data.classes) == ("flowers", 2, 3)
    assert data.content.features == ("height", "weight")
    assert data.content.class_names == tuple(classes)


def test_features_are_not_scaled_on_request(table_format, tmp_path):
    kind, write = table_format
    split = kind(write(drop_columns("code")), "species", data_dir=tmp_path, standardise=False).split(0)
    assert sorted(torch.cat([split.train, split.held_out])[:, 0].tolist()) == sorted(
        COLUMNS["height"].astype(np.float32).tolist()
    )


def test_classes_that_are_whole_numbers_are_sorted_as_numbers(table_format, tmp_path):
    kind, write = table_format
    data = kind(write(drop_columns("species")), "code", data_dir=tmp_path)
    assert data.content.class_names == ("2", "9", "10")
    assert data.split(0).facts[:3] == (2, 36, 3)


def test_large_numbers_keep_their_differences_until_scaling(table_format, tmp_path):
    kind, write = table_format
    stamps = 1.7e9 + np.arange(ROWS)
    split = kind(write({"stamp": stamps, "class": COLUMNS["species"]}), "class", data_dir=tmp_path).split(0)
    assert len(split.train.unique()) == 36


def test_the_fingerprint_depends_on_the_content_and_its_preprocessing(table_format, tmp_path):
    kind, write = table_format
    absent = kind(f"flowers.{kind.form}", "species", data_dir=tmp_path).fingerprint
    file = write()
    base = kind(file, "species", data_dir=tmp_path)
    assert base.fingerprint not in (absent, kind(file, "code", data_dir=tmp_path).fingerprint)
    assert base.fingerprint != kind(file, "species", data_dir=tmp_path, held_out=0.2).fingerprint
    assert base.fingerprint != kind(file, "species", data_dir=tmp_path, standardise=False).fingerprint
    assert base.fingerprint == kind(file, "species", data_dir=tmp_path, labels_per_class=None).fingerprint
    write({**COLUMNS, "weight": COLUMNS["weight"] + 1})
    assert kind(file, "species", data_dir=tmp_path).fingerprint != base.fingerprint  # base keeps its own


def test_a_missing_file_is_named_at_the_first_access(table_format, tmp_path):
    data = table_format[0]("sub/flowers.csv", "species", data_dir=tmp_path)
    for read in (lambda: data.split(0), lambda: data.data_dim, lambda: data.classes):
        with raises_with(DataMissing, str(tmp_path / "sub" / "flowers.csv"), "--data-dir"):
            read()


@pytest.mark.parametrize("file", ["/etc/passwd", "../flowers.csv", "a/../../b.csv", ""])
def test_a_file_is_named_relative_to_the_data_directory(table_format, file):
    with raises_with(SettingError, "relative", f"got {file!r}"):
        table_format[0](file, "species")


@pytest.mark.parametrize(
    ("settings", "error", "facts"),
    [
        ({"label": "specie"}, SettingError, ["'specie'", "height, species, constant, weight, code"]),
        ({"label": "constant"}, DataCorrupt, ["'constant'"]),
        ({"label": "species", "held_out": 0.01}, SettingError, ["40 rows", "0.01"]),
        ({"label": "species", "held_out": 0.0}, SettingError, ["held_out", "above 0"]),
        ({"label": "species", "held_out": 1.0}, SettingError, ["held_out", "above 0", "below 1"]),
        ({"label": "species", "labels_per_class": 0}, SettingError, ["labels_per_class", "at least 1"]),
    ],
)
def test_settings_that_do_not_fit_are_refused(table_format, tmp_path, settings, error, facts):
    kind, write = table_format
    columns = (
        COLUMNS
        if settings["label"] == "specie"
        else drop_columns("species" if settings["label"] == "constant" else "code")
    )
    with raises_with(error, *facts):
        kind(write(columns), data_dir=tmp_path, **settings).split(0)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300])
def test_a_value_that_is_not_finite_is_named(table_format, tmp_path, value):
    kind, write = table_format
    weight = COLUMNS["weight"].copy()
    weight[5] = value
    file = write({**drop_columns("code"), "weight": weight})
    place = "line 7" if kind is CSVTable else "row 5"
    with raises_with(DataCorrupt, "column 'weight'", place, f"{value:g}"):
        kind(file, "species", data_dir=tmp_path).split(0)


def test_a_table_with_constant_features_is_refused(table_format, tmp_path):
    kind, write = table_format
    with raises_with(DataCorrupt, "flowers", "constant features"):
        kind(
            write({name: COLUMNS[name] for name in ("constant", "species")}), "species", data_dir=tmp_path
        ).split(0)


def test_a_file_in_another_format_is_refused(table_format, tmp_path):
    kind, _ = table_format
    (tmp_path / "x").write_bytes(b"\xff\xfe\x00")
    with raises_with(DataCorrupt, str(tmp_path / "x"), "csv file" if kind is CSVTable else "Parquet file"):
        kind("x", "species", data_dir=tmp_path).split(0)


@pytest.mark.parametrize(
    ("lines", "error", "facts"),
    [
        (["a,b,y", "1,2,0", "3,,1"], DataCorrupt, ["column 'b'", "line 3: ''"]),
        (["a,b,y", "1,2,0", "", "3,red,1"], DataCorrupt, ["column 'b'", "line 4", "'red'", "encode"]),
        (["a,b,y", "1,2,0", "1_0,2,1"], DataCorrupt, ["column 'a'", "line 3", "'1_0'"]),
        (["a,b,y", "1,2,0", "3,1"], DataCorrupt, ["line 3", "2 values", "3 columns"]),
        (["a,b,y", "1,2,0", "3,4, "], DataCorrupt, ["column 'y'", "line 3", "missing"]),
        (["a,a,y", "1,2,0", "3,4,1"], DataCorrupt, ["header", "'a'"]),
        ([",a,y", "0,1,2", "1,3,4"], DataCorrupt, ["without a name", "index=False"]),
        (["a,b,y"], DataCorrupt, ["no rows"]),
        (["1,2,0", "3,4,1"], SettingError, ["column 'y'", "1, 2, 0"]),
        (["a,b,y", "5,6,1", '"1,2,0', "3,4,1"], DataCorrupt, ["line 3", "unexpected end of data", "quote"]),
        (["a,b,y", "5,6,1", '"1"2,2,0'], DataCorrupt, ["line 3", "quote"]),
        (["a,b,y", "1,2,1", "3,4,0.5"], DataCorrupt, ["column 'y'", "line 3", "'0.5'", "whole number"]),
        (["a,b,y", "1,2,1", "3,4,nan"], DataCorrupt, ["column 'y'", "line 3", "'nan'", "whole number"]),
        (["a,b,y", "1,2,1", "3,4,1"], DataCorrupt, ["one class", "column 'y'", ": 1."]),
    ],
)
def test_csv_mistakes_are_named_by_column_and_line(tmp_path, lines, error, facts):
    write_csv(tmp_path / "x.csv", lines=lines)
    with raises_with(error, "x.csv", *facts):
        CSVTable("x.csv", "y", data_dir=tmp_path).split(0)


def test_a_csv_file_in_another_encoding_is_named_by_line(tmp_path):
    (tmp_path / "x.csv").write_bytes("a,y\n1,red\n2,grün\n".encode("latin1"))
    with raises_with(DataCorrupt, "UTF-8", "line 3", "iconv -f latin1 -t utf-8 x.csv"):
        CSVTable("x.csv", "y", data_dir=tmp_path).split(0)


def test_a_byte_order_mark_and_spaces_in_a_csv_file_are_ignored(tmp_path):
    rows = "".join(f"{value}, {value * 2} , {'b' if value % 2 else 'a'}\r\n" for value in range(20))
    (tmp_path / "x.csv").write_bytes(b"\xef\xbb\xbf" + f"y1, y2 , kind\r\n{rows}".encode())
    data = CSVTable("x.csv", "kind", data_dir=tmp_path)
    assert data.content.features == ("y1", "y2")
    assert data.content.class_names == ("a", "b")
    assert data.split(0).facts == (2, 18, 2, 50.0)


def test_classes_with_both_numbers_and_text_are_text(tmp_path):
    (tmp_path / "x.csv").write_text(
        "a,y\n" + "".join(f"{value},{'1.5' if value % 2 else 'more'}\n" for value in range(20))
    )
    assert CSVTable("x.csv", "y", data_dir=tmp_path).content.class_names == ("1.5", "more")


def test_whole_numbers_written_as_floats_are_classes(tmp_path):
    (tmp_path / "x.csv").write_text("a,y\n" + "".join(f"{value},{value % 2:.1f}\n" for value in range(20)))
    assert CSVTable("x.csv", "y", data_dir=tmp_path).content.class_names == ("0.0", "1.0")


@pytest.mark.parametrize(("others", "refused"), [(2, True), (1, False)])
def test_a_label_column_with_mostly_single_rows_is_refused(table_format, tmp_path, others, refused):
    kind, write = table_format
    species = np.array([*(f"only {i}" for i in range(others)), *["many"] * (ROWS - others)])
    data = kind(write({**drop_columns("code"), "species": species}), "species", data_dir=tmp_path)
    if refused:
        with raises_with(DataCorrupt, "3 classes", "'species'", "2 of them"):
            data.split(0)
    else:
        assert data.classes == 2


def test_classes_with_leading_zeros_are_text(tmp_path):
    (tmp_path / "x.csv").write_text(
        "a,y\n" + "".join(f"{value},{'01' if value % 2 else '1'}\n" for value in range(20))
    )
    assert CSVTable("x.csv", "y", data_dir=tmp_path).content.class_names == ("01", "1")


@pytest.mark.parametrize(
    ("columns", "facts"),
    [
        ({"a": ["x", "y"], "y": [0, 1]}, ["column 'a'", "string", "numbers"]),
        ({"a": [1.0, 2.0], "y": [0, 1], "__index_level_0__": [0, 1]}, ["without a name"]),
        ({"a": [1.0, None], "y": [0, 1]}, ["column 'a'", "1 missing"]),
        ({"a": [1.0, 2.0], "y": [0, None]}, ["column 'y'", "missing in 1 "]),
        ({"a": [1.0, 2.0], "y": [0.5, 1.5]}, ["column 'y'", "double", "whole numbers"]),
    ],
)
def test_parquet_mistakes_are_named_by_column(tmp_path, columns, facts):
    write_parquet(tmp_path / "x.parquet", columns)
    with raises_with(DataCorrupt, "x.parquet", *facts):
        ParquetTable("x.parquet", "y", data_dir=tmp_path).split(0)


def test_parquet_accepts_integers_booleans_and_categories(tmp_path):
    table = pa.table(
        {
            "a": pa.array(range(20), pa.int32()),
            "b": pa.array([i % 3 == 0 for i in range(20)]),
            "y": pa.array(["u", "v"] * 10).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "x.parquet")
    data = ParquetTable("x.parquet", "y", data_dir=tmp_path, standardise=False)
    assert data.content.class_names == ("u", "v")
    assert sorted(data.split(0).train.unique().tolist())[:3] == [0, 1, 2]


def test_parquet_is_registered_when_a_trial_is_planned_or_restored():
    spec = {"dataset": {"name": "moons"}, "networks": {}, "method": {"name": "ml"}, "steps": 1}
    for register in (register_tables, lambda: Trial.from_facts({**spec, "profile": "smoke"})):
        datasets._known = {name: kind for name, kind in datasets._known.items() if name != "parquet"}
        register()
        assert datasets.get("parquet") is ParquetTable

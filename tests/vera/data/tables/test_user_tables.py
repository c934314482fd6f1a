"""A user's own table, as csv and as Parquet: the same rules, and what is said of a file that breaks them."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

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
    pq.write_table(pa.read_table({name: pa.array(list(values)) for name, values in columns.items()}), path)
    return path


WAYS = {"csv": (CSVTable, write_csv), "parquet": (ParquetTable, write_parquet)}


@pytest.fixture(params=WAYS)
def way(request, tmp_path):
    """The class, and how to write columns into the data directory."""
    kind, write = WAYS[request.param]
    return kind, lambda columns=COLUMNS: write(tmp_path / f"flowers.{request.param}", columns).name


def without(*names):
    return {name: column for name, column in COLUMNS.items() if name not in names}


def test_a_split_against_one_by_hand(way, tmp_path):
    kind, write = way
    data = kind(write(without("code")), "species", data_dir=tmp_path, labels_per_class=2, held_out=0.2)
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


def test_unscaled_on_request(way, tmp_path):
    kind, write = way
    split = kind(write(without("code")), "species", data_dir=tmp_path, standardise=False).split(0)
    assert sorted(torch.cat([split.train, split.held_out])[:, 0].tolist()) == sorted(
        COLUMNS["height"].astype(np.float32).tolist()
    )


def test_classes_that_are_whole_numbers_are_sorted_as_numbers(way, tmp_path):
    kind, write = way
    data = kind(write(without("species")), "code", data_dir=tmp_path)
    assert data.content.class_names == ("2", "9", "10")
    assert data.split(0).facts[:3] == (2, 36, 3)


def test_large_numbers_keep_their_differences_until_they_are_scaled(way, tmp_path):
    kind, write = way
    stamps = 1.7e9 + np.arange(ROWS)
    split = kind(write({"stamp": stamps, "class": COLUMNS["species"]}), "class", data_dir=tmp_path).split(0)
    assert len(split.train.unique()) == 36


def test_the_fingerprint_is_of_the_content_and_what_is_made_of_it(way, tmp_path):
    kind, write = way
    absent = kind(f"flowers.{kind.form}", "species", data_dir=tmp_path).fingerprint
    file = write()
    base = kind(file, "species", data_dir=tmp_path)
    assert base.fingerprint not in (absent, kind(file, "code", data_dir=tmp_path).fingerprint)
    assert base.fingerprint != kind(file, "species", data_dir=tmp_path, held_out=0.2).fingerprint
    assert base.fingerprint != kind(file, "species", data_dir=tmp_path, standardise=False).fingerprint
    assert base.fingerprint == kind(file, "species", data_dir=tmp_path, labels_per_class=None).fingerprint
    write({**COLUMNS, "weight": COLUMNS["weight"] + 1})
    assert kind(file, "species", data_dir=tmp_path).fingerprint != base.fingerprint  # which stays what it was


def test_a_missing_file_is_named_when_it_is_read(way, tmp_path):
    data = way[0]("sub/flowers.csv", "species", data_dir=tmp_path)
    for read in (lambda: data.split(0), lambda: data.data_dim, lambda: data.classes):
        with pytest.raises(DataMissing, match=rf"no file {tmp_path / 'sub' / 'flowers.csv'}; .*--data-dir"):
            read()


@pytest.mark.parametrize("file", ["/etc/passwd", "../flowers.csv", "a/../../b.csv", ""])
def test_a_file_is_named_relative_to_the_data_directory(way, file):
    with pytest.raises(SettingError, match="relative"):
        way[0](file, "species")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"label": "specie"},
            "no column 'specie' .*names the columns: height, species, constant, weight, code",
        ),
        ({"label": "constant"}, "one class only|classes must be text"),
        ({"label": "species", "held_out": 0.01}, "has 40 rows: too few"),
        ({"label": "species", "held_out": 0.0}, "held_out must be above 0"),
        ({"label": "species", "held_out": 1.0}, "held_out must be above 0 and below 1"),
        ({"label": "species", "labels_per_class": 0}, "labels_per_class must be at least 1"),
    ],
)
def test_settings_that_do_not_fit(way, tmp_path, settings, message):
    kind, write = way
    columns = (
        COLUMNS
        if settings["label"] == "specie"
        else without("species" if settings["label"] == "constant" else "code")
    )
    with pytest.raises((SettingError, DataCorrupt), match=message):
        kind(write(columns), data_dir=tmp_path, **settings).split(0)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300])
def test_a_value_that_is_not_finite_is_named(way, tmp_path, value):
    kind, write = way
    weight = COLUMNS["weight"].copy()
    weight[5] = value
    file = write({**without("code"), "weight": weight})
    place = "line 7" if kind is CSVTable else "row 5"
    with pytest.raises(DataCorrupt, match=rf"column 'weight', {place}: .* is not a finite number"):
        kind(file, "species", data_dir=tmp_path).split(0)


def test_a_table_without_features_or_rows_is_refused(way, tmp_path):
    kind, write = way
    with pytest.raises(DataCorrupt, match="no feature that differs"):
        kind(
            write({name: COLUMNS[name] for name in ("constant", "species")}), "species", data_dir=tmp_path
        ).split(0)


def test_what_is_not_such_a_file_at_all(way, tmp_path):
    kind, _ = way
    (tmp_path / "x").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataCorrupt, match=r"is not a (csv|Parquet) file"):
        kind("x", "species", data_dir=tmp_path).split(0)


@pytest.mark.parametrize(
    ("lines", "error", "message"),
    [
        (["a,b,y", "1,2,0", "3,,1"], DataCorrupt, r"column 'b', line 3: '' is not a number"),
        (["a,b,y", "1,2,0", "", "3,red,1"], DataCorrupt, r"column 'b', line 4: 'red' is not a number.*encode text"),
        (["a,b,y", "1,2,0", "1_0,2,1"], DataCorrupt, r"column 'a', line 3: '1_0' is not a number"),
        (["a,b,y", "1,2,0", "3,1"], DataCorrupt, r"line 3, has 2 values; the header has 3"),
        (["a,b,y", "1,2,0", "3,4, "], DataCorrupt, r"column 'y', line 3: the class is missing"),
        (["a,a,y", "1,2,0", "3,4,1"], DataCorrupt, r"names a column twice in its header: 'a'. Rename"),
        ([",a,y", "0,1,2", "1,3,4"], DataCorrupt, r"a column without a name; .*index=False"),
        (["a,b,y"], DataCorrupt, "has no rows: .*Write a row"),
        (["1,2,0", "3,4,1"], SettingError, r"no column 'y' .*first row names the columns: 1, 2, 0"),
        (["a,b,y", "5,6,1", '"1,2,0', "3,4,1"], DataCorrupt, r"\(the row that begins in line 3: unexpected end of data\). Close"),
        (["a,b,y", "5,6,1", '"1"2,2,0'], DataCorrupt, r"row that begins in line 3: .*Close every quote"),
        (["a,b,y", "1,2,1", "3,4,0.5"], DataCorrupt, r"column 'y', line 3: '0.5' is not a whole number; classes must be"),
        (["a,b,y", "1,2,1", "3,4,nan"], DataCorrupt, r"column 'y', line 3: 'nan' is not a whole number"),
        (["a,b,y", "1,2,1", "3,4,1"], DataCorrupt, r"one class only in its column 'y': 1"),
    ],
)  # fmt: skip
def test_csv_mistakes_are_named_by_column_and_line(tmp_path, lines, error, message):
    write_csv(tmp_path / "x.csv", lines=lines)
    with pytest.raises(error, match=message):
        CSVTable("x.csv", "y", data_dir=tmp_path).split(0)


def test_a_csv_file_in_another_encoding_is_named_by_line(tmp_path):
    (tmp_path / "x.csv").write_bytes("a,y\n1,red\n2,grün\n".encode("latin1"))
    with pytest.raises(
        DataCorrupt,
        match=r"x\.csv is not a csv file in UTF-8 \(line 3: .*\)\. .*iconv -f latin1 -t utf-8 x\.csv",
    ):
        CSVTable("x.csv", "y", data_dir=tmp_path).split(0)


def test_a_csv_file_with_a_byte_order_mark_and_spaces(tmp_path):
    rows = "".join(f"{value}, {value * 2} , {'b' if value % 2 else 'a'}\r\n" for value in range(20))
    (tmp_path / "x.csv").write_bytes(b"\xef\xbb\xbf" + f"y1, y2 , kind\r\n{rows}".encode())
    data = CSVTable("x.csv", "kind", data_dir=tmp_path)
    assert data.content.features == ("y1", "y2")
    assert data.content.class_names == ("a", "b")
    assert data.split(0).facts == (2, 18, 2, 50.0)


def test_a_column_of_real_numbers_with_text_among_them_is_text(tmp_path):
    (tmp_path / "x.csv").write_text(
        "a,y\n" + "".join(f"{value},{'1.5' if value % 2 else 'more'}\n" for value in range(20))
    )
    assert CSVTable("x.csv", "y", data_dir=tmp_path).content.class_names == ("1.5", "more")


def test_whole_numbers_that_pandas_wrote_as_real_ones_are_classes(tmp_path):
    (tmp_path / "x.csv").write_text("a,y\n" + "".join(f"{value},{value % 2:.1f}\n" for value in range(20)))
    assert CSVTable("x.csv", "y", data_dir=tmp_path).content.class_names == ("0.0", "1.0")


@pytest.mark.parametrize(("others", "refused"), [(2, True), (1, False)])
def test_a_column_of_which_most_classes_have_a_single_row_is_no_class(way, tmp_path, others, refused):
    kind, write = way
    species = np.array([*(f"only {i}" for i in range(others)), *["many"] * (ROWS - others)])
    data = kind(write({**without("code"), "species": species}), "species", data_dir=tmp_path)
    if refused:
        with pytest.raises(
            DataCorrupt, match="has 3 classes in its column 'species', 2 of them with a single row"
        ):
            data.split(0)
    else:
        assert data.classes == 2


def test_numbers_that_are_spelled_unlike_numbers_are_text(tmp_path):
    (tmp_path / "x.csv").write_text(
        "a,y\n" + "".join(f"{value},{'01' if value % 2 else '1'}\n" for value in range(20))
    )
    assert CSVTable("x.csv", "y", data_dir=tmp_path).content.class_names == ("01", "1")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"a": ["x", "y"], "y": [0, 1]},
            "column 'a', is of type (large_)?string; every column but the class must be numbers",
        ),
        ({"a": [1.0, 2.0], "y": [0, 1], "__index_level_0__": [0, 1]}, "a column without a name"),
        ({"a": [1.0, None], "y": [0, 1]}, "column 'a', has 1 missing values"),
        ({"a": [1.0, 2.0], "y": [0, None]}, "column 'y': the class is missing in 1 rows"),
        (
            {"a": [1.0, 2.0], "y": [0.5, 1.5]},
            "column 'y', is of type double; classes must be text or whole numbers",
        ),
    ],
)
def test_parquet_mistakes_are_named_by_column(tmp_path, columns, message):
    write_parquet(tmp_path / "x.parquet", columns)
    with pytest.raises(DataCorrupt, match=message):
        ParquetTable("x.parquet", "y", data_dir=tmp_path).split(0)


def test_parquet_takes_whole_numbers_truth_values_and_categories(tmp_path):
    table = pa.read_table(
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


@pytest.mark.usefixtures("registries")
def test_parquet_is_known_wherever_a_trial_is_planned_or_brought_back():
    spec = {"dataset": {"name": "moons"}, "networks": {}, "method": {"name": "ml"}, "steps": 1}
    for make_known in (register_tables, lambda: Trial.from_facts({**spec, "profile": "smoke"})):
        datasets._known = {name: kind for name, kind in datasets._known.items() if name != "parquet"}
        make_known()
        assert datasets.get("parquet") is ParquetTable

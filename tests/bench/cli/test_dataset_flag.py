"""Data sets as they are named on the command line."""

import subprocess
import sys

import pytest

from bench.cli.dataset_flag import parse_dataset
from vera.errors import DataMissing, SettingError, UnknownName


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "some where" / "iris.csv"
    path.parent.mkdir()
    path.write_text("a,species\n1,x\n")
    return path


CSV = {"labels_per_class": 10, "held_out": 0.1, "standardise": True}
"""What is filled in."""


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("human", {"name": "human", "labels_per_class": 10}),
        ("wine,labels_per_class=5", {"name": "wine", "labels_per_class": 5}),
        (" wine , labels_per_class = none ", {"name": "wine", "labels_per_class": None}),
        (
            "mnist-table,validation=tenth,side=14",
            {"name": "mnist-table", "labels_per_class": 10, "validation": "tenth", "side": 14},
        ),
        ("gaussian,dim=3", {"name": "gaussian", "dim": 3}),
        ("cifar10,batches=1+2", {"name": "cifar10", "labels_per_class": None, "batches": (1, 2)}),
        ("csv,file=sub/x.csv,label=y", {"name": "csv", "file": "sub/x.csv", "label": "y", **CSV}),
    ],
)
def test_names_and_settings(text, part):
    assert parse_dataset(text) == (part, None)


def test_a_path_is_split_into_the_file_and_the_data_directory(file):
    text = f"csv:{file},label=species,labels_per_class=5,held_out=1e-1,standardise=false"
    part, folder = parse_dataset(text)
    expected = {
        "name": "csv",
        "label": "species",
        "labels_per_class": 5,
        "held_out": 0.1,
        "standardise": False,
        "file": "iris.csv",
    }
    assert part == expected
    assert folder == str(file.parent)


def test_a_file_in_the_working_directory(file, monkeypatch):
    monkeypatch.chdir(file.parent)
    assert parse_dataset("csv:iris.csv,label=species") == (
        {"name": "csv", "label": "species", "file": "iris.csv", **CSV},
        ".",
    )


def test_a_file_in_the_home_directory(file, monkeypatch):
    monkeypatch.setenv("HOME", str(file.parent))
    assert parse_dataset("csv:~/iris.csv,label=species")[1] == str(file.parent)


@pytest.mark.parametrize(
    ("text", "value"),
    [("label=5", "5"), ("label=true", "true"), ("label=none", "none"), ("label=a=b", "a=b")],
)
def test_a_column_may_be_called_anything(file, text, value):
    assert parse_dataset(f"csv:{file},{text}")[0]["label"] == value


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("humn", UnknownName, "no data set 'humn'.*human"),
        ("", UnknownName, "no data set ''"),
        (
            "wine,labels=5",
            UnknownName,
            "data set 'wine' has no setting 'labels'. Did you mean labels_per_class",
        ),
        ("human,data_dir=x", UnknownName, "no setting 'data_dir'"),
        ("wine,labels_per_class", SettingError, "settings as key=value, got 'labels_per_class'"),
        ("wine,=5", SettingError, "settings as key=value, got '=5'"),
        ("wine,labels_per_class=0", SettingError, "labels_per_class must be at least 1, got 0"),
        ("wine,labels_per_class=2.5", SettingError, "labels_per_class must be a whole number, got 2.5"),
        ("wine,labels_per_class=few", SettingError, "labels_per_class must be a whole number, got 'few'"),
        (
            "mnist-table,validation=half",
            SettingError,
            "validation must be one of 'test', 'tenth', got 'half'",
        ),
        ("csv,label=y", SettingError, "'csv' needs file: csv:PATH,label=COLUMN"),
        ("wine:x.csv", SettingError, "only csv:PATH and parquet:PATH"),
        ("csv:absent.csv,label=y", DataMissing, "There is no file absent.csv"),
        ("csv:absent.csv", SettingError, "'csv' needs label: csv:PATH,label=COLUMN"),
        ("csv:absent.csv,label=y,file=z", SettingError, "and then no file="),
        ("csv:,label=y", SettingError, "'' is no file: name a file"),
    ],
)
def test_mistakes(text, error, message):
    with pytest.raises(error, match=message):
        parse_dataset(text)


def test_the_module_loads_without_torch():
    code = "import sys, bench.cli.dataset_flag; print('torch' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert run.stdout == "False\n", run.stderr

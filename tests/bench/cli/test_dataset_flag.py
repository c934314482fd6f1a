"""`--dataset`: names, settings and files of data sets on the command line."""

import subprocess
import sys

import pytest
from facts import raises_with

from bench.cli.selection.dataset_flag import parse_dataset
from vera.errors import DataMissing, SettingError, UnknownName


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "some where" / "iris.csv"
    path.parent.mkdir()
    path.write_text("a,species\n1,x\n")
    return path


CSV = {"labels_per_class": 10, "held_out": 0.1, "standardise": True}
"""Settings that are filled in."""


@pytest.mark.parametrize(
    ("text", "component"),
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
def test_names_and_settings(text, component):
    assert parse_dataset(text) == (component, None)


def test_path_is_split_into_file_and_data_directory(file):
    text = f"csv:{file},label=species,labels_per_class=5,held_out=1e-1,standardise=false"
    component, folder = parse_dataset(text)
    expected = {
        "name": "csv",
        "label": "species",
        "labels_per_class": 5,
        "held_out": 0.1,
        "standardise": False,
        "file": "iris.csv",
    }
    assert component == expected
    assert folder == str(file.parent)


def test_file_in_the_working_directory(file, monkeypatch):
    monkeypatch.chdir(file.parent)
    assert parse_dataset("csv:iris.csv,label=species") == (
        {"name": "csv", "label": "species", "file": "iris.csv", **CSV},
        ".",
    )


def test_file_in_the_home_directory(file, monkeypatch):
    monkeypatch.setenv("HOME", str(file.parent))
    assert parse_dataset("csv:~/iris.csv,label=species")[1] == str(file.parent)


@pytest.mark.parametrize(
    ("text", "value"),
    [("label=5", "5"), ("label=true", "true"), ("label=none", "none"), ("label=a=b", "a=b")],
)
def test_column_may_have_any_name(file, text, value):
    assert parse_dataset(f"csv:{file},{text}")[0]["label"] == value


@pytest.mark.parametrize(
    ("text", "error", "facts"),
    [
        ("humn", UnknownName, ("'humn'", "human")),
        ("", UnknownName, ("data set ''",)),
        ("wine,labels=5", UnknownName, ("'wine'", "'labels'", "Did you mean labels_per_class")),
        ("human,data_dir=x", UnknownName, ("'data_dir'",)),
        ("wine,labels_per_class", SettingError, ("key=value", "'labels_per_class'")),
        ("wine,=5", SettingError, ("key=value", "'=5'")),
        ("wine,labels_per_class=0", SettingError, ("labels_per_class", "at least 1", "got 0")),
        ("wine,labels_per_class=2.5", SettingError, ("labels_per_class", "2.5")),
        ("wine,labels_per_class=few", SettingError, ("labels_per_class", "'few'")),
        ("mnist-table,validation=half", SettingError, ("validation", "'test', 'tenth'", "'half'")),
        ("csv,label=y", SettingError, ("'csv'", "file", "csv:PATH,label=COLUMN")),
        ("wine:x.csv", SettingError, ("csv:PATH", "parquet:PATH")),
        ("csv:absent.csv,label=y", DataMissing, ("absent.csv",)),
        ("csv:absent.csv", SettingError, ("'csv'", "label", "csv:PATH,label=COLUMN")),
        ("csv:absent.csv,label=y,file=z", SettingError, ("file=",)),
        ("csv:,label=y", SettingError, ("csv:PATH,label=COLUMN",)),
    ],
)
def test_mistakes_are_named(text, error, facts):
    with raises_with(error, *facts):
        parse_dataset(text)


def test_module_loads_without_torch():
    code = "import sys, bench.cli.selection.dataset_flag; print('torch' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert run.stdout == "False\n", run.stderr

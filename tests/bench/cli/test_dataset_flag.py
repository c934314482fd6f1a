"""`--dataset`: names, settings and files on the command line, checks before training, names of the tables."""

import re
import subprocess
import sys

import pytest
from engine_helpers import ROOT
from facts import raises_with

from bench.cli.main import main
from bench.cli.selection.dataset import parse_dataset
from bench.data_names import slugify_data
from bench.paper.experiments.tabular import TABULAR
from bench.paper.tables.table6 import Table6
from vera.errors import DataMissing, SettingError, UnknownName

EXAMPLE = ROOT / "docs" / "examples" / "two_classes.py"
COUNTED = "self.labels_per_class = labels_per_class\n"
CSV = {"labels_per_class": 10, "held_out": 0.1, "standardise": True}
"""Settings that are filled in."""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "some where" / "iris.csv"
    path.parent.mkdir()
    path.write_text("a,species\n1,x\n")
    return path


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
    code = "import sys, bench.cli.selection.dataset; print('torch' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert run.stdout == "False\n", run.stderr


@pytest.fixture
def planned(tmp_path, capsys):
    """(exit code, stderr) of planning Table 6 on the example, with this line at the end of `__init__`."""

    def plan(line, dataset="two-classes"):
        text = EXAMPLE.read_text(encoding="utf-8")
        assert COUNTED in text
        (tmp_path / "mine.py").write_text(
            text.replace(COUNTED, f"{COUNTED}        {line}\n"), encoding="utf-8"
        )
        where = [
            "--plugin",
            str(tmp_path / "mine.py"),
            "--profile",
            "smoke",
            "--results-dir",
            str(tmp_path / "results"),
        ]
        return main(["run", "table6", "--dataset", dataset, "--dry-run", *where]), capsys.readouterr().err

    return plan


def test_good_data_of_a_plugin_cause_no_note(planned):
    assert planned("pass") == (0, "")


def test_data_of_a_plugin_must_be_finite(planned):
    code, err = planned("self.x[:, 3] = torch.nan")
    assert code == 2
    assert all(fact in err for fact in ("'two-classes'", "1,600", "finite", "row"))
    assert len(err.splitlines()) == 1


def test_error_in_the_split_of_a_plugin_is_one_line(planned):
    code, err = planned("self.x = self.x[:1_000]")
    assert code == 2
    assert all(fact in err for fact in ("mine.py", "line", "'two-classes'"))
    assert len(err.splitlines()) == 1


def test_data_smaller_than_a_batch_are_refused(planned):
    code, err = planned(
        "self.split = lambda seed: Split(self, (self.x[:9], self.y[:9]), (self.x[9:], self.y[9:]), None)"
    )
    assert code == 2
    assert all(fact in err for fact in ("two-classes", "9", "1991", "64"))
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("iris.csv", "iris-csv"),
        ("a-b.csv", "a-b-csv"),
        ("my.parquet", "my-parquet"),
        ("digits-table", "digits-table"),
        ("SVHN", "svhn"),
        ("CIFAR10 (batches=1)", "cifar10-batches-1"),
        ("iris.csv (label=species)", "iris-csv-label-species"),
        ("iris.csv (held_out=0.2, label=species)", "iris-csv-held-out-0-2-label-species"),
    ],
)
def test_plain_name_is_part_of_the_file_name(data, name):
    assert slugify_data(data) == name


def test_different_data_have_different_file_names():
    texts = [
        "a-b.csv",
        "a_b.csv",
        "a b.csv",
        "A-b.csv",
        "a.b.csv",
        "a-b-csv",
        "a--b.csv",
        "数.csv",
        "данные.csv",
        "é.csv",
        ".csv",
    ]
    texts += [
        "a.csv (label=b)",
        "a.csv (label=B)",
        "a.csv (label=b c)",
        "a.csv (label=b-c)",
        "a.csv-label-b",
        "a-csv-label-b",
    ]
    names = [slugify_data(text) for text in texts]
    assert len(set(names)) == len(texts)
    assert all(re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)


def test_settings_of_a_file_are_part_of_its_table_name():
    file = {
        "name": "csv",
        "file": "iris.csv",
        "label": "species",
        "labels_per_class": 10,
        "held_out": 0.1,
        "standardise": True,
    }
    names = [
        TABULAR.other_data({**file, **change}, "laptop").name
        for change in ({}, {"labels_per_class": 5}, {"standardise": False})
    ]
    assert names == [
        "iris.csv (label=species)",
        "iris.csv (label=species, labels_per_class=5)",
        "iris.csv (label=species, standardise=false)",
    ]
    assert TABULAR.other_data({"name": "wine", "labels_per_class": 10}, "laptop").name == "wine"
    few = Table6({**file, "labels_per_class": 5}).names("laptop")
    assert few == (
        "table6-iris-csv-label-species-labels-per-class-5",
        "Table 6: accuracy with few labels on iris.csv (label=species, labels_per_class=5)",
    )
    human = TABULAR.other_data({"name": "human", "labels_per_class": 5}, "paper")
    assert (human.name, human.reference) == ("HUMAN (labels_per_class=5)", None), (
        "the paper has no value for five"
    )
    assert TABULAR.other_data({"name": "human", "labels_per_class": 10}, "paper").reference == "HUMAN"


def test_class_with_too_few_labels_is_noted(planned, tmp_path, capsys):
    code, err = planned("pass", "two-classes,labels_per_class=1000")
    assert code == 0
    assert all(fact in err for fact in ("two-classes", "labels_per_class is 1000", "2 of 2 classes", "'0' "))
    (tmp_path / "own.csv").write_text(
        "a,kind\n" + "".join(f"{i},{'rare' if i < 6 else 'usual'}\n" for i in range(100))
    )
    flags = ["--dry-run", "--profile", "smoke", "--results-dir", str(tmp_path / "results")]
    assert main(["run", "table6", "--dataset", f"csv:{tmp_path / 'own.csv'},label=kind", *flags]) == 0
    err = capsys.readouterr().err
    assert all(fact in err for fact in ("1 of 2 classes", "('rare' "))

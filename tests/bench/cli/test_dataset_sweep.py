"""Data of one's own in place of a table's: what is looked at before anything is trained, and what is said of
it."""

import re

import pytest
from engine_helpers import ROOT

from bench.cli.main import main
from bench.data_names import slugify_data
from bench.paper.experiments.tabular import TABULAR
from bench.paper.tables.table6 import Table6
from vera.spec.registry import datasets

EXAMPLE = ROOT / "docs" / "examples" / "two_classes.py"
COUNTED = "self.labels_per_class = labels_per_class\n"


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    monkeypatch.setattr(datasets, "_known", dict(datasets._entries))


@pytest.fixture
def planned(tmp_path, capsys):
    """(exit code, stderr) of planning Table 6 on the example, with this line after its last one in
    `__init__`."""

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


def test_data_of_a_plug_in_as_they_should_be_are_passed_over_in_silence(planned):
    assert planned("pass") == (0, "")


def test_data_of_a_plug_in_that_are_not_finite_are_refused_before_anything_is_trained(planned):
    code, err = planned("self.x[:, 3] = torch.nan")
    assert code == 2
    assert err.startswith(
        "vera: The data set 'two-classes' has 1,600 training points not finite in single precision, the first in row"
    )
    assert len(err.splitlines()) == 1


def test_what_goes_wrong_in_its_split_is_one_line_too(planned):
    code, err = planned("self.x = self.x[:1_000]")
    assert code == 2
    assert "mine.py failed in line" in err
    assert "splitting the data set 'two-classes'" in err


def test_too_few_points_of_a_plug_in_are_refused_once(planned):
    code, err = planned(
        "self.split = lambda seed: Split(self, (self.x[:9], self.y[:9]), (self.x[9:], self.y[9:]), None)"
    )
    assert (code, err) == (
        2,
        "vera: two-classes has 9 rows to train with and 1991 held out, and a batch takes 64: hold out fewer, or add rows.\n",
    )


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
def test_a_usual_name_is_that_of_its_files(data, name):
    assert slugify_data(data) == name


def test_data_of_different_names_have_files_of_their_own():
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


def test_one_file_with_other_settings_is_another_table():
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


def test_labels_that_a_class_does_not_have_are_said(planned, tmp_path, capsys):
    code, err = planned("pass", "two-classes,labels_per_class=1000")
    assert code == 0
    assert err.startswith(
        "vera: two-classes: labels_per_class is 1000; 2 of 2 classes have fewer rows to train with and show all ('0' "
    )
    (tmp_path / "own.csv").write_text(
        "a,kind\n" + "".join(f"{i},{'rare' if i < 6 else 'usual'}\n" for i in range(100))
    )
    flags = ["--dry-run", "--profile", "smoke", "--results-dir", str(tmp_path / "results")]
    assert main(["run", "table6", "--dataset", f"csv:{tmp_path / 'own.csv'},label=kind", *flags]) == 0
    assert "1 of 2 classes have fewer rows to train with and show all ('rare' " in capsys.readouterr().err

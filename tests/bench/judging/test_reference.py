"""Values of a paper, read from a CSV file."""

import pytest
from facts import raises_with

from bench.experiment import DataSetting, Line
from bench.judging.reference import PaperValues
from vera.errors import VeraError

TEXT = """artifact,dataset,method,variant,metric,value,higher_is_better
Table 1,MNIST,VERA,lambda=1,nats,-12.5,yes
Table 1,MNIST,VERA,lambda=0,nats,-20,yes
Table 1,MNIST,PCD,,nats,N/A,yes
Table 1,CIFAR10,PCD,,nats,-3,yes
Table 2,MNIST,,,epochs,10|20,NA
"""
MNIST = DataSetting("digits", {"name": "mnist"}, reference="MNIST")


@pytest.fixture
def values(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text(TEXT, encoding="utf-8")
    return PaperValues(path)


def test_a_value_is_found_by_any_of_its_fields(values):
    assert len(values.entries) == 5
    assert values.read_value("Table 1", method="VERA", variant="lambda=1") == -12.5
    assert values.read_value("Table 1", dataset="CIFAR10") == -3
    assert values.read_text("Table 2", metric="epochs") == "10|20"


def test_a_value_must_be_the_only_one(values):
    with raises_with(VeraError, "other.csv", "2 values", "Table 1", "VERA"):
        values.read_value("Table 1", method="VERA")
    with raises_with(VeraError, "0 values", "MEG"):
        values.read_text("Table 1", method="MEG")


def test_an_unknown_field_is_an_error(values):
    with raises_with(VeraError, "other.csv", "methd"):
        values.find("Table 1", methd="VERA")


def test_an_empty_field_is_matched_exactly(values):
    assert values.read_value("Table 1", dataset="CIFAR10", variant="") == -3
    assert values.find("Table 1", method="VERA", variant="") is None


def test_a_value_that_may_be_missing_is_none(values):
    assert values.find("Table 1", method="VERA", variant="lambda=0") == -20
    assert values.find("Table 1", method="MEG") is None
    assert values.find("Table 1", dataset="MNIST", method="PCD") is None, "printed as N/A"
    with raises_with(VeraError, "2 values"):
        values.find("Table 1", method="VERA")


def test_the_value_of_a_line_is_found_by_its_reference(values):
    line = Line("VERA", {"name": "vera"}, reference={"method": "VERA", "variant": "lambda=1"})
    assert values.find_for("Table 1", line, MNIST) == -12.5
    assert values.find_for("Table 1", line, MNIST, variant="lambda=0") == -20
    assert values.find_for("Table 2", line, MNIST) is None


def test_a_line_or_data_set_without_reference_has_no_value(values):
    line = Line("VERA", {"name": "vera"}, reference={"method": "VERA", "variant": "lambda=1"})
    assert values.find_for("Table 1", Line("ours", {"name": "vera"}), MNIST) is None
    assert values.find_for("Table 1", line, DataSetting("wine", {"name": "wine"})) is None
    assert values.find_for("Table 1", None, MNIST) is None, "a plug-in has no line"

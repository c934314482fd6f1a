"""Published tables on pages: whole tables, accuracies by data set, metrics of trials, links to files."""

import pytest
from bench_helpers import row_of

from bench.catalogue import catalogue
from bench.paper.pages.few_labels import render_few_labels
from bench.publishing import quotes
from bench.publishing.quoted_tables import render_tables, render_trials
from bench.publishing.quotes import QuotedTable
from bench.publishing.results_tables import link_files

HEAD = "dataset,method,{0},{0}_half_width,{0}_n,{0}_trials,{0}_paper,{0}_reason\n"


@pytest.fixture(autouse=True)
def published(tmp_path, monkeypatch):
    """Two lines on one data set at laptop, one on another at paper."""
    monkeypatch.setattr(quotes, "FOLDER", tmp_path)
    head = HEAD.format("test_accuracy")
    (tmp_path / "table6.csv").write_text(
        f"{head}wine,VERA,91.25,2.5,3,3,,\nwine,JEM,,,0,3,,diverged 3 of 3\nwine,MEG,,,0,0,,not run\n"
    )
    (tmp_path / "table6-paper.csv").write_text(f"{head}HUMAN,VERA,81.2,,1,1,89.9,\n")
    return tmp_path


def read_cells(text):
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "|" in line
    ]


def test_accuracies_have_a_column_per_data_set_and_the_papers_value():
    head, _, *lines = read_cells(render_few_labels())
    assert head == ["", "wine", "HUMAN, `paper`", "HUMAN, the paper's"]
    assert lines == [["VERA", "91.2 ± 2.5", "81.2", "89.9"], ["JEM", "diverged 3 of 3", "not run", ""]]


def test_whole_table_is_quoted_and_one_without_trials_names_its_command():
    tables = [
        QuotedTable("table6", "Small", "test_accuracy"),
        QuotedTable("table6", "Full", "test_accuracy", profile="paper"),
        QuotedTable("table5", "None", "f"),
        QuotedTable("table5", "None", "f", profile="paper"),
    ]
    text = render_tables(tables)
    assert [line[:2] for line in read_cells(text) if line[0] in ("wine", "HUMAN")] == [
        ["wine", "VERA"],
        ["wine", "JEM"],
        ["HUMAN", "VERA"],
    ]
    assert text.count("no published trials") == 1
    assert "`vera run table5`" in text


def test_metric_of_trials_has_a_column_per_profile():
    trial = next(trial for trial in catalogue.artifact("drift").trials("laptop") if trial.label == "ML")
    rows = [row_of(trial, seed, value, metric="x") for seed, value in enumerate((1.0, 3.0))]
    text = render_trials({"laptop": rows, "paper": rows[:1]}, ["ML", "PCD"], {"X": ("x", 1)})
    head, _, first, second = read_cells(text)
    assert head == ["", "X, `laptop`", "X, `paper`", "n"]
    assert first == ["ML", "2.0 ± 12.7", "1.0", "2, 1"]
    assert second == ["PCD", "", "", "0, 0"]


def test_files_of_an_artifact_are_linked(tmp_path):
    folder = tmp_path / "published"
    (folder / "tables").mkdir(parents=True)
    for name in ("table2.md", "table2-paper.md", "table2-with-k-5.md"):
        (folder / "tables" / name).touch()
    assert link_files("table2", folder) == (
        "[table](published/tables/table2.md) · [table paper](published/tables/table2-paper.md)"
    )

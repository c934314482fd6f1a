"""The notes of Table 6 on its tuning, from made-up tuning trials."""

from bench_helpers import row_of, store_rows
from tabular_records import lines_of

from bench.catalogue import catalogue
from bench.judging.cell import make_cell
from bench.paper.experiments.tabular import TABULAR
from bench.paper.tables.table6_tuning import describe_tuning, find_best

WINE = next(table for table in TABULAR.data("laptop") if table.name == "wine")


def make_tuning_rows():
    """Every configuration on wine; the last of each line has the highest mean of two seeds."""
    for line in TABULAR.lines:
        trials = TABULAR.grid_trials(line, "laptop", WINE)
        for trial in trials:
            for seed in (100, 101):
                yield row_of(trial, seed, 0.9 if trial is trials[-1] else 0.8, metric="test_accuracy")


def test_notes_count_tuning_trials_and_name_the_best(tmp_path):
    rows = [*make_tuning_rows()]
    results = store_rows(tmp_path / "whole", rows)
    _, counted, best = describe_tuning(results)
    count = len(catalogue.sweep("table6-grid").trials("laptop"))
    assert f"has {len(rows)} trials of {len(rows) // 2} of the {count} configurations" in counted
    assert "wine" in best
    for line in TABULAR.lines:
        assert TABULAR.grid_trials(line, "laptop", WINE)[-1].label in best
    assert best in catalogue.artifact("table6").render(results).notes
    part = store_rows(tmp_path / "part", [row for row in rows if row.method != "vat"])
    assert len([*describe_tuning(part)]) == 2, "the best are named where every line was tried"


def test_tuning_trials_are_not_in_the_table(tmp_path):
    sheet = catalogue.artifact("table6").render(store_rows(tmp_path, [*make_tuning_rows()]))
    assert lines_of(sheet, "wine")["VERA"]["test_accuracy"].reason == "not run"


def test_note_names_the_command_where_nothing_was_tried(tmp_path, monkeypatch):
    monkeypatch.setattr("bench.judging.tuning.PUBLISHED", str(tmp_path / "none"))
    _, note = describe_tuning(store_rows(tmp_path, []))
    assert "vera run table6-grid" in note


def test_configuration_that_diverged_less_is_better():
    cells = {
        "a": [("ok", 0.9), ("diverged", None)],
        "b": [("ok", 0.6), ("ok", 0.7)],
        "c": [("ok", 0.7), ("ok", 0.6)],
        "d": [("diverged", None), ("diverged", None)],
    }
    pairs = [(name, make_cell(outcomes)) for name, outcomes in cells.items()]
    assert find_best(pairs) == ["b", "c"]
    assert find_best(pairs[:1]) == ["a"]
    assert find_best(pairs[3:]) == []

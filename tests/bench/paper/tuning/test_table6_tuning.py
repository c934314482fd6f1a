"""The notes of Table 6 on its tuning, from made-up tuning trials."""

from bench_helpers import row_of, store_rows
from tabular_records import lines_of

from bench.catalogue import catalogue
from bench.judging.cell import make_cell
from bench.paper.experiments.tabular import LINES, TABULAR
from bench.paper.tuning.table6_tuning import describe_tuning, find_best, name_chosen

TABLE = next(table for table in TABULAR.data("laptop") if table.name == "digits 8 × 8")


def make_tuning_rows():
    """Every configuration on one data set; one of each line that it does not have has the highest mean."""
    for line in TABULAR.lines:
        best = find_other(line)
        for trial in TABULAR.grid_trials(line, "laptop", TABLE):
            for seed in (100, 101):
                accuracy = 0.9 if trial.label == best else 0.8
                yield row_of(trial, seed, accuracy, metric="test_accuracy")


def find_other(line):
    """The label of a configuration that the line does not have."""
    labels = [trial.label for trial in TABULAR.grid_trials(line, "laptop", TABLE)]
    return next(label for label in labels if label != name_chosen(line.label, TABLE))


def test_notes_count_tuning_trials_and_name_what_was_chosen(tmp_path):
    rows = [*make_tuning_rows()]
    results = store_rows(tmp_path, rows)
    counted, *others = describe_tuning(results)
    count = len(catalogue.sweep("table6-grid").trials("laptop"))
    assert f"has {len(rows)} trials of {len(rows) // 2} of the {count})" in counted
    assert any(f"Chosen on {TABLE.name}" in note and name_chosen("VERA", TABLE) in note for note in others)
    notes = catalogue.artifact("table6").render(results).notes
    assert {counted, *others} <= set(notes)


def test_notes_name_lines_that_do_not_have_the_best(tmp_path):
    _, *others = describe_tuning(store_rows(tmp_path, [*make_tuning_rows()]))
    named = [note for note in others if "not what was chosen" in note]
    assert len(named) == len(TABULAR.lines)
    for line, note in zip(TABULAR.lines, named, strict=True):
        assert note.endswith(f" {find_other(line)}.")
    chosen = [
        row for row in make_tuning_rows() if row.label in {name_chosen(line.label, TABLE) for line in LINES}
    ]
    assert not any("not what" in note for note in describe_tuning(store_rows(tmp_path / "chosen", chosen)))


def test_notes_name_data_sets_that_were_not_searched(tmp_path):
    notes = [*describe_tuning(store_rows(tmp_path, [*make_tuning_rows()]))]
    assert any("On wine nothing was searched" in note for note in notes)
    assert not any("Chosen on wine" in note for note in notes)


def test_tuning_trials_are_not_in_the_table(tmp_path):
    sheet = catalogue.artifact("table6").render(store_rows(tmp_path, [*make_tuning_rows()]))
    assert lines_of(sheet, TABLE.name)["VERA"]["test_accuracy"].reason == "not run"


def test_note_names_the_command_where_nothing_was_tried(tmp_path, monkeypatch):
    monkeypatch.setattr("bench.judging.tuning.PUBLISHED", str(tmp_path / "none"))
    (note,) = describe_tuning(store_rows(tmp_path, []))
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

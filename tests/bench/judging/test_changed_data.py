"""A data set whose content changed between trials: a table shows one content in all its lines and claims."""

import json
import shutil
from dataclasses import replace

import pytest
from bench_helpers import row_of, store_rows
from engine_helpers import ROOT

from bench.cli.main import main
from bench.cli.selection.dataset import fingerprint_file, parse_dataset
from bench.paper.tables.table6 import ACCURACY, Table6
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.matching import make_data_key
from vera.errors import SettingError

OLD, NEW = "a" * 16, "b" * 16


def row(trial, seed, value, fingerprint, day):
    made = row_of(trial, seed, value, metric=ACCURACY, finished_at=f"2026-01-{day:02}T00:00:00+00:00")
    spec = canonical_json(json.loads(made.spec) | {"data_fingerprint": fingerprint})
    return replace(
        made, trial_id=fingerprint[:8] + made.trial_id[8:], spec=spec, data_fingerprint=fingerprint
    )


@pytest.fixture
def user_table(tmp_path):
    """Table 6 on a user's file, and the value of `--dataset` for it."""
    shutil.copy(ROOT / "docs" / "examples" / "iris.csv", tmp_path / "my.csv")
    text = f"csv:{tmp_path / 'my.csv'},label=species"
    return Table6(parse_dataset(text)[0]), text


def make_mixed_rows(table, fingerprint, later):
    """Rows of every line with one content, then of VERA and Full-label with a later one."""
    trials = {trial.label: trial for trial in table.trials("smoke")}
    first = [
        row(trial, seed, 0.5 + seed / 10, fingerprint, 1) for trial in trials.values() for seed in (0, 1)
    ]
    again = [
        row(trials[label], seed, 0.9 + seed / 100, later, 2)
        for label in ("VERA", "Full-label")
        for seed in (0, 1)
    ]
    return trials, [*first, *again]


def test_all_lines_show_one_content_and_trials_of_others_count_as_not_run(user_table, tmp_path):
    table, _ = user_table
    trials, rows = make_mixed_rows(table, OLD, NEW)
    results = store_rows(tmp_path, rows)
    assert results.cell(trials["VERA"], ACCURACY).values == (0.9, 0.91)
    assert results.cell(trials["Full-label"], ACCURACY).n == 2, (
        "the number of labels does not change the data set"
    )
    assert results.cell(trials["Supervised"], ACCURACY).reason == "not run"
    (note,) = results.notes
    assert note.startswith("my.csv: its content changed between trials.")
    assert note.endswith(f"Shown is {NEW}, what was trained last; trials of {OLD} are left out.")
    evidence = table.claims[0].check(results).evidence
    assert evidence == "my.csv (label=species): Supervised has no value (not run)"


def test_the_content_of_the_file_is_shown_however_old_its_trials_are(user_table, tmp_path):
    table, text = user_table
    trials, rows = make_mixed_rows(table, OLD, NEW)
    results = store_rows(tmp_path, rows)
    results.file_fingerprints = {make_data_key(parse_dataset(text)[0]): OLD}
    assert results.copy_without_notes().cell(trials["VERA"], ACCURACY).values == (0.5, 0.6)
    assert results.copy_without_notes().cell(trials["Supervised"], ACCURACY).n == 2
    results.find_rows(trials["VERA"])
    assert results.notes[0].endswith(f"Shown is {OLD}, the file as it is; trials of {NEW} are left out.")


def test_render_shows_the_trials_of_the_current_file(user_table, tmp_path, capsys):
    table, text = user_table
    part, folder = parse_dataset(text)
    held = fingerprint_file(part, folder)
    store_rows(tmp_path, make_mixed_rows(table, held, NEW)[1])
    render = ["render", "table6", "--dataset", text, "--profile", "smoke", "--results-dir", str(tmp_path)]
    assert main(render) == 0
    out = capsys.readouterr().out
    assert "90.0" not in out
    assert out.count("55.0 ±") == 6, "every line"
    assert f"Shown is {held}, the file as it is; trials of {NEW} are left out." in out
    (tmp_path / "my.csv").write_text((tmp_path / "my.csv").read_text() + "5.0,3.0,1.5,0.2,setosa\n")
    assert main(render) == 2
    err = capsys.readouterr().err
    for fact in (f"trials of {', '.join(sorted([held, NEW]))} are left out", "table6", "smoke"):
        assert fact in err
    assert len(err.splitlines()) == 1


def test_the_fingerprint_of_a_file_is_that_of_its_trials_and_none_without_the_file(
    user_table, tmp_path, monkeypatch
):
    table, text = user_table
    part, folder = parse_dataset(text)
    monkeypatch.setenv("VERA_DATA", str(tmp_path))
    assert fingerprint_file(part, folder) == next(table.trials("smoke")).facts["data_fingerprint"]
    assert fingerprint_file(part, str(tmp_path / "elsewhere")) is None
    assert fingerprint_file(parse_dataset("wine")[0], None) is None
    with pytest.raises(SettingError):
        fingerprint_file({**part, "file": "../my.csv"}, folder)

"""A data set whose content changed between trials: one table shows one content, in its lines and in its
claims."""

import json
import shutil
from dataclasses import replace

import pytest
from bench_helpers import row_of, stored
from engine_helpers import ROOT

from bench.cli.dataset_flag import dataset_part, fingerprint_at_hand
from bench.cli.main import main
from bench.judging.results import data_key
from bench.paper.tables.table6 import ACCURACY, Table6
from sweeps.trial.canonical_json import canonical_json
from vera.errors import SettingError

OLD, NEW = "a" * 16, "b" * 16


def row(trial, seed, value, fingerprint, day):
    made = row_of(trial, seed, value, metric=ACCURACY, finished_at=f"2026-01-{day:02}T00:00:00+00:00")
    spec = canonical_json(json.loads(made.spec) | {"data_fingerprint": fingerprint})
    return replace(
        made, trial_id=fingerprint[:8] + made.trial_id[8:], spec=spec, data_fingerprint=fingerprint
    )


@pytest.fixture
def own(tmp_path):
    """Table 6 on a file, and `--dataset` for it."""
    shutil.copy(ROOT / "docs" / "examples" / "iris.csv", tmp_path / "my.csv")
    text = f"csv:{tmp_path / 'my.csv'},label=species"
    return Table6(dataset_part(text)[0]), text


def mixed(table, fingerprint, later):
    """Every line with one content, then VERA and Full-label once more with another."""
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


def test_one_content_is_shown_in_all_lines_and_the_others_are_not_run(own, tmp_path):
    table, _ = own
    trials, rows = mixed(table, OLD, NEW)
    results = stored(tmp_path, rows)
    assert results.cell(trials["VERA"], ACCURACY).values == (0.9, 0.91)
    assert results.cell(trials["Full-label"], ACCURACY).n == 2, (
        "however many labels it shows, it is the same data set"
    )
    assert results.cell(trials["Supervised"], ACCURACY).reason == "not run"
    assert results.notes == [
        f"my.csv: its content changed between trials. Shown is {NEW}, what was trained last; trials of {OLD} are left out."
    ]
    assert (
        table.claims[0].check(results).evidence == "my.csv (label=species): Supervised has no value (not run)"
    )


def test_a_content_of_which_every_trial_failed_hides_no_other(own, tmp_path):
    table, _ = own
    trials, rows = mixed(table, OLD, NEW)
    failed = [
        replace(one, outcome="error", metrics="{}") if one.data_fingerprint == NEW else one for one in rows
    ]
    assert stored(tmp_path, failed).cell(trials["VERA"], ACCURACY).values == (0.5, 0.6)


def test_a_file_that_is_at_hand_decides_however_old_its_trials_are(own, tmp_path):
    table, text = own
    trials, rows = mixed(table, OLD, NEW)
    results = stored(tmp_path, rows)
    results.at_hand = {data_key(dataset_part(text)[0]): OLD}
    assert results.apart().cell(trials["VERA"], ACCURACY).values == (0.5, 0.6)
    assert results.apart().cell(trials["Supervised"], ACCURACY).n == 2
    results.like(trials["VERA"])
    assert results.notes[0].endswith(f"Shown is {OLD}, the file as it is; trials of {NEW} are left out.")


def test_other_data_of_one_name_are_not_other_content(own, tmp_path):
    trials = [Table6({"name": "two", "variant": variant}).trials("smoke") for variant in (1, 2)]
    (one, *_), (two, *_) = map(list, trials)
    results = stored(tmp_path, [row(one, 0, 0.5, OLD, 1), row(two, 0, 0.6, NEW, 2)])
    assert (len(results.like(one)), len(results.like(two)), results.notes) == (1, 1, [])


def test_render_shows_the_trials_of_the_file_as_it_is(own, tmp_path, capsys):
    table, text = own
    part, folder = dataset_part(text)
    held = fingerprint_at_hand(part, folder)
    stored(tmp_path, mixed(table, held, NEW)[1])
    render = ["render", "table6", "--dataset", text, "--profile", "smoke", "--results-dir", str(tmp_path)]
    assert main(render) == 0
    out = capsys.readouterr().out
    assert "90.0" not in out
    assert out.count("55.0 ±") == 6, "every line"
    assert f"Shown is {held}, the file as it is; trials of {NEW} are left out." in out
    (tmp_path / "my.csv").write_text((tmp_path / "my.csv").read_text() + "5.0,3.0,1.5,0.2,setosa\n")
    assert main(render) == 2
    err = capsys.readouterr().err
    assert (
        f"the file as it is; trials of {', '.join(sorted([held, NEW]))} are left out. table6 has no trial of the smoke"
        in err
    )
    assert len(err.splitlines()) == 1


def test_a_fingerprint_is_that_of_a_trial_and_none_without_a_file(own, tmp_path, monkeypatch):
    table, text = own
    part, folder = dataset_part(text)
    monkeypatch.setenv("VERA_DATA", str(tmp_path))
    assert fingerprint_at_hand(part, folder) == next(table.trials("smoke")).facts["data_fingerprint"]
    assert fingerprint_at_hand(part, str(tmp_path / "elsewhere")) is None
    assert fingerprint_at_hand(dataset_part("wine")[0], None) is None
    with pytest.raises(SettingError):
        fingerprint_at_hand({**part, "file": "../my.csv"}, folder)

"""The rows of one profile as tables and figures read them: cells, curves, notes, their location, and the
first seed of a trial."""

import numpy as np
import pytest
from bench_helpers import row_of, store_rows
from facts import raises_with
from toys_helpers import record_of, results_of

from bench.judging.results import Results, find_first_rows, find_first_seed, open_store
from sweeps.errors import StoreError
from sweeps.store.row import CurvePoint, Record
from sweeps.store.store import Store
from sweeps.trial.identity import Trial
from vera.spec.trial_spec import TrialSpec


def trial(profile="laptop", **method):
    dataset, networks = {"name": "digits", "side": 14}, {"energy": {"name": "mlp", "hidden": (8, 8)}}
    return Trial(
        TrialSpec(dataset, networks, {"name": "pcd", "noise": 0.1, **method}, 10), profile, label="PCD"
    )


def seeds(rows):
    return [row.seed for row in rows]


def test_the_notes_of_a_choice_are_taken_once(tmp_path):
    old = row_of(trial(), 0, 1.0, defaults={"lr": 0.1}, finished_at="2026-01-01")
    new = row_of(trial(), 0, 5.0, defaults={"lr": 0.2}, finished_at="2026-01-02")
    results = store_rows(tmp_path, [old, new])
    assert results.cell(trial(), "likelihood").values == (5.0,)
    assert results.find_all_rows([trial(), trial()]) == [new, new]
    assert results.notes == [
        "PCD on digits: 2 variants of it are in the store; shown is the one that finished last."
    ]


def test_a_restart_leaves_a_note(tmp_path):
    restarted = row_of(trial(), 1, 1.0, restarts='[{"reason":"loss is nan","seed":1,"step":3}]')
    results = store_rows(tmp_path, [row_of(trial(), 0, 1.0), restarted])
    assert results.cell(trial(), "likelihood").n == 2
    assert results.notes == ["PCD on digits: 1 of 2 trials began again after a divergence."]


def test_a_copy_has_its_own_notes_and_does_not_read_the_rows_again(tmp_path, monkeypatch):
    results = store_rows(tmp_path, [row_of(trial(), 0, 1.0, restarts='[{"seed":1}]')])
    results.find_rows(trial())
    monkeypatch.setattr(results.store, "read_rows", lambda: pytest.fail("read again"))
    other = results.copy_without_notes()
    assert other.notes == []
    assert (other.rows, other.profile, other.source) == (results.rows, results.profile, results.source)
    assert len(other.find_rows(trial())) == 1
    assert len(other.notes) == len(results.notes) == 1


def test_rows_of_another_profile_or_protocol_are_not_read(tmp_path):
    rows = [row_of(trial()), row_of(trial(), 1, protocol=0), row_of(trial("paper"))]
    results = store_rows(tmp_path, rows)
    assert seeds(results.rows) == [0]
    assert seeds(results.find_rows(trial())) == [0]
    assert [row.profile for row in Results(results.store, "paper").rows] == ["paper"]


def test_a_cell_holds_values_outcomes_and_the_papers_value(tmp_path):
    rows = [row_of(trial(), 0, -1.0), row_of(trial(), 1, -3.0), row_of(trial(), 2, -99.0, "diverged")]
    results = store_rows(tmp_path, rows)
    cell = results.cell(trial(), "likelihood", -2.5)
    assert (cell.values, cell.outcomes, cell.paper) == ((-1.0, -3.0), ("ok", "ok", "diverged"), -2.5)
    assert results.cell(trial(), "accuracy").reason == "diverged 1 of 3, not measured 2 of 3"
    assert results.cell(trial(noise=7.0), "likelihood").reason == "not run"


def test_curves_are_read_once_and_a_trial_without_arrays_has_none(tmp_path, monkeypatch):
    row = row_of(trial())
    results = store_rows(tmp_path, [])
    points = [CurvePoint(row.trial_id, "training", "loss", 1, 0.5)]
    results.store.write(Record(row, points))
    assert results.read_curves(row) == points
    assert results.read_arrays(row) == {}
    monkeypatch.setattr(results.store, "read_curves", lambda _: pytest.fail("read again"))
    assert results.copy_without_notes().read_curves(row) == points


def test_curves_of_many_trials_are_read_together(tmp_path, monkeypatch):
    rows = [row_of(trial(), seed) for seed in (0, 1)]
    results = store_rows(tmp_path, rows)
    point = CurvePoint(rows[0].trial_id, "training", "loss", 1, 0.5)
    results.store.write(Record(rows[0], [point]))
    results.load_curves(rows)
    monkeypatch.setattr(results.store, "read_curves", lambda _: pytest.fail("read again"))
    assert [results.read_curves(row) for row in rows] == [[point], []]


def test_a_directory_that_does_not_exist_is_an_error_and_is_not_created(tmp_path):
    with raises_with(StoreError, str(tmp_path / "nowhere"), "no such directory"):
        Results(open_store(tmp_path / "nowhere"), "laptop")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("location", "source", "flag"),
    [
        ("results/local", "local", ""),
        ("results/published", "published", ""),
        ("my results", "local", " --results-dir 'my results'"),
    ],
)
def test_a_command_names_the_location_of_rows_that_it_would_not_find(
    location, source, flag, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert Results(Store(f"{location}/trials"), "laptop", source).flag == flag


def make_trial(steps=5):
    return Trial(TrialSpec({"name": "moons"}, {"energy": {"name": "mixture"}}, {"name": "ml"}, steps))


def test_the_lowest_seed_is_shown_with_its_arrays_and_metrics(tmp_path):
    records = [
        record_of(make_trial(), seed, arrays={"images": np.full(3, seed)}, loss=float(seed))
        for seed in (2, 1)
    ]
    first = find_first_seed(results_of(tmp_path, records), make_trial())
    assert (first.row.seed, first.is_ok, first.outcome, first.failure) == (1, True, "ok", "")
    assert (list(first.arrays["images"]), first.metrics) == ([1, 1, 1], {"loss": 1.0})


def test_a_trial_without_rows_was_not_run(tmp_path):
    first = find_first_seed(results_of(tmp_path, []), make_trial())
    assert (first.row, first.is_ok, first.outcome, first.failure) == (None, False, "not run", "not run")
    assert (first.arrays, first.metrics) == ({}, {})


def test_a_failed_first_seed_is_shown_unless_only_ok_is_asked_for(tmp_path):
    records = [
        record_of(make_trial(1_000_000), 0, "out_of_memory", step=12_345),
        record_of(make_trial(1_000_000), 1),
    ]
    results = results_of(tmp_path, records)
    first = find_first_seed(results, make_trial(1_000_000))
    assert (first.row.seed, first.is_ok) == (0, False)
    assert (first.outcome, first.failure) == ("out of memory", "out of memory at step 12,345")
    assert find_first_seed(results, make_trial(1_000_000), only_ok=True).row.seed == 1


def test_first_rows_leave_out_trials_that_were_not_run(tmp_path):
    results = results_of(tmp_path, [record_of(make_trial(), seed) for seed in (0, 1)])
    assert [row.seed for row in find_first_rows(results, [make_trial(), make_trial(7)])] == [0]

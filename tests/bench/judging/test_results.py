"""The rows of a declared trial: found by all that it declares, whatever its seed and whatever it leaves
open."""

import pytest
from bench_helpers import row_of, stored

from bench.judging.results import Results
from sweeps.errors import StoreError
from sweeps.store.row import CurvePoint, Record
from sweeps.store.store import Store
from sweeps.trial.identity import Trial
from vera.spec.trial_spec import TrialSpec

DIGITS, ENERGY = {"name": "digits", "side": 14}, {"energy": {"name": "mlp", "hidden": (8, 8)}}


def trial(profile="laptop", steps=10, dataset=DIGITS, networks=ENERGY, **method):
    return Trial(
        TrialSpec(dataset, networks, {"name": "pcd", "noise": 0.1, **method}, steps), profile, label="PCD"
    )


def seeds(rows):
    return [row.seed for row in rows]


def test_a_trial_is_found_under_every_seed_in_their_order(tmp_path):
    results = stored(tmp_path, [row_of(trial(), seed, 1.0, defaults={"lr": 1e-3}) for seed in (2, 0, 1)])
    assert seeds(results.like(trial())) == [0, 1, 2]
    assert results.notes == []


@pytest.mark.parametrize(
    "other",
    [
        trial(noise=0.2),
        trial(momentum=0.9),
        trial(name="ml"),
        trial(steps=11),
        trial(dataset={"name": "digits", "side": 28}),
        trial(networks={"energy": {"name": "mlp", "hidden": (8, 8, 8)}}),
        trial(networks={**ENERGY, "generator": {"name": "mlp-generator"}}),
    ],
)
def test_what_a_row_does_not_say_is_another_trial(tmp_path, other):
    assert stored(tmp_path, [row_of(trial())]).like(other) == []


def test_a_setting_that_is_left_open_may_have_any_value_and_numbers_are_equal_in_any_spelling(tmp_path):
    results = stored(tmp_path, [row_of(trial(entropy_weight=1.0))])
    assert len(results.like(trial())) == 1
    assert len(results.like(trial(entropy_weight=1))) == 1


def test_of_two_variants_the_one_that_finished_last_counts_and_a_note_says_so(tmp_path):
    old = [
        row_of(trial(), seed, 1.0, defaults={"lr": 0.1}, finished_at=f"2026-01-01T00:00:0{seed}")
        for seed in (0, 1)
    ]
    new = row_of(trial(), 0, 5.0, defaults={"lr": 0.2}, finished_at="2026-01-02T00:00:00")
    results = stored(tmp_path, [*old, new])
    assert results.cell(trial(), "likelihood").values == (5.0,)
    results.like(trial())
    assert results.notes == [
        "PCD on digits: 2 variants of it are in the store; shown is the one that finished last."
    ]


def test_a_restart_is_never_silent(tmp_path):
    begun_again = row_of(trial(), 1, 1.0, restarts='[{"reason":"loss is nan","seed":1,"step":3}]')
    results = stored(tmp_path, [row_of(trial(), 0, 1.0), begun_again])
    assert results.cell(trial(), "likelihood").n == 2
    assert results.notes == ["PCD on digits: 1 of 2 trials began again after a divergence."]


def test_notes_are_each_readers_own_and_rows_are_read_once(tmp_path, monkeypatch):
    results = stored(tmp_path, [row_of(trial(), 0, 1.0, restarts='[{"seed":1}]')])
    results.like(trial())
    monkeypatch.setattr(results.store, "rows", lambda: pytest.fail("read again"))
    other = results.apart()
    assert other.notes == []
    assert (other.rows, other.profile, other.source) == (results.rows, results.profile, results.source)
    assert len(other.like(trial())) == 1
    assert len(other.notes) == len(results.notes) == 1


def test_rows_of_another_profile_or_protocol_are_not_seen(tmp_path):
    rows = [row_of(trial()), row_of(trial(), 1, protocol=0), row_of(trial("paper"))]
    results = stored(tmp_path, rows)
    assert seeds(results.rows) == [0]
    assert seeds(results.like(trial())) == [0]
    assert [row.profile for row in Results(results.store, "paper").rows] == ["paper"]


def test_a_cell_holds_values_endings_and_the_papers_value(tmp_path):
    rows = [row_of(trial(), 0, -1.0), row_of(trial(), 1, -3.0), row_of(trial(), 2, -99.0, "diverged")]
    cell = stored(tmp_path, rows).cell(trial(), "likelihood", -2.5)
    assert (cell.values, cell.outcomes, cell.paper) == ((-1.0, -3.0), ("ok", "ok", "diverged"), -2.5)
    assert stored(tmp_path, rows).cell(trial(), "accuracy").reason == "diverged 1 of 3, not measured 2 of 3"
    assert stored(tmp_path, rows).cell(trial(noise=7.0), "likelihood").reason == "not run"


def test_curves_of_a_row(tmp_path):
    row = row_of(trial())
    results = stored(tmp_path, [])
    points = [CurvePoint(row.trial_id, "training", "loss", 1, 0.5)]
    results.store.write(Record(row, points))
    assert results.curves(row) == points
    assert results.arrays(row) == {}


def test_a_folder_without_a_store_is_one_clear_error(tmp_path):
    with pytest.raises(StoreError, match="no such directory"):
        Results.at(tmp_path / "nowhere", "laptop")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("folder", "source", "flag"),
    [
        ("results/local", "local", ""),
        ("results/published", "published", ""),
        ("my results", "local", " --results-dir 'my results'"),
    ],
)
def test_a_command_names_the_place_of_its_rows_where_it_is_not_the_usual_one(
    folder, source, flag, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert Results(Store(f"{folder}/trials"), "laptop", source).flag == flag

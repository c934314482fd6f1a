"""Matching of stored rows to declared trials: declared settings decide, seeds and open settings do not."""

import json
from dataclasses import replace

import pytest
from engine_helpers import row_of

from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Trial
from sweeps.trial.matching import TUNING_SEED, RowMatcher, is_declared_in, make_data_key
from vera.spec.trial_spec import TrialSpec

DIGITS, ENERGY = {"name": "digits", "side": 14}, {"energy": {"name": "mlp", "hidden": (8, 8)}}
OLD, NEW = "a" * 16, "b" * 16


def trial(profile="laptop", steps=10, dataset=DIGITS, networks=ENERGY, seed=0, **method):
    spec = TrialSpec(dataset, networks, {"name": "pcd", "noise": 0.1, **method}, steps, seed=seed)
    return Trial(spec, profile, label="PCD")


def row_with_content(trial, seed, fingerprint, day, **changes):
    """A row that finished on this day, with this content of its data."""
    row = row_of(trial, seed, 0.5, finished_at=f"2026-01-{day:02}T00:00:00+00:00", **changes)
    spec = canonical_json(json.loads(row.spec) | {"data_fingerprint": fingerprint})
    return replace(row, trial_id=fingerprint[:8] + row.trial_id[8:], spec=spec, data_fingerprint=fingerprint)


def match(rows, declared, file_fingerprints=None):
    return RowMatcher(rows, file_fingerprints).match(declared)


def seeds(rows):
    return [row.seed for row in rows]


def test_rows_of_every_seed_match_and_are_ordered_by_seed():
    found = match([row_of(trial(), seed, defaults={"lr": 1e-3}) for seed in (2, 0, 1)], trial())
    assert seeds(found.rows) == [0, 1, 2]
    assert found.notes == []


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
def test_a_row_with_another_value_of_a_declared_setting_does_not_match(other):
    assert match([row_of(trial())], other).rows == []


def test_an_open_setting_may_have_any_value_and_numbers_match_in_any_spelling():
    row = row_of(trial(entropy_weight=1.0))
    assert match([row], trial()).rows == [row]
    assert match([row], trial(entropy_weight=1)).rows == [row]


@pytest.mark.parametrize(
    ("declared", "stored", "expected"),
    [
        ({"a": 1}, {"a": 1.0, "b": 2}, True),
        ({"a": {"b": (1, 2)}}, {"a": {"b": [1, 2]}}, True),
        ({"a": None}, {}, False),
        ({"a": {}}, {"a": 1}, False),
        ((1, 2), [1, 2, 3], False),
        ((1, 2), [2, 1], False),
        ((1,), 1, False),
    ],
)
def test_mappings_may_hold_further_keys_and_lists_may_not(declared, stored, expected):
    assert is_declared_in(declared, stored) is expected


@pytest.mark.parametrize(("declared", "matches"), [(0.0, True), (False, True), (None, False), (0.03, False)])
def test_a_setting_declared_as_off_matches_a_row_without_it(declared, matches):
    rows = [row_of(trial(), 0)]
    assert bool(match(rows, trial(data_noise=declared)).rows) == matches
    assert not match([row_of(trial(data_noise=0.03), 0)], trial(data_noise=0.0)).rows


def test_tuning_seeds_and_table_seeds_are_never_mixed():
    rows = [row_of(trial(), seed, finished_at="2026-01-01") for seed in (0, 1, TUNING_SEED, TUNING_SEED + 7)]
    assert seeds(match(rows, trial(seed=1)).rows) == [0, 1]
    assert seeds(match(rows, trial(seed=TUNING_SEED)).rows) == [TUNING_SEED, TUNING_SEED + 7]


def test_the_latest_variant_counts_and_a_note_says_so():
    old = [
        row_of(trial(), seed, defaults={"lr": 0.1}, finished_at=f"2026-01-01T00:00:0{seed}")
        for seed in (0, 1)
    ]
    new = row_of(trial(), 0, defaults={"lr": 0.2}, finished_at="2026-01-02")
    found = match([*old, new], trial())
    assert found.rows == [new]
    assert found.notes == [
        "PCD on digits: 2 variants of it are in the store; shown is the one that finished last."
    ]


def test_the_content_trained_on_last_counts_for_every_trial_of_the_data():
    other = trial(noise=0.2)
    rows = [
        *(row_with_content(trial(), seed, OLD, 1) for seed in (0, 1)),
        row_with_content(trial(), 0, NEW, 2),
        row_with_content(other, 0, OLD, 1),
    ]
    assert [row.data_fingerprint for row in match(rows, trial()).rows] == [NEW]
    found = match(rows, other)
    assert found.rows == []
    assert found.notes == [
        f"digits: its content changed between trials. Shown is {NEW}, what was trained last; "
        f"trials of {OLD} are left out."
    ]


def test_a_content_on_which_every_trial_failed_does_not_hide_another():
    rows = [row_with_content(trial(), 0, OLD, 1), row_with_content(trial(), 0, NEW, 2, outcome="error")]
    assert [row.data_fingerprint for row in match(rows, trial()).rows] == [OLD]
    assert len(match(rows[1:], trial()).rows) == 1, "without another content its failures are shown"


def test_the_content_of_a_file_counts_however_old_its_rows_are():
    rows = [row_with_content(trial(), 0, OLD, 1), row_with_content(trial(), 0, NEW, 2)]
    found = match(rows, trial(), {make_data_key(DIGITS): OLD})
    assert [row.data_fingerprint for row in found.rows] == [OLD]
    assert found.notes[0].endswith(f"Shown is {OLD}, the file as it is; trials of {NEW} are left out.")


def test_data_that_differ_in_a_setting_are_not_contents_of_one_data_set():
    one, two = (trial(dataset={"name": "two", "variant": variant}) for variant in (1, 2))
    rows = [row_with_content(one, 0, OLD, 1), row_with_content(two, 0, NEW, 2)]
    assert [match(rows, declared).rows for declared in (one, two)] == [rows[:1], rows[1:]]
    assert match(rows, one).notes == []


def test_the_number_of_labels_is_no_part_of_the_content():
    ten, every = ({"name": "csv", "file": "my.csv", "labels_per_class": n} for n in (10, None))
    assert make_data_key(ten) == make_data_key(every) != make_data_key({**ten, "file": "other.csv"})


def test_row_of_a_variant_matches_only_trials_that_declare_the_changed_setting():
    row = row_of(trial(), 0, 0.5, defaults={"sampler_steps": 40}, sweep="table2 [method.sampler_steps]")
    assert match([row], trial()).rows == [], "this trial leaves sampler_steps open"
    assert match([row], trial(sampler_steps=40)).rows == [row]
    assert match([replace(row, sweep="table2")], trial()).rows == [replace(row, sweep="table2")]


def test_row_of_a_variant_does_not_replace_the_original():
    own = row_of(trial(), 0, 0.5, defaults={"sampler_steps": 20}, finished_at="2026-01-01T00:00:00+00:00")
    later = row_of(trial(), 0, 0.7, defaults={"sampler_steps": 40}, sweep="table2 [method.sampler_steps]",
                   finished_at="2026-02-01T00:00:00+00:00")  # fmt: skip
    found = match([own, later], trial())
    assert (found.rows, found.notes) == ([own], [])


def test_changed_field_of_a_variant_is_always_declared():
    row = row_of(trial(steps=7), 0, 0.5, sweep="table2 [steps]")
    assert match([row], trial(steps=7)).rows == [row]
    assert match([row], trial()).rows == []

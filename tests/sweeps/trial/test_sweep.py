"""Sweeps by name, sweeps of a spec file or a stored row, and the filter --only."""

import json

import pytest
from engine_helpers import make_row
from facts import raises_with

from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.filter import explain_no_match, filter_trials
from sweeps.trial.sweep import find_sweep, make_sweep_from_row, sweep, sweeps
from vera.errors import SettingError, UnknownName, VeraError

TRIALS = find_sweep("toy-demo").trials("smoke")


def test_toy_demo_is_three_methods_by_three_seeds():
    assert len({trial.id for trial in TRIALS}) == 9
    assert {trial.spec.method["name"] for trial in TRIALS} == {"ml", "vera", "pcd"}
    assert {trial.sweep for trial in TRIALS} == {"toy-demo"}


def test_profiles_are_different_trials():
    ids = {
        trial.id
        for profile in ("smoke", "laptop", "paper")
        for trial in find_sweep("toy-demo").trials(profile)
    }
    assert len(ids) == 27


def test_a_spec_file_with_an_unknown_key_is_refused(tmp_path):
    file, trial = tmp_path / "mine.json", TRIALS[0]
    written = {"label": "mine", "profile": "smoke", "spec": trial.spec.to_dict()}
    file.write_text(json.dumps(written))
    assert find_sweep(f"spec:{file}").trials("smoke", [trial.spec.seed])[0].id == trial.id
    file.write_text(json.dumps(written | {"lable": "mine"}))
    with raises_with(SettingError, str(file), "'lable'", "label, profile, spec", "Did you mean label"):
        find_sweep(f"spec:{file}")


def test_given_seeds_replace_the_default_seeds():
    assert [t.spec.seed for t in find_sweep("toy-demo").trials("smoke", [7])] == [7, 7, 7]
    assert find_sweep("toy-demo").trials("smoke", []) == []


@pytest.mark.parametrize(
    ("only", "count"),
    [
        ([], 9),
        (["method=vera"], 3),
        (["method = vera", "seed=1"], 1),
        (["label=PCD"], 3),
        (["dataset=moons", "energy=mixture", "task=density"], 9),
        (["seed=9"], 0),
    ],
)
def test_only_selects_the_trials_that_match_every_pair(only, count):
    assert len(filter_trials(TRIALS, only)) == count


def test_only_selects_by_the_settings_of_a_method():
    vera_trials = filter_trials(TRIALS, ["method=vera"])
    assert filter_trials(vera_trials, ["method.entropy_weight=1.0"]) == vera_trials
    assert filter_trials(vera_trials, ["method.entropy_weight=2.0"]) == []


@pytest.mark.parametrize(
    ("only", "facts"),
    [
        ("metod=vera", ["'metod'", "method"]),
        ("lr=0.1", ["'lr'", "Did you mean method.lr"]),
        ("method.entropy_wieght=1", ["Did you mean method.entropy_weight"]),
        ("method.zzz=1", ["'method.zzz'", "entropy_weight"]),
        ("vera", ["key=value", "'vera'"]),
    ],
)
def test_a_mistyped_only_is_an_error_with_a_suggestion(only, facts):
    with raises_with(SettingError, *facts):
        filter_trials(TRIALS, [only])


def test_a_stored_row_becomes_a_sweep_with_other_seeds():
    row = make_row(TRIALS[0].id, spec=canonical_json(TRIALS[0].facts), label="ML", profile="smoke")
    again = make_sweep_from_row(row)
    assert again.name == f"trial-{TRIALS[0].id[:8]}"
    first, other = again.trials("laptop", [TRIALS[0].spec.seed, 7])
    assert first.id == TRIALS[0].id
    assert (other.profile, other.label, other.spec.seed) == ("smoke", "ML", 7)


def test_an_unknown_sweep_is_an_error_with_a_suggestion():
    with raises_with(UnknownName, "toy-dmo", "toy-demo"):
        find_sweep("toy-dmo")


def test_a_plugin_adds_a_sweep(trouble_plugin):
    assert {"faults", "toy-demo"} <= set(sweeps.names())
    assert [trial.name for trial in find_sweep("faults").trials("smoke")] == [
        "good",
        "raises",
        "diverges",
        "slow",
    ]


def test_only_compares_numbers_as_numbers_and_skips_trials_without_the_key():
    assert {trial.label for trial in filter_trials(TRIALS, ["method.lr=1e-3"])} == {"ML", "VERA", "PCD"}
    assert {trial.label for trial in filter_trials(TRIALS, ["method.entropy_weight=1"])} == {"VERA"}


@pytest.mark.parametrize(
    ("only", "fact"),
    [
        (["method=VERA"], "Did you mean vera"),
        (["seed=7"], "0, 1, 2"),
        (["method=ml,pcd"], "one value"),
        (["method=ml", "label=VERA"], "every --only"),
    ],
)
def test_a_filter_that_matches_nothing_is_explained(only, fact):
    assert filter_trials(TRIALS, only) == []
    assert fact in explain_no_match(TRIALS, only)


def test_a_name_that_another_sweep_has_is_refused():
    def mine(profile, seeds):
        return iter(())

    with raises_with(VeraError, "'toy-demo'", "sweeps.trial.sweep", "'my-toy-demo'"):
        sweep("toy-demo", "not the demo")(mine)
    assert find_sweep("toy-demo").trials("smoke")[:9] == TRIALS

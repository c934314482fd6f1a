"""Sweeps by name, and --only."""

import json

import pytest
from engine_helpers import make_row

from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.filter import matching
from sweeps.trial.sweep import find_sweep, of_row, sweep, sweeps
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


def test_a_spec_file_has_no_other_keys_than_those_that_are_written(tmp_path):
    file, trial = tmp_path / "mine.json", TRIALS[0]
    written = {"label": "mine", "profile": "smoke", "spec": trial.spec.to_dict()}
    file.write_text(json.dumps(written))
    assert find_sweep(f"spec:{file}").trials("smoke", [trial.spec.seed])[0].id == trial.id
    file.write_text(json.dumps(written | {"lable": "mine"}))
    with pytest.raises(
        SettingError, match=r"it has 'lable', which is none of label, profile, spec. Did you mean label"
    ):
        find_sweep(f"spec:{file}")


def test_seeds_replace_the_sweeps_own():
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
def test_only_keeps_the_trials_for_which_all_holds(only, count):
    assert len(matching(TRIALS, only)) == count


def test_only_knows_the_settings_of_a_method():
    vera_trials = matching(TRIALS, ["method=vera"])
    assert matching(vera_trials, ["method.entropy_weight=1.0"]) == vera_trials
    assert matching(vera_trials, ["method.entropy_weight=2.0"]) == []


@pytest.mark.parametrize(("only", "words"), [("metod=vera", "method"), ("vera", "key=value")])
def test_a_mistyped_only_is_answered_with_what_there_is(only, words):
    with pytest.raises(SettingError, match=words):
        matching(TRIALS, [only])


def test_a_stored_trial_is_a_sweep_of_its_own_with_other_seeds():
    row = make_row(TRIALS[0].id, spec=canonical_json(TRIALS[0].facts), label="ML", profile="smoke")
    again = of_row(row)
    assert again.name == f"trial-{TRIALS[0].id[:8]}"
    first, other = again.trials("laptop", [TRIALS[0].spec.seed, 7])
    assert first.id == TRIALS[0].id
    assert (other.profile, other.label, other.spec.seed) == ("smoke", "ML", 7)


def test_an_unknown_sweep_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="toy-demo"):
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
    from sweeps.trial.filter import matching
    from sweeps.trial.sweep import find_sweep

    trials = find_sweep("toy-demo").trials("smoke")
    assert {trial.label for trial in matching(trials, ["method.lr=1e-3"])} == {"ML", "VERA", "PCD"}
    assert {trial.label for trial in matching(trials, ["method.entropy_weight=1"])} == {"VERA"}


def test_a_sweep_does_not_take_the_name_of_another():
    def mine(profile, seeds):
        return iter(())

    with pytest.raises(
        VeraError,
        match=r"sweep name 'toy-demo' is taken by sweeps.trial.demo.*another name, such as 'my-toy-demo'",
    ):
        sweep("toy-demo", "not the demo")(mine)
    assert len(find_sweep("toy-demo").trials("smoke")) == 9

"""Variants of trials: settings by dotted path, labels and sweep names that tell what was changed."""

import numpy as np
import pytest
from facts import raises_with

from sweeps.trial.identity import Trial
from sweeps.trial.variant import (
    change_spec,
    find_changed_paths,
    get_base_name,
    make_variant,
    name_variants,
    suggest_path,
)
from vera.errors import SettingError, UnknownName
from vera.spec.resolve import list_settings
from vera.spec.trial_spec import TrialSpec

NETWORKS = {"energy": {"name": "mlp", "hidden": [8]}, "generator": {"name": "mlp-generator"}}
SPEC = TrialSpec({"name": "moons"}, NETWORKS, {"name": "vera", "lr": 1e-3}, steps=10)
TRIAL = Trial(SPEC, "smoke", "table2", "VERA λ=1")


@pytest.mark.parametrize(
    ("path", "value"),
    [("method.k", 5), ("method.lr", 3e-4), ("networks.energy.hidden", [4, 4]), ("steps", 7), ("seed", 3)],
)
def test_setting_is_changed_by_its_path_and_nothing_else_is(path, value):
    changed = change_spec(SPEC, {path: value}).to_dict()
    inner, before = changed, SPEC.to_dict()
    *parents, name = path.split(".")
    for parent in parents:
        inner, before = inner[parent], before[parent]
    assert inner[name] == value
    inner.pop(name)
    before.pop(name, None)
    assert inner == before
    assert SPEC.method == {"name": "vera", "lr": 1e-3}


def test_setting_of_a_task_that_is_given_by_name():
    networks = {"generator": {"name": "mlp-generator"}, "energy": {"name": "mlp"}}
    spec = TrialSpec({"name": "stacked-mnist"}, networks, {"name": "vera"}, steps=5, task="modes")
    assert change_spec(spec, {"task.samples": 50}).task == {"name": "modes", "samples": 50}


def test_numpy_numbers_are_plain_in_the_spec():
    changed = change_spec(SPEC, {"method.k": np.int64(5), "method.lr": np.float64(1e-4)})
    assert [type(changed.method[name]) for name in ("k", "lr")] == [int, float]


def test_whole_component_is_given_by_name_or_as_a_mapping():
    assert change_spec(SPEC, {"dataset": "rings"}).dataset == {"name": "rings"}
    other = {"name": "pcd", "noise": 0.1}
    assert change_spec(SPEC, {"method": other, "method.noise": 0.2}).method == {"name": "pcd", "noise": 0.2}
    assert change_spec(SPEC, {"networks.energy": "mixture"}).networks["energy"] == {"name": "mixture"}


@pytest.mark.parametrize(
    ("path", "facts"),
    [
        ("method.lrr", ("'method.lrr'", "method.lr?")),
        ("lr", ("'lr'", "method.lr?")),
        ("energy.hidden", ("networks.energy.hidden?",)),
        ("method.nothing", ("method.entropy_weight", "method.k,")),
        ("step", ("'step'", "Did you mean steps?")),
        ("networks.energy.data_dim", ("networks.energy.hidden",)),
        ("dataset.data_dir", ("'dataset.data_dir'",)),
    ],
)
def test_unknown_setting_is_answered_with_known_ones(path, facts):
    with raises_with(UnknownName, *facts):
        change_spec(SPEC, {path: 1})


@pytest.mark.parametrize(("path", "value"), [("method.k", 0), ("steps", "many"), ("method.lr", float("nan"))])
def test_invalid_value_is_refused(path, value):
    with raises_with(SettingError, *(fact for fact in (path.rpartition(".")[2], "must be") if len(fact) > 2)):
        change_spec(SPEC, {path: value})


def test_variant_has_its_own_id_label_and_sweep():
    variant = make_variant(TRIAL, {"method.k": 5, "method.lr": 3e-4})
    assert variant.id != TRIAL.id
    assert variant.label == "VERA λ=1 (k=5, lr=0.0003)"
    assert variant.sweep == "table2 [method.k, method.lr]"
    assert find_changed_paths(variant.sweep) == ("method.k", "method.lr")


def test_trial_with_these_settings_already_is_no_variant():
    default = list_settings(SPEC)["method.k"].default
    assert make_variant(TRIAL, {"method.k": default}) is TRIAL
    assert make_variant(TRIAL, {"method.lr": 1e-3}) is TRIAL


def test_setting_that_does_not_apply_makes_no_variant():
    assert make_variant(TRIAL, {"method.noise": 0.1}) is None
    assert make_variant(TRIAL, {"method.k": 5, "networks.statistics.hidden": [4]}) is None


def test_names_of_sweeps_tell_variants_from_others():
    assert name_variants("grid", []) == "grid"
    assert [get_base_name(name) for name in ("table2", "table2 [method.k, steps]")] == ["table2", "table2"]
    assert find_changed_paths("table2") == ()
    assert find_changed_paths("search-moons-vera [lr=1]") == ()
    assert find_changed_paths(name_variants("a [b]", ["networks.energy.hidden"])) == (
        "networks.energy.hidden",
    )


def test_all_paths_are_listed_when_the_component_is_unknown():
    assert "method.k" in suggest_path("nothing.xyz", list_settings(SPEC))

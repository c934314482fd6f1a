"""A trial's id: it changes with everything that decides the trial's numbers, and with nothing else."""

import json
from dataclasses import replace

import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from setting_values import other_settings

from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.identity import Trial
from vera.errors import SettingError, UnknownName
from vera.spec.registry import methods
from vera.spec.trial_spec import TrialSpec

NETWORKS = {"energy": {"name": "mixture"}, "generator": {"name": "mlp-generator"}}


def spec(**changes):
    usual = {
        "dataset": {"name": "moons"},
        "networks": NETWORKS,
        "method": {"name": "vera", "lr": 1e-3},
        "steps": 100,
    }
    return TrialSpec(**(usual | changes))


BASE = Trial(spec())


def shuffle(value, order):
    """The same JSON value with the keys of every object in another order."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: order.get(key, 0))
        return {key: shuffle(value[key], order) for key in keys}
    return value


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["name", "lr", "k", "eta", "energy", "generator", "gamma"]), st.integers()
    )
)
def test_the_order_of_keys_never_changes_it(order):
    method = {"name": "vera", "lr": 1e-3, "k": 10, "eta": 0.2, "gamma": 0.0}
    trial = Trial(spec(method=method))
    assert Trial(spec(method=shuffle(method, order), networks=shuffle(NETWORKS, order))).id == trial.id


@settings(max_examples=30, deadline=None)
@given(st.text(), st.text())
def test_sweep_and_label_never_change_it(sweep, label):
    assert Trial(spec(), sweep=sweep, label=label).id == BASE.id


@settings(max_examples=30, deadline=None)
@given(st.text(min_size=1).filter(lambda text: "\0" not in text))
def test_paths_never_change_it(path):
    def trial(**where):
        return Trial(
            spec(
                dataset={"name": "mnist-logit", **where},
                networks={"energy": {"name": "nice"}},
                method={"name": "ml"},
            )
        )

    assert trial(data_dir=path).id == trial().id
    assert (
        path not in json.loads(canonical_json(trial(data_dir=path).facts))["dataset"].values()
        or path == "mnist-logit"
    )


def test_host_and_launcher_never_change_it(monkeypatch):
    for name in ("HOSTNAME", "RAY_ADDRESS", "CUDA_VISIBLE_DEVICES", "VERA_DATA", "SLURM_JOB_ID"):
        monkeypatch.setenv(name, "elsewhere")
    assert Trial(spec()).id == BASE.id


def test_writing_a_default_out_does_not_change_it():
    assert Trial(spec(method={"name": "vera", "lr": 1e-3, "k": 20, "entropy_weight": 1})).id == BASE.id
    assert (
        Trial(spec(networks={**NETWORKS, "generator": {"name": "mlp-generator", "hidden": (100, 100)}})).id
        == BASE.id
    )


SETTINGS = [(method, name, value) for method in methods for name, value in other_settings(method)]


@pytest.mark.parametrize(("method", "name", "value"), SETTINGS)
def test_every_hyperparameter_changes_it(method, name, value):
    roles = {role: NETWORKS.get(role, {"name": role}) for role in methods.get(method).network_names()}
    usual = spec(method={"name": method}, networks=roles)
    changed = spec(method={"name": method, name: value}, networks=roles)
    assert Trial(usual).id != Trial(changed).id


@settings(max_examples=50, deadline=None)
@given(st.floats(1e-9, 1e3), st.floats(1e-9, 1e3))
def test_two_learning_rates_are_two_trials(one, other):
    ids = {Trial(spec(method={"name": "vera", "lr": lr})).id for lr in (one, other)}
    assert len(ids) == len({one, other})


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"steps": 101},
        {"batch_size": 64},
        {"evaluate_every": 10},
        {"restarts": 1},
        {"dataset": {"name": "circles"}},
        {"networks": {**NETWORKS, "energy": {"name": "mixture", "components": 50}}},
        {"networks": {**NETWORKS, "generator": {"name": "mlp-generator", "sigma_max": 0.5}}},
    ],
    ids=str,
)
def test_seed_budget_data_and_networks_change_it(change):
    assert Trial(replace(BASE.spec, **change)).id != BASE.id


def test_the_profile_the_protocol_and_the_data_fingerprint_change_it(monkeypatch):
    assert Trial(spec(), profile="paper").id != BASE.id
    monkeypatch.setattr("sweeps.trial.identity.PROTOCOL", 2)
    protocol = Trial(spec()).id
    assert protocol != BASE.id
    monkeypatch.setattr("vera.data.toys.Toy.version", 2)
    assert Trial(spec()).id not in (protocol, BASE.id)


def test_a_trial_can_be_built_from_its_stored_facts():
    trial = Trial(spec(seed=3, evaluate_every=7), profile="smoke")
    back = Trial.from_facts(json.loads(canonical_json(trial.facts)))
    assert back.id == trial.id
    assert back.profile == "smoke"


def test_ids_are_stable_across_releases():
    """If this fails, stored results would silently be run again: fix the change, or raise PROTOCOL on
    purpose."""
    assert BASE.id == "31e84d54b25545da"


def test_a_wrong_setting_is_an_error_before_training():
    with raises_with(UnknownName, "lrr"):
        _ = Trial(spec(method={"name": "vera", "lrr": 1})).id
    with raises_with(SettingError, "vera: k", "at least 1", "got 0"):
        _ = Trial(spec(method={"name": "vera", "k": 0})).id

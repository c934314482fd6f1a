"""Trial specs: the round trip through JSON, inferred settings, and errors."""

import json

import pytest
import torch
from conformance import find_differences, get_state
from facts import raises_with

from vera.errors import IncompatibleModel, SettingError, UnknownName, VeraError
from vera.models.generator import Generator
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_dataset, build_method, build_trainer

VERA_SPEC = {
    "dataset": {"name": "moons"},
    "networks": {
        "energy": {"name": "mlp", "hidden": [8, 8]},
        "generator": {"name": "mlp-generator", "latent_dim": 3, "hidden": [8]},
    },
    "method": {"name": "vera", "lr": 1e-3, "k": 4},
    "steps": 4,
    "batch_size": 10,
    "seed": 1,
}
ML_SPEC = {
    "dataset": {"name": "moons"},
    "networks": {"energy": {"name": "mixture", "components": 3}},
    "method": {"name": "ml"},
    "steps": 4,
    "batch_size": 10,
}
MEG_SPEC = VERA_SPEC | {
    "networks": VERA_SPEC["networks"] | {"statistics": {"name": "statistics", "hidden": [8]}},
    "method": {"name": "meg"},
}


@pytest.mark.parametrize("values", [VERA_SPEC, ML_SPEC, MEG_SPEC])
def test_a_spec_survives_a_round_trip_through_json(values):
    spec = TrialSpec.from_dict(values)
    text = json.dumps(spec.to_dict())
    again = TrialSpec.from_dict(json.loads(text))
    assert again == spec
    assert json.dumps(again.to_dict()) == text


def test_a_spec_read_from_json_trains_to_the_same_numbers():
    written = TrialSpec.from_dict(
        VERA_SPEC | {"networks": VERA_SPEC["networks"] | {"energy": {"name": "mlp", "hidden": (8, 8)}}}
    )
    read = TrialSpec.from_dict(json.loads(json.dumps(written.to_dict())))
    one, other = build_trainer(written), build_trainer(read)
    one.run()
    other.run()
    ours, theirs = ({k: v for k, v in get_state(trainer).items() if k != "spec"} for trainer in (one, other))
    assert find_differences(ours, theirs) == []


def test_json_lists_become_tuples():
    spec = TrialSpec.from_dict(
        json.loads(json.dumps(ML_SPEC | {"method": {"name": "ml", "betas": [0, 0.5]}}))
    )
    assert build_trainer(spec).method.betas == (0.0, 0.5)


def test_changing_the_dict_of_a_spec_does_not_change_the_spec():
    spec = TrialSpec.from_dict(VERA_SPEC)
    spec.to_dict()["method"]["lr"] = 5
    assert spec.method["lr"] == 1e-3


def test_defaults_are_filled_in():
    spec = TrialSpec.from_dict({k: v for k, v in ML_SPEC.items() if k != "batch_size"})
    assert (spec.batch_size, spec.seed) == (128, 0)


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        ({"steps": 0}, ["steps", "at least 1", "got 0"]),
        ({"steps": -5}, ["steps", "at least 1", "got -5"]),
        ({"steps": 10.0}, ["steps", "a whole number", "10.0"]),
        ({"steps": True}, ["steps", "a whole number", "True"]),
        ({"batch_size": 0}, ["batch_size", "at least 1", "got 0"]),
        ({"seed": -1}, ["seed", "at least 0", "got -1"]),
        ({"seed": "0"}, ["seed", "a whole number", "'0'"]),
        ({"method": "vera"}, ["method", "'name'", "'vera'"]),
        ({"method": {"lr": 1}}, ["method", "'name'"]),
        ({"method": {"name": 3}}, ["method", "'name'"]),
        ({"dataset": None}, ["dataset", "'name'", "None"]),
        ({"networks": {"energy": "mlp"}}, ["energy", "'name'", "'mlp'"]),
        ({"networks": ["mlp"]}, ["networks", "['mlp']"]),
        ({"networks": None}, ["networks", "None"]),
    ],
)
def test_an_invalid_field_raises_with_its_name_and_value(change, facts):
    with raises_with(SettingError, "TrialSpec", *facts):
        TrialSpec.from_dict(VERA_SPEC | change)


def test_an_unknown_field_raises_with_the_closest_name():
    with raises_with(UnknownName, "TrialSpec", "'batchsize'", "batch_size?"):
        TrialSpec.from_dict(VERA_SPEC | {"batchsize": 3})


@pytest.mark.parametrize("field", ["dataset", "networks", "method", "steps"])
def test_a_missing_field_raises_with_its_name(field):
    with raises_with(VeraError, "TrialSpec", field):
        TrialSpec.from_dict({name: value for name, value in VERA_SPEC.items() if name != field})


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        ({"dataset": {"name": "moon"}}, ["data set 'moon'", "moons?"]),
        ({"dataset": {"name": "moons", "noise": 1}}, ["data set 'moons'", "'noise'"]),
        ({"method": {"name": "veraa"}}, ["method 'veraa'", "vera?"]),
        ({"method": {"name": "vera", "kk": 3}}, ["method 'vera'", "'kk'", " k?"]),
        ({"networks": VERA_SPEC["networks"] | {"energy": {"name": "mpl"}}}, ["model 'mpl'", "mlp"]),
        (
            {"networks": VERA_SPEC["networks"] | {"energy": {"name": "mlp", "hiden": [8]}}},
            ["'mlp'", "'hiden'", "hidden"],
        ),
    ],
)
def test_an_unknown_name_raises_with_the_closest_one(change, facts):
    with raises_with(UnknownName, *facts):
        build_trainer(TrialSpec.from_dict(VERA_SPEC | change))


@pytest.mark.parametrize(
    ("task", "facts", "kind"),
    [
        ("dens", ["task 'dens'", "density?"], UnknownName),
        ({"name": "density", "sampels": 3}, ["task 'density'", "'sampels'"], UnknownName),
        ("joint", ["'joint'", "vera.tasks.build.build_task(spec)"], SettingError),
        ({"name": "modes", "samples": 30}, ["'modes'", "vera.tasks.build.build_task(spec)"], SettingError),
    ],
)
def test_another_task_is_not_trained_as_a_density(task, facts, kind):
    with raises_with(kind, *facts):
        build_trainer(TrialSpec.from_dict(ML_SPEC | {"task": task}))


def test_the_density_task_may_be_given_as_a_component():
    assert build_trainer(TrialSpec.from_dict(ML_SPEC | {"task": {"name": "density"}})).spec["task"] == {
        "name": "density"
    }


def test_a_missing_network_raises_with_all_networks_of_the_method():
    with raises_with(VeraError, "method 'vera'", "energy, generator", "missing: generator"):
        build_trainer(TrialSpec.from_dict(VERA_SPEC | {"networks": {"energy": {"name": "mlp"}}}))


def test_a_network_that_the_method_does_not_have_is_refused():
    with raises_with(VeraError, "method 'ml'", "network 'generator'", "energy"):
        build_trainer(TrialSpec.from_dict(VERA_SPEC | {"method": {"name": "ml"}}))


def test_a_network_cannot_be_given_as_a_setting():
    with raises_with(VeraError, "energy"):
        build_trainer(TrialSpec.from_dict(ML_SPEC | {"method": {"name": "ml", "energy": "mlp"}}))


def test_an_energy_model_as_generator_is_refused():
    networks = {"energy": {"name": "mlp"}, "generator": {"name": "mlp"}}
    with raises_with(VeraError, "vera", "generator", "Generator", "MLP"):
        build_trainer(TrialSpec.from_dict(VERA_SPEC | {"networks": networks}))


def test_a_generator_as_energy_is_refused():
    networks = VERA_SPEC["networks"] | {"energy": {"name": "mlp-generator"}}
    with raises_with(IncompatibleModel, "vera", "energy"):
        build_trainer(TrialSpec.from_dict(VERA_SPEC | {"networks": networks}))


def test_an_energy_that_the_method_cannot_train_raises_with_the_models_it_can_train():
    with raises_with(IncompatibleModel, "ml ", "MLP", "mixture, nice"):
        build_trainer(TrialSpec.from_dict(ML_SPEC | {"networks": {"energy": {"name": "mlp"}}}))


def test_data_and_latent_dimensions_are_inferred():
    spec = TrialSpec.from_dict(MEG_SPEC)
    method = build_method(spec, build_dataset(spec.dataset))
    assert method.energy.net[0].in_features == 2
    assert isinstance(method.generator, Generator)
    assert (method.generator.latent_dim, method.generator.net.data_dim) == (3, 2)
    assert method.statistics.net[0].in_features == 2 + 3


def test_a_dimension_that_contradicts_the_data_is_refused():
    networks = {"energy": {"name": "mixture", "data_dim": 3}}
    with raises_with(IncompatibleModel, "ml: GaussianMixture", "3 dimensions", "have 2"):
        build_trainer(TrialSpec.from_dict(ML_SPEC | {"networks": networks}))


def test_the_seed_of_the_spec_initialises_the_networks_independently_of_the_global_state():
    def weights(seed: int, noise: int) -> dict[str, torch.Tensor]:
        torch.manual_seed(noise)
        return dict(build_trainer(TrialSpec.from_dict(VERA_SPEC | {"seed": seed})).method.energy.state_dict())

    assert find_differences(weights(1, 0), weights(1, 7)) == []
    assert find_differences(weights(1, 0), weights(2, 0))


def test_building_does_not_change_the_callers_random_state():
    before = torch.get_rng_state()
    build_trainer(TrialSpec.from_dict(VERA_SPEC))
    assert torch.equal(before, torch.get_rng_state())


def test_options_are_passed_to_the_trainer():
    trainer = build_trainer(
        TrialSpec.from_dict(ML_SPEC), log_every=2, evaluate=lambda method: {"one": 1.0}, evaluate_every=2
    )
    trainer.run()
    assert [row["step"] for row in trainer.history] == [2, 4]
    assert [row["step"] for row in trainer.evaluations] == [2, 4]


@pytest.mark.parametrize("name", ["moons", "circles", "rings"])
def test_every_toy_data_set_trains_from_a_spec(name):
    assert build_trainer(TrialSpec.from_dict(VERA_SPEC | {"dataset": {"name": name}})).run().outcome == "ok"

"""A trial as plain data: JSON and back, what is filled in, and what is refused."""

import json

import pytest
import torch
from conformance import differences, expect_refusal, numbers

from vera.errors import IncompatibleModel, SettingError, UnknownName
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
def test_a_spec_goes_through_json_and_back(values):
    spec = TrialSpec.from_dict(values)
    text = json.dumps(spec.to_dict())
    again = TrialSpec.from_dict(json.loads(text))
    assert again == spec
    assert json.dumps(again.to_dict()) == text


def test_a_spec_that_went_through_json_trains_the_same_numbers():
    written = TrialSpec.from_dict(
        VERA_SPEC | {"networks": VERA_SPEC["networks"] | {"energy": {"name": "mlp", "hidden": (8, 8)}}}
    )
    read = TrialSpec.from_dict(json.loads(json.dumps(written.to_dict())))
    one, other = build_trainer(written), build_trainer(read)
    one.run()
    other.run()
    ours, theirs = ({k: v for k, v in numbers(trainer).items() if k != "spec"} for trainer in (one, other))
    assert differences(ours, theirs) == []


def test_lists_of_json_become_tuples_of_settings():
    spec = TrialSpec.from_dict(
        json.loads(json.dumps(ML_SPEC | {"method": {"name": "ml", "betas": [0, 0.5]}}))
    )
    assert build_trainer(spec).method.betas == (0.0, 0.5)


def test_a_spec_is_a_copy_of_what_it_was_made_from_and_gives_copies():
    spec = TrialSpec.from_dict(VERA_SPEC)
    spec.to_dict()["method"]["lr"] = 5
    assert spec.method["lr"] == 1e-3


def test_defaults_are_filled_in():
    spec = TrialSpec.from_dict({k: v for k, v in ML_SPEC.items() if k != "batch_size"})
    assert (spec.batch_size, spec.seed) == (128, 0)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"steps": 0}, ["steps must be at least 1", "0"]),
        ({"steps": -5}, ["steps must be at least 1", "-5"]),
        ({"steps": 10.0}, ["steps must be a whole number", "10.0"]),
        ({"steps": True}, ["steps must be a whole number", "True"]),
        ({"batch_size": 0}, ["batch_size must be at least 1"]),
        ({"seed": -1}, ["seed must be at least 0"]),
        ({"seed": "0"}, ["seed must be a whole number", "'0'"]),
        ({"method": "vera"}, ["method", "'name'", "'vera'"]),
        ({"method": {"lr": 1}}, ["method", "'name'"]),
        ({"method": {"name": 3}}, ["method", "'name'"]),
        ({"dataset": None}, ["dataset", "'name'", "None"]),
        ({"networks": {"energy": "mlp"}}, ["energy", "'name'", "'mlp'"]),
        ({"networks": ["mlp"]}, ["networks", "['mlp']"]),
        ({"networks": None}, ["networks", "None"]),
    ],
)
def test_a_wrong_field_is_named(change, parts):
    with expect_refusal("TrialSpec", *parts, kind=SettingError):
        TrialSpec.from_dict(VERA_SPEC | change)


def test_an_unknown_field_is_answered_with_the_nearest_name():
    with expect_refusal("TrialSpec has no setting 'batchsize'", "Did you mean batch_size", kind=UnknownName):
        TrialSpec.from_dict(VERA_SPEC | {"batchsize": 3})


@pytest.mark.parametrize("field", ["dataset", "networks", "method", "steps"])
def test_a_missing_field_is_named(field):
    with expect_refusal("TrialSpec", field):
        TrialSpec.from_dict({name: value for name, value in VERA_SPEC.items() if name != field})


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"dataset": {"name": "moon"}}, ["no data set 'moon'", "Did you mean moons"]),
        ({"dataset": {"name": "moons", "noise": 1}}, ["data set 'moons' has no setting 'noise'"]),
        ({"method": {"name": "veraa"}}, ["no method 'veraa'", "Did you mean vera"]),
        ({"method": {"name": "vera", "kk": 3}}, ["method 'vera' has no setting 'kk'", "Did you mean k"]),
        ({"networks": VERA_SPEC["networks"] | {"energy": {"name": "mpl"}}}, ["no model 'mpl'", "mlp"]),
        (
            {"networks": VERA_SPEC["networks"] | {"energy": {"name": "mlp", "hiden": [8]}}},
            ["'mlp' has no setting 'hiden'", "hidden"],
        ),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_one(change, parts):
    with expect_refusal(*parts, kind=UnknownName):
        build_trainer(TrialSpec.from_dict(VERA_SPEC | change))


@pytest.mark.parametrize(
    ("task", "parts", "kind"),
    [
        ("dens", ["no task 'dens'", "Did you mean density"], UnknownName),
        ({"name": "density", "sampels": 3}, ["task 'density' has no setting 'sampels'"], UnknownName),
        ("joint", ["task is 'joint'", "vera.tasks.build.build_task(spec)"], SettingError),
        (
            {"name": "modes", "samples": 30},
            ["task is 'modes'", "vera.tasks.build.build_task(spec)"],
            SettingError,
        ),
    ],
)
def test_another_task_is_not_trained_as_a_density(task, parts, kind):
    with expect_refusal(*parts, kind=kind):
        build_trainer(TrialSpec.from_dict(ML_SPEC | {"task": task}))


def test_the_task_of_a_density_may_be_given_as_a_part():
    assert build_trainer(TrialSpec.from_dict(ML_SPEC | {"task": {"name": "density"}})).spec["task"] == {
        "name": "density"
    }


def test_a_missing_network_is_named():
    with expect_refusal("method 'vera' needs the networks energy, generator", "generator not given"):
        build_trainer(TrialSpec.from_dict(VERA_SPEC | {"networks": {"energy": {"name": "mlp"}}}))


def test_a_network_that_the_method_does_not_have_is_refused_as_a_network():
    with expect_refusal("method 'ml' has no network 'generator'", "energy"):
        build_trainer(TrialSpec.from_dict(VERA_SPEC | {"method": {"name": "ml"}}))


def test_a_network_cannot_be_smuggled_in_as_a_setting():
    with expect_refusal("energy"):
        build_trainer(TrialSpec.from_dict(ML_SPEC | {"method": {"name": "ml", "energy": "mlp"}}))


def test_an_energy_model_in_the_generators_role_is_refused():
    networks = {"energy": {"name": "mlp"}, "generator": {"name": "mlp"}}
    with expect_refusal("vera", "generator", "Generator", "MLP"):
        build_trainer(TrialSpec.from_dict(VERA_SPEC | {"networks": networks}))


def test_a_generator_in_the_energys_role_is_refused():
    networks = VERA_SPEC["networks"] | {"energy": {"name": "mlp-generator"}}
    with expect_refusal("vera", "energy", kind=IncompatibleModel):
        build_trainer(TrialSpec.from_dict(VERA_SPEC | {"networks": networks}))


def test_an_energy_that_the_method_cannot_train_is_refused_with_the_models_that_it_can():
    with expect_refusal("ml cannot train MLP", "mixture, nice", kind=IncompatibleModel):
        build_trainer(TrialSpec.from_dict(ML_SPEC | {"networks": {"energy": {"name": "mlp"}}}))


def test_data_and_latent_dimensions_are_inferred():
    spec = TrialSpec.from_dict(MEG_SPEC)
    method = build_method(spec, build_dataset(spec.dataset))
    assert method.energy.net[0].in_features == 2
    assert isinstance(method.generator, Generator)
    assert (method.generator.latent_dim, method.generator.net.data_dim) == (3, 2)
    assert method.statistics.net[0].in_features == 2 + 3


def test_a_dimension_given_against_the_data_is_refused():
    networks = {"energy": {"name": "mixture", "data_dim": 3}}
    with expect_refusal("ml", "GaussianMixture", kind=IncompatibleModel):
        build_trainer(TrialSpec.from_dict(ML_SPEC | {"networks": networks}))


def test_the_seed_of_the_spec_initialises_the_networks_whatever_the_global_state():
    def weights(seed: int, noise: int) -> dict[str, torch.Tensor]:
        torch.manual_seed(noise)
        return dict(build_trainer(TrialSpec.from_dict(VERA_SPEC | {"seed": seed})).method.energy.state_dict())

    assert differences(weights(1, 0), weights(1, 7)) == []
    assert differences(weights(1, 0), weights(2, 0))


def test_building_leaves_the_callers_random_state_alone():
    before = torch.get_rng_state()
    build_trainer(TrialSpec.from_dict(VERA_SPEC))
    assert torch.equal(before, torch.get_rng_state())


def test_options_of_the_trainer_pass_through():
    trainer = build_trainer(
        TrialSpec.from_dict(ML_SPEC), log_every=2, evaluate=lambda method: {"one": 1.0}, evaluate_every=2
    )
    trainer.run()
    assert [row["step"] for row in trainer.history] == [2, 4]
    assert [row["step"] for row in trainer.evaluations] == [2, 4]


@pytest.mark.parametrize("name", ["moons", "circles", "rings"])
def test_every_toy_data_set_trains_from_a_spec(name):
    assert build_trainer(TrialSpec.from_dict(VERA_SPEC | {"dataset": {"name": name}})).run().outcome == "ok"

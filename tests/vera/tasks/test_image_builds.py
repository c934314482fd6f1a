"""Specs on images: networks infer channels and side from the data, and the trial identity leaves them out."""

import pytest
import torch
from facts import raises_with

from sweeps.trial.identity import Trial
from vera.data import Digits32
from vera.errors import SettingError
from vera.spec.registry import joint_methods
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_method, build_task


def joint_spec(dataset, generator="sngan-generator", **settings):
    networks = {
        "energy": {"name": "wrn", "depth": 10, "width": 1},
        "generator": {"name": generator, "width": 4, "latent_dim": 4} | settings,
    }
    return TrialSpec(dataset, networks, {"name": "vera", "k": 4}, steps=2, batch_size=8, task="joint")


def stacked_spec(**settings):
    energy = {"name": "dcgan", "width": 4} | settings
    networks = {"energy": energy, "generator": {"name": "dcgan-generator", "width": 4, "latent_dim": 4}}
    dataset = {"name": "stacked-mnist", "source": "mnist5k", "side": 32}
    return TrialSpec(dataset, networks, {"name": "vera", "k": 4}, steps=2, batch_size=8)


@pytest.mark.parametrize("generator", ["sngan-generator", "dcgan-generator"])
@pytest.mark.parametrize("side", [16, 32])
def test_a_generator_infers_its_side_from_the_data(side, generator):
    dataset = {"name": "digits32", "side": side}
    method = build_method(joint_spec(dataset, generator), Digits32(side=side).split(0), joint_methods)
    assert method.generator(torch.zeros(2, 4)).shape == (2, 3, side, side)


def test_a_given_side_is_not_replaced():
    method = build_method(joint_spec({"name": "digits32"}, side=8), Digits32().split(0), joint_methods)
    assert method.generator(torch.zeros(2, 4)).shape == (2, 3, 8, 8)
    with raises_with(SettingError, "side", "got 30"):
        build_method(joint_spec({"name": "digits32"}, side=30), Digits32().split(0), joint_methods)


def test_a_joint_trial_on_digit_images_runs():
    spec = joint_spec({"name": "digits32", "side": 16})
    trainer = build_task(spec).build(spec, progress=False)
    assert trainer.run().outcome == "ok"
    assert 0 <= trainer.evaluations[-1]["test_accuracy"] <= 1


def test_a_density_trial_on_stacked_digits_runs():
    spec = stacked_spec()
    trainer = build_task(spec).build(spec, progress=False)
    assert trainer.run().outcome == "ok"
    assert trainer.method.training_samples(3).shape == (3, 3, 32, 32)


def test_the_identity_contains_the_side_of_the_data_but_no_inferred_settings():
    facts = Trial(stacked_spec(), "smoke").facts
    assert facts["dataset"] == {"name": "stacked-mnist", "source": "mnist5k", "side": 32}
    assert facts["networks"]["energy"] == {"name": "dcgan", "width": 4}
    assert Trial(stacked_spec(side=32), "smoke").facts["networks"]["energy"] == {
        "name": "dcgan",
        "width": 4,
        "side": 32,
    }
    again = Trial.from_facts(facts)
    assert again.id == Trial(stacked_spec(), "smoke").id
    default = TrialSpec({"name": "mnist5k-logit"}, {"energy": {"name": "nice"}}, {"name": "ml"}, steps=1)
    assert Trial(default).facts["dataset"] == {"name": "mnist5k-logit", "side": 28}

"""From a spec on images to a run: networks take their channels and side from the data, and a trial's identity
leaves them out."""

import pytest
import torch

from sweeps.trial.identity import Trial
from vera.data import Digits32
from vera.errors import SettingError
from vera.spec.registry import joint_methods
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_method, build_task


def joint(dataset, generator="sngan-generator", **settings):
    networks = {
        "energy": {"name": "wrn", "depth": 10, "width": 1},
        "generator": {"name": generator, "width": 4, "latent_dim": 4} | settings,
    }
    return TrialSpec(dataset, networks, {"name": "vera", "k": 4}, steps=2, batch_size=8, task="joint")


def stacked(**settings):
    energy = {"name": "dcgan", "width": 4} | settings
    networks = {"energy": energy, "generator": {"name": "dcgan-generator", "width": 4, "latent_dim": 4}}
    dataset = {"name": "stacked-mnist", "source": "mnist5k", "side": 32}
    return TrialSpec(dataset, networks, {"name": "vera", "k": 4}, steps=2, batch_size=8)


@pytest.mark.parametrize("generator", ["sngan-generator", "dcgan-generator"])
@pytest.mark.parametrize("side", [16, 32])
def test_a_generator_takes_its_side_from_the_data(side, generator):
    dataset = {"name": "digits32", "side": side}
    method = build_method(joint(dataset, generator), Digits32(side=side).split(0), joint_methods)
    assert method.generator(torch.zeros(2, 4)).shape == (2, 3, side, side)


def test_a_side_that_is_spelled_out_is_kept():
    method = build_method(joint({"name": "digits32"}, side=8), Digits32().split(0), joint_methods)
    assert method.generator(torch.zeros(2, 4)).shape == (2, 3, 8, 8)
    with pytest.raises(SettingError, match="side must be one of"):
        build_method(joint({"name": "digits32"}, side=30), Digits32().split(0), joint_methods)


def test_a_joint_trial_on_digit_images_runs():
    spec = joint({"name": "digits32", "side": 16})
    trainer = build_task(spec).build(spec, progress=False)
    assert trainer.run().outcome == "ok"
    assert 0 <= trainer.evaluations[-1]["test_accuracy"] <= 1


def test_a_density_trial_on_stacked_digits_runs():
    spec = stacked()
    trainer = build_task(spec).build(spec, progress=False)
    assert trainer.run().outcome == "ok"
    assert trainer.method.training_samples(3).shape == (3, 3, 32, 32)


def test_identity_has_the_data_s_side_and_not_what_follows_from_it():
    facts = Trial(stacked(), "smoke").facts
    assert facts["dataset"] == {"name": "stacked-mnist", "source": "mnist5k", "side": 32}
    assert facts["networks"]["energy"] == {"name": "dcgan", "width": 4}
    assert Trial(stacked(side=32), "smoke").facts["networks"]["energy"] == {
        "name": "dcgan",
        "width": 4,
        "side": 32,
    }
    again = Trial.from_facts(facts)
    assert again.id == Trial(stacked(), "smoke").id
    default = TrialSpec({"name": "mnist5k-logit"}, {"energy": {"name": "nice"}}, {"name": "ml"}, steps=1)
    assert Trial(default).facts["dataset"] == {"name": "mnist5k-logit", "side": 28}

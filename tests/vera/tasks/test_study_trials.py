"""Trials of the studies of estimators: complete runs, resumed runs and trial identity."""

import json
import math
from dataclasses import replace

import pytest
import torch
from engine_helpers import content
from facts import raises_with
from setting_values import other_values

from sweeps.run.attempt import Attempt, run_trial
from sweeps.run.conditions import Conditions
from sweeps.trial.identity import Trial
from vera.errors import SettingError, VeraError
from vera.evaluation import score_error, shifted_gaussian_ess
from vera.spec.registry import estimators
from vera.spec.settings import settings_of
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_task
from vera.tasks.studies import ScoreErrorTask

SMALL = {"pairs": 3, "repeats": 4}
METHODS = {
    "importance": {"name": "importance", "images": 4, **SMALL},
    "hmc": {"name": "hmc", "burn_in": 3, **SMALL},
    "prior-only": {"name": "hmc", "force": "prior_only", **SMALL},
    "latent": {"name": "latent", "pairs": 3},
}


def spec(method="importance", noise="deviation", **changes):
    fields = {
        "dataset": {"name": "mnist5k-pixels", "side": 14},
        "networks": {"generator": {"name": "pca-generator", "latent_dim": 5, "noise": noise}},
        "method": METHODS[method] if isinstance(method, str) else method,
        "steps": 6,
        "batch_size": 20,
        "task": "score-error",
    }
    return TrialSpec(**(fields | changes))


def offset_spec(**changes):
    fields = {
        "dataset": {"name": "gaussian", "dim": 128},
        "networks": {},
        "method": {"name": "shifted-proposal"},
        "steps": 6,
        "batch_size": 200,
        "task": "ess-offset",
    }
    return TrialSpec(**(fields | changes))


def read_metrics(record):
    return json.loads(record.row.metrics)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("noise", ["deviation", "variance"])
def test_a_study_produces_a_row(name, noise):
    record = run_trial(Trial(spec(name, noise), "smoke"))
    row, metrics = record.row, read_metrics(record)
    assert (row.outcome, row.reason, row.outcome_step) == ("ok", "", 6)
    assert (row.energy, row.task) == ("", "score-error")
    assert metrics.keys() >= {"loss", "sigma", "deviation", "rms_noise"}
    assert metrics.keys() >= {"signed_bias", "absolute_bias", "rms_bias"}
    assert 0 <= abs(metrics["signed_bias"]) <= metrics["absolute_bias"] <= metrics["rms_bias"]
    assert ("posterior_ess" in metrics) == (name == "importance")
    if name == "importance":
        images = record.arrays["images"]
        assert (images.shape, images.dtype) == ((4, 14, 14), "uint8")
        assert images.min() == 0
        assert 1 <= metrics["prior_ess"] < metrics["posterior_ess"] <= 20
    else:
        assert record.arrays == {}


@pytest.mark.parametrize("name", METHODS)
def test_a_resumed_study_produces_the_same_row(name, tmp_path):
    trial, conditions = Trial(spec(name), "smoke"), Conditions(checkpoint_dir=str(tmp_path))
    first = Attempt(trial, conditions)
    first.trainer.run(until=3)
    first.save()
    second = Attempt(trial, conditions)
    assert second.step == 3
    while second.ending is None:
        second.advance(1.0)
    assert content(second.record()) == content(run_trial(trial))


def test_all_estimators_with_the_same_seed_are_measured_at_the_same_pairs(monkeypatch):
    seen = []

    def record_call(entropy, generator, pairs, repeats):
        seen.append((pairs, repeats))
        return score_error(entropy, generator, pairs, repeats)

    monkeypatch.setattr("vera.tasks.studies.score_error.score_error", record_call)
    for name, seed in (("importance", 0), ("hmc", 0), ("latent", 0), ("latent", 1)):
        run_trial(Trial(replace(spec(name), seed=seed), "smoke"))
    (z0, x), *others = [pairs for pairs, _ in seen]
    assert [torch.equal(z0, z) and torch.equal(x, y) for z, y in others] == [True, True, False]
    assert [repeats for _, repeats in seen] == [4, 4, 2, 2]


def test_the_seed_determines_the_metrics():
    one, again, other = (
        read_metrics(run_trial(Trial(replace(spec(), seed=seed), "smoke"))) for seed in (0, 0, 1)
    )
    assert one == again
    assert one["rms_bias"] != other["rms_bias"]


def other_settings(name):
    known = settings_of(estimators.get(name))
    for setting in known.values():
        if not setting.is_required:
            yield setting.name, other_values(setting.annotation, setting.default)[0]


SETTINGS = [
    (name, *pair)
    for name in ("importance", "hmc", "latent", "shifted-proposal")
    for pair in other_settings(name)
]


@pytest.mark.parametrize(("name", "setting", "value"), SETTINGS)
def test_every_setting_of_an_estimator_is_part_of_its_trials_identity(name, setting, value):
    make = offset_spec if name == "shifted-proposal" else spec
    usual, changed = (Trial(make(method={"name": name, **settings})) for settings in ({}, {setting: value}))
    assert usual.facts["method"][setting] != value
    assert changed.facts["method"][setting] == value
    assert usual.id != changed.id


def test_the_noise_and_the_digits_are_part_of_the_identity():
    trials = [Trial(spec()), Trial(spec(noise="variance")), Trial(spec(dataset={"name": "mnist5k-pixels"}))]
    assert len({trial.id for trial in trials}) == 3
    assert trials[0].facts["networks"] == {
        "generator": {"name": "pca-generator", "latent_dim": 5, "noise": "deviation"}
    }
    assert Trial.from_facts(json.loads(json.dumps(trials[1].facts))).id == trials[1].id


def test_ess_against_offset_matches_known_values_and_a_one_dimensional_simulation():
    record = run_trial(Trial(offset_spec(steps=21, batch_size=20 * 1_000), "smoke"))
    offset, ess, error = (record.arrays[name].tolist() for name in ("offset", "ess", "ess_se"))
    assert offset == pytest.approx([0.25 * i for i in range(21)])
    for m, expected in {0: 20, 0.25: 3.1, 0.5: 1.74, 1: 1.31, 2: 1.14, 5: 1.05}.items():
        i = round(m / 0.25)
        torch.manual_seed(i)
        simulated = shifted_gaussian_ess(m, repeats=20_000)
        assert ess[i] == pytest.approx(expected, rel=0.01, abs=5 * error[i])
        standard_error = math.hypot(error[i], float(simulated.std()) / math.sqrt(20_000))
        assert ess[i] == pytest.approx(float(simulated.mean()), abs=5 * standard_error + 1e-4)
    assert read_metrics(record)["ess_unshifted"] == pytest.approx(20, abs=1e-4)
    assert read_metrics(record)["ess_far"] == pytest.approx(max(ess[9:]))
    assert record.row.outcome == "ok"


def test_the_offset_study_resumes_and_works_without_large_offsets(tmp_path):
    trial, conditions = (
        Trial(offset_spec(method={"name": "shifted-proposal", "largest": 1.5})),
        Conditions(checkpoint_dir=str(tmp_path)),
    )
    first = Attempt(trial, conditions)
    first.trainer.run(until=4)
    first.save()
    second = Attempt(trial, conditions)
    second.advance(60.0)
    record = second.record()
    assert content(record) == content(run_trial(trial))
    assert "ess_far" not in read_metrics(record)


@pytest.mark.parametrize(
    ("invalid", "facts"),
    [
        (spec(dataset={"name": "moons"}), ["'score-error'", "digits", "'moons'"]),
        (spec(networks={}), ["'score-error'", "generator", "none"]),
        (spec(networks={"generator": {"name": "linear-generator"}}), ["'linear-generator'", "'x'"]),
        (offset_spec(dataset={"name": "moons"}), ["'ess-offset'", "'gaussian'", "'moons'"]),
        (offset_spec(batch_size=50), ["batch_size", "k = 20", "got 50"]),
        (offset_spec(batch_size=20), ["batch_size", "k = 20", "at least 40", "got 20"]),
    ],
    ids=range(6),
)
def test_a_spec_that_a_study_cannot_use_is_refused(invalid, facts):
    with raises_with(VeraError, *facts):
        build_task(invalid).build(invalid)


def test_more_components_than_pixels_are_refused():
    networks = {"generator": {"name": "pca-generator", "latent_dim": 196}}
    with raises_with(SettingError, "LinearGenerator", "196"):
        ScoreErrorTask().build(spec(networks=networks))

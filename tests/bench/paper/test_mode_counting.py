"""Mode counting: declared trials, claims from made-up rows, smoke trials, and refused networks."""

from dataclasses import replace

import pytest
from facts import raises_with
from image_records import line_of
from toys_helpers import check_claim, record_of, results_of

from bench.catalogue import catalogue
from bench.paper.experiments.modes import MODES as MODE_EXPERIMENT
from sweeps.run.attempt import run_trial
from vera.errors import IncompatibleModel
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_task

MODES = catalogue.artifact("modes")


def test_paper_profile_follows_the_protocol():
    for trial in MODES.trials("paper"):
        facts = trial.facts
        assert (facts["steps"], facts["batch_size"], facts["dataset"]["side"]) == (10_200, 100, 64)
        assert facts["task"] == {
            "name": "modes",
            "samples": 10_000,
            "batch": 10_000,
            "epochs": 14,
            "shown": 100,
        }
        assert facts["networks"]["generator"]["latent_dim"] == 100


@pytest.mark.parametrize(("modes", "judgement"), [(999.0, "supported"), (100.0, "refuted")])
def test_modes_are_compared_with_those_of_data(tmp_path, modes, judgement):
    counts = {
        "VERA": modes,
        "VERA-HMC, prior-only force": 998.0,
        "VERA-HMC, full force": 1.0,
        "VERA λ=0": 500.0,
    }
    made = [
        record_of(trial, seed, modes=counts[trial.label] - seed, data_modes=1_000.0 - seed)
        for trial in MODE_EXPERIMENT.trials("paper")
        for seed in (0, 1, 2)
    ]
    results = results_of(tmp_path, made, "paper")
    assert {check_claim(MODES, key, results).judgement for key in ("nearly-all", "as-many-as-hmc")} == {
        judgement
    }
    assert [entry["modes"].paper for entry in MODES.render(results).lines] == [999.0, 999.0, None, 998.0]


@pytest.mark.parametrize("label", ["VERA", "VERA-HMC, prior-only force", "VERA-HMC, full force"])
def test_smoke_trial_counts_modes(untrained_classifiers, tmp_path, label):
    record = run_trial(MODE_EXPERIMENT.trial(label, "smoke"))
    assert (record.row.outcome, record.row.reason) == ("ok", "")
    found = line_of(MODES.render(results_of(tmp_path, [record], "smoke")), method=label)
    assert 1 <= found["modes"].mean <= 60
    assert 1 <= found["data_modes"].mean <= 60
    assert record.arrays["generated_samples"].shape == (60, 3, 32, 32)


def test_task_needs_stacked_digits_and_a_generator():
    networks = {"energy": {"name": "mlp"}, "generator": {"name": "mlp-generator"}}
    spec = TrialSpec({"name": "moons"}, networks, {"name": "vera"}, 2, task="modes")
    with raises_with(IncompatibleModel, "stacked-mnist"):
        build_task(spec).build(spec)
    alone = replace(
        MODE_EXPERIMENT.trial("VERA", "smoke").spec,
        networks={"energy": {"name": "dcgan", "width": 4}},
        method={"name": "pcd"},
    )
    with raises_with(IncompatibleModel, "'pcd'", "generator"):
        build_task(alone).build(alone)

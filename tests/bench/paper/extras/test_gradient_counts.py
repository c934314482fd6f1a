"""Gradients in a training step: counted in smoke trials, and claims about the counts."""

import pytest
from toys_helpers import check_claim, results_of

from bench.catalogue import catalogue
from bench.paper.experiments.gradients import GRADIENTS
from sweeps.run.attempt import run_trial

ARTIFACT = catalogue.artifact("gradients")


@pytest.fixture(scope="module")
def records():
    return [run_trial(trial) for trial in GRADIENTS.trials("smoke")]


def test_hooks_count_what_follows_from_the_methods(records, tmp_path):
    lines = {line["method"]: line for line in ARTIFACT.render(results_of(tmp_path, records, "smoke")).lines}
    entropy = {label: line["entropy_gradients"] for label, line in lines.items() if line["entropy_gradients"]}
    assert {label: cell.mean for label, cell in entropy.items()} == {
        "VERA λ=1": 1,
        "VERA λ=0": 0,
        "VERA-HMC λ=1, prior-only force": 0,
        "VERA-HMC λ=1, full force": 1 + 4 * 5,
    }
    langevin = GRADIENTS.trial("PCD", "smoke").spec.method["sampler_steps"]
    assert lines["PCD"]["energy_gradients"].mean == langevin + 2
    assert "generator_gradients" not in lines["PCD"]
    assert entropy["VERA-HMC λ=1, full force"].paper == 28


def test_counts_decide_claims(records, tmp_path):
    results = results_of(tmp_path, records, "smoke")
    assert check_claim(ARTIFACT, "hmc-count", results).judgement == "refuted"
    assert check_claim(ARTIFACT, "importance-count", results).judgement == "supported"
    nothing = results_of(tmp_path / "nothing", [], "laptop")
    assert {claim.check(nothing).judgement for claim in ARTIFACT.claims} == {"undetermined"}

"""Bias of HMC by the number of kept samples: declared trials and claims from made-up rows."""

import pytest
from bench_helpers import row_of, store_rows
from toys_helpers import check_claim, results_of

from bench.catalogue import catalogue
from bench.paper.experiments.score_bias import FORCES, KEPT_COUNTS, KEPT_SAMPLES, SCORE_BIAS, SHORT, label_hmc
from sweeps.run.attempt import run_trial
from sweeps.trial.canonical_json import canonical_json

ARTIFACT = catalogue.artifact("kept-samples")


def rows(biases):
    """Rows of two seeds, with the RMS bias by number of kept samples and no Monte Carlo noise."""
    for force in FORCES:
        for kept, bias in biases.items():
            trial = KEPT_SAMPLES.trial(label_hmc(force, SHORT, kept), "laptop")
            for seed in (0, 1):
                metrics = {"rms_bias": bias + seed / 1000, "rms_noise": 0.0, "deviation": 1.0}
                yield row_of(trial, seed, metrics=canonical_json(metrics))


def test_with_two_kept_samples_it_is_the_trial_of_figure_3():
    for force in FORCES:
        label = label_hmc(force, SHORT)
        assert KEPT_SAMPLES.trial(label, "paper").id == SCORE_BIAS.trial(label, "paper").id
    kept = {trial.spec.method["kept"] for trial in KEPT_SAMPLES.trials("paper")}
    assert kept == {*KEPT_COUNTS} == {2, 5, 10, 20}


@pytest.mark.parametrize(("many", "judgement"), [(1.9, "supported"), (1.2, "refuted")])
def test_rows_decide_claims(tmp_path, many, judgement):
    results = store_rows(tmp_path, list(rows({2: 2.0, 20: many})))
    found = {check_claim(ARTIFACT, f"more-kept-{force}", results).judgement for force in FORCES}
    assert found == {judgement}


def test_smoke_trials_fill_their_lines(tmp_path):
    made = [run_trial(trial) for trial in KEPT_SAMPLES.trials("smoke")]
    sheet = ARTIFACT.render(results_of(tmp_path, made, "smoke"))
    assert [line["kept"] for line in sheet.lines] == [str(kept) for kept in KEPT_COUNTS] * 2
    assert {line["rms_bias"].n for line in sheet.lines} == {1}

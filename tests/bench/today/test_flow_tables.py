"""The newer methods on the flow, VERA's ablations, and the estimators: trials and claims."""

import pytest
from toys_helpers import check_claim, hold_rows, record_of

from bench.catalogue import catalogue
from bench.paper.experiments.families import FLOW_FAMILIES
from bench.paper.experiments.nice import NICE
from bench.paper.experiments.score_bias import IMPORTANCE, SCORE_BIAS
from bench.paper.tables.table2 import LIKELIHOOD
from bench.today.experiments.ablations import ABLATIONS, AXES, BASE_LABEL
from bench.today.experiments.estimators import AR_DAE, ESTIMATORS, LONG_AR_DAE, TRAINED_BY, make_cost_trial
from bench.today.experiments.flow import FLOW, NEW_FLOWS
from bench.today.tables.flow import NEWER
from sweeps.run.attempt import run_trial
from vera.spec.resolve import resolve_spec

FLOW_TABLE, ABLATION_TABLE, ESTIMATOR_TABLE = (
    catalogue.artifact(f"today/{name}") for name in ("flow", "ablations", "estimators")
)
LIKELIHOODS = {"ML": -280.0, "VERA λ=1": -300.0, "ED": -310.0, "SSM": -350.0, "DSM": -360.0}


def flow_records(changes=None):
    for trial in FLOW.trials("laptop"):
        value = (LIKELIHOODS | (changes or {})).get(trial.label, -320.0)
        for seed in (0, 1, 2):
            yield record_of(trial, seed, **{LIKELIHOOD: value + seed * (1 + len(trial.label) % 3)})


def test_the_lines_of_the_paper_are_its_trials():
    own = {trial.id for trial in FLOW.trials("laptop")}
    assert {NICE.trial(line, "laptop").id for line in NICE.lines} <= own
    assert FLOW_FAMILIES.trial("NCE", "laptop").id in own
    estimators = {trial.id for trial in ESTIMATORS.trials("laptop")}
    assert SCORE_BIAS.trial(IMPORTANCE, "laptop").id in estimators


def test_claims_about_the_flow(tmp_path):
    results = hold_rows(tmp_path, flow_records())
    assert {claim.check(results).judgement for claim in FLOW_TABLE.claims} == {"supported"}
    results = hold_rows(tmp_path / "other", flow_records({"SNL": -200.0, "VERA-AR-DAE λ=1": -200.0}))
    for key in ("vera-beats-newer", "importance-beats-ar-dae"):
        assert check_claim(FLOW_TABLE, key, results).judgement == "refuted"
    methods = [line["method"] for line in FLOW_TABLE.render(results).lines]
    assert set(NEWER) < set(methods)


@pytest.mark.parametrize("label", ["SNL", "ED", "CD", "Short-run", "VERA-AR-DAE λ=1"])
def test_a_newer_method_trains_the_flow(label):
    record = run_trial(NEW_FLOWS.trial(label, "smoke"))
    assert record.row.outcome == "ok"
    assert LIKELIHOOD in record.row.metrics


def test_ablations_change_one_setting_of_the_line_of_table_2():
    base = ABLATIONS.trial(BASE_LABEL, "laptop")
    paper = NICE.trial("VERA λ=1", "laptop")
    resolved, of_paper = (resolve_spec(trial.spec) for trial in (base, paper))
    assert {name for name in resolved if resolved[name] != of_paper[name]} == {"evaluate_every"}
    for axis in AXES:
        for value in axis.others:
            other = resolve_spec(ABLATIONS.trial(axis.label(value), "laptop").spec)
            changed = {
                (part, name)
                for part, before, after in (
                    ("method", resolved["method"], other["method"]),
                    ("generator", resolved["networks"]["generator"], other["networks"]["generator"]),
                )
                for name in after
                if before[name] != after[name]
            }
            part = "generator" if axis.of_generator else "method"
            assert (part, axis.setting) in changed
            assert changed <= {(part, axis.setting), ("generator", "sigma")}


def test_claims_about_ablations(tmp_path):
    def records(changes):
        for trial in ABLATIONS.trials("laptop"):
            value = changes.get(trial.label, -320.0)
            for seed in (0, 1, 2):
                yield record_of(trial, seed, **{LIKELIHOOD: value + seed * (1 + len(trial.label) % 3)})

    results = hold_rows(tmp_path, records({BASE_LABEL: -300.0}))
    assert {claim.check(results).judgement for claim in ABLATION_TABLE.claims} == {"supported"}
    results = hold_rows(tmp_path / "other", records({BASE_LABEL: -330.0}))
    assert {claim.check(results).judgement for claim in ABLATION_TABLE.claims} == {"refuted"}
    lines = ABLATION_TABLE.render(results).lines
    assert lines[0]["difference"] == ""
    assert lines[1]["difference"].mean == pytest.approx(10.0 + (len("k = 1") % 3 - len(BASE_LABEL) % 3))


def test_claims_about_estimators(tmp_path):
    def records(bias):
        for trial in ESTIMATORS.trials("laptop"):
            for seed in (0, 1, 2):
                own = bias.get(trial.label, 1.5) + 0.01 * seed * (1 + len(trial.label) % 3)
                yield record_of(trial, seed, rms_bias=own, rms_noise=0.0, deviation=0.1 * own)
        for number, label in enumerate(TRAINED_BY):
            for seed in (0, 1, 2):
                yield record_of(
                    make_cost_trial(label, "laptop"), seed, ratio=4.0 + number + 0.1 * seed**2 * number
                )

    results = hold_rows(tmp_path, records({AR_DAE: 0.5, LONG_AR_DAE: 0.3}))
    assert {claim.check(results).judgement for claim in ESTIMATOR_TABLE.claims} == {"supported"}
    results = hold_rows(tmp_path / "other", records({AR_DAE: 2.5, LONG_AR_DAE: 1.9}))
    biased = ("ar-dae-less-biased", "long-ar-dae-less-biased", "ar-dae-smaller-error")
    assert {check_claim(ESTIMATOR_TABLE, key, results).judgement for key in biased} == {"refuted"}
    costs = {line["estimator"]: line["cost"] for line in ESTIMATOR_TABLE.render(results).lines}
    assert costs[AR_DAE].n == 3
    assert costs[LONG_AR_DAE] == ""


def test_smoke_trials_of_the_estimators_run():
    for trial in (ESTIMATORS.trial(AR_DAE, "smoke"), make_cost_trial(AR_DAE, "smoke")):
        assert run_trial(trial).row.outcome == "ok"


def test_ten_times_the_rounds():
    own, longer = (ESTIMATORS.trial(label, "laptop").spec for label in (AR_DAE, LONG_AR_DAE))
    assert longer.steps == 10 * own.steps
    assert own.method == longer.method

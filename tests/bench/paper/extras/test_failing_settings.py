"""Settings that fail in the paper: declared trials, claims from made-up rows, and smoke trials."""

import pytest
from toys_helpers import check_claim, record_of, results_of

from bench.catalogue import catalogue
from bench.paper.experiments.nice import FAILING_SETTINGS, FAST_COOPNET, NICE, NOISY_PCD, PENALISED_PCD
from bench.paper.tables.table2 import LIKELIHOOD
from sweeps.run.attempt import run_trial

ARTIFACT = catalogue.artifact("failing-settings")


def records(profile="laptop", penalised=-500.0, diverged=2):
    """Rows of two seeds. `diverged` seeds of the unstable settings diverged; a likelihood of None too."""
    for trial, value in (
        (NICE.trial("PCD", profile), -450.0),
        (FAILING_SETTINGS.trial(PENALISED_PCD, profile), penalised),
    ):
        for seed in (0, 1):
            found = {} if value is None else {LIKELIHOOD: value + seed / 10}
            yield record_of(trial, seed, "ok" if found else "diverged", **found)
    for label in (NOISY_PCD, *FAST_COOPNET):
        for seed in (0, 1):
            outcome = "diverged" if seed < diverged else "ok"
            found = {} if outcome == "diverged" else {LIKELIHOOD: -900.0}
            yield record_of(FAILING_SETTINGS.trial(label, profile), seed, outcome, **found)


def test_the_settings_are_points_of_the_papers_grids():
    for label in (PENALISED_PCD, NOISY_PCD, *FAST_COOPNET):
        line = NICE.line(label.split(",")[0])
        tried = [trial.spec.method for trial in NICE.grid_trials(line, "paper")]
        assert FAILING_SETTINGS.trial(label, "paper").spec.method in tried


def test_the_rest_of_each_setting_is_that_of_table_2():
    chosen = NICE.trial("PCD", "laptop").spec
    penalised = FAILING_SETTINGS.trial(PENALISED_PCD, "laptop").spec
    assert penalised.method == {**chosen.method, "gamma": 0.1}
    assert (penalised.steps, penalised.networks) == (chosen.steps, chosen.networks)


@pytest.mark.parametrize(
    ("key", "changes", "judgement"),
    [
        ("penalty-hurts-pcd", {}, "supported"),
        ("penalty-hurts-pcd", {"penalised": -400.0}, "refuted"),
        ("penalty-hurts-pcd", {"penalised": None}, "supported"),
        ("noisy-pcd-diverges", {}, "supported"),
        ("noisy-pcd-diverges", {"diverged": 0}, "not testable"),
        ("noisy-pcd-diverges", {"diverged": 0, "profile": "paper"}, "refuted"),
        ("fast-coopnet-diverges", {}, "supported"),
        ("fast-coopnet-diverges", {"diverged": 1, "profile": "paper"}, "refuted"),
    ],
)
def test_rows_decide_claims(tmp_path, key, changes, judgement):
    results = results_of(tmp_path, records(**changes), changes.get("profile", "laptop"))
    assert check_claim(ARTIFACT, key, results).judgement == judgement


def test_the_table_shows_each_method_after_its_line_of_table_2(tmp_path):
    sheet = ARTIFACT.render(results_of(tmp_path, records()))
    assert [line["method"] for line in sheet.lines] == [
        "PCD", PENALISED_PCD, NOISY_PCD, "CoopNet", *FAST_COOPNET,
    ]  # fmt: skip
    assert {line["method"]: line["step"] for line in sheet.lines}[NOISY_PCD] == "3,000, 3,000"
    assert all(
        claim.check(results_of(tmp_path / "no", [])).judgement == "undetermined" for claim in ARTIFACT.claims
    )


@pytest.mark.parametrize("label", [PENALISED_PCD, *FAST_COOPNET])
def test_smoke_trials_run(label):
    assert run_trial(FAILING_SETTINGS.trial(label, "smoke")).row.outcome in ("ok", "diverged")

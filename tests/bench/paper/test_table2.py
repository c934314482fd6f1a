"""Table 2: its declared trials, its sheet from made-up rows, its claims decided both ways, and one real smoke
trial."""

import csv
import json
from dataclasses import replace

import pytest
from locations import ROOT
from toys_helpers import judged, record_of, results_of

from bench.catalogue import catalogue
from bench.cli.main import main
from bench.judging.results import TUNING_SEED
from bench.paper.experiments.nice import LINES, SETTINGS, line, trial_of, tried
from bench.paper.tables.table2 import BEST, LIKELIHOOD, RIVALS, Table2
from bench.paper.values import paper_value, paper_values
from sweeps.run.attempt import run_trial
from sweeps.trial.identity import with_seed
from sweeps.trial.sweep import find_sweep
from vera.errors import VeraError
from vera.spec.registry import methods

TABLE = Table2()
SHARED = ROOT.parent / "shared" / "paper_values.csv"


def records(values, seeds=(0, 1), profile="laptop"):
    """A record of each line and seed; seeds differ by a tenth."""
    return [
        record_of(trial_of(line(label), profile), seed, **{LIKELIHOOD: value - seed / 10, BEST: value + 1})
        for label, value in values.items()
        for seed in seeds
    ]


PAPER_ORDER = {entry.label: entry.paper or -1180.0 for entry in LINES}


def test_the_sheet_shows_what_was_measured_beside_the_papers_value(tmp_path):
    sheet = TABLE.render(results_of(tmp_path, records(PAPER_ORDER, profile="paper"), "paper"))
    cells = {entry["method"]: entry[LIKELIHOOD] for entry in sheet.lines}
    assert list(cells) == [entry.label for entry in LINES]
    assert cells["VERA λ=1"].mean == pytest.approx(-1138.05)
    assert cells["VERA λ=1"].paper == -1138
    assert cells["VERA λ=1"].verdict == "agrees"
    assert cells["VERA-HMC λ=1, full force"].paper is None


def test_a_value_copied_from_another_paper_has_no_verdict(tmp_path):
    sheet = TABLE.render(results_of(tmp_path, records(PAPER_ORDER, profile="paper"), "paper"))
    cells = {entry["method"]: entry[LIKELIHOOD] for entry in sheet.lines}
    assert {label for label, found in cells.items() if found.paper is not None and found.verdict is None} == {
        "SSM",
        "DSM",
        "CP-SM",
    }
    assert not [note for note in sheet.notes if "tried" in note], "tuning is of laptop alone"


def test_lines_that_were_still_rising_are_named(tmp_path):
    trials = [trial_of(line(label), "laptop") for label in ("ML", "PCD")]
    rows = [
        record_of(trial, 0, **{LIKELIHOOD: -3.0, BEST: best})
        for trial, best in zip(trials, (-3.0, -2.0), strict=True)
    ]
    assert "Still rising when the training ended: ML." in TABLE.render(results_of(tmp_path, rows)).notes


def test_a_line_that_has_not_the_best_setting_says_so(tmp_path):
    values = {trial.label: -10.0 - place for place, trial in enumerate(tried(line("ML"), "laptop"))}
    rows = [
        record_of(trial, TUNING_SEED, **{LIKELIHOOD: values[trial.label]})
        for trial in tried(line("ML"), "laptop")
    ]
    notes = TABLE.render(results_of(tmp_path, rows)).notes
    assert "ML has not the best of what was tried, which is ML lr=0.01." in notes


def test_what_was_tried_ships_and_every_line_has_the_best_of_it(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    notes = TABLE.render(results_of(tmp_path, records(PAPER_ORDER))).notes
    assert any("89 of its 89 trials are in results/published" in note for note in notes)
    assert not [note for note in notes if "has not the best" in note]


def test_tuning_trials_are_no_part_of_the_table(tmp_path):
    chosen = trial_of(line("ML"), "laptop")
    rows = [record_of(chosen, 0, **{LIKELIHOOD: -3.0}), record_of(chosen, TUNING_SEED, **{LIKELIHOOD: -1.0})]
    results = results_of(tmp_path, rows)
    assert results.cell(chosen, LIKELIHOOD).values == (-3.0,)
    assert results.cell(with_seed(chosen, TUNING_SEED), LIKELIHOOD).values == (-1.0,)
    assert any("1 of its 89 trials" in note for note in TABLE.render(results).notes)


@pytest.mark.parametrize(
    ("change", "key", "judgement"),
    [
        ({}, "vera-is-best", "supported"),
        ({"CoopNet": -500.0}, "vera-is-best", "refuted"),
        ({}, "entropy-helps", "supported"),
        ({"VERA λ=0": -900.0}, "entropy-helps", "refuted"),
        ({"VERA λ=0": -1138.02}, "entropy-helps", "undetermined"),
        ({}, "hmc-not-needed", "supported"),
        ({"VERA-HMC λ=1, prior-only force": -800.0}, "hmc-not-needed", "refuted"),
        ({"VERA-HMC λ=1, full force": -800.0}, "hmc-not-needed", "supported"),
        ({"VERA-HMC λ=1, full force": -800.0}, "full-hmc-not-needed", "refuted"),
        ({"VERA-HMC λ=1, full force": -800.0}, "vera-is-best", "supported"),
        ({}, "vera-beats-meg", "supported"),
        ({}, "vera-beats-pcd", "supported"),
        ({"PCD": -10.0}, "vera-beats-pcd", "refuted"),
        ({}, "vera-beats-the-rest", "supported"),
        ({}, "ml-is-best", "supported"),
        ({"ML": -2000.0}, "ml-is-best", "refuted"),
    ],
)
def test_claims_are_decided_by_the_rows(tmp_path, change, key, judgement):
    assert judged(TABLE, key, results_of(tmp_path, records(PAPER_ORDER | change))).judgement == judgement


def test_the_effective_sample_sizes_are_compared(tmp_path):
    trial = trial_of(line("VERA λ=1"), "laptop")
    rows = [
        record_of(trial, seed, posterior_ess=1.3 + seed / 100, prior_ess=1.0 + seed / 1000) for seed in (0, 1)
    ]
    finding = judged(TABLE, "proposal-ess", results_of(tmp_path, rows))
    assert finding.judgement == "supported"
    assert "1.29 and 1" in finding.evidence


def test_every_line_had_the_same_tuning_effort():
    assert {entry.label: len(tried(entry, "laptop")) for entry in LINES} == {
        entry.label: 8 for entry in LINES
    } | {"PCD": 9}
    for entry in LINES:
        assert trial_of(entry, "laptop").spec.method in [
            trial.spec.method for trial in tried(entry, "laptop")
        ], entry.label


def test_the_grids_are_the_papers():
    sizes = {entry.label: len(tried(entry, "paper")) for entry in LINES}
    assert (sizes["VERA λ=1"], sizes["MEG"], sizes["PCD"], sizes["CoopNet"]) == (9, 9, 12, 27)
    for entry in LINES:
        if entry.grid:
            assert trial_of(entry, "paper").spec.method in [
                trial.spec.method for trial in tried(entry, "paper")
            ], entry.label


PROTOCOL = {
    "ML": {"lr": 1e-4, "betas": [0.0, 0.9]},
    "VERA λ=1": {
        "lr": 3e-6,
        "generator_lr": 3e-4,
        "entropy_weight": 1.0,
        "gamma": 0.1,
        "k": 20,
        "posterior_lr": None,
    },
    "VERA λ=0": {"lr": 3e-6, "generator_lr": 3e-4, "entropy_weight": 0.0, "gamma": 0.1},
    "VERA-HMC λ=1, prior-only force": {
        "force": "prior_only",
        "burn_in": 2,
        "kept": 2,
        "leapfrog_steps": 5,
        "adaptation": 0.02,
    },
    "VERA-HMC λ=1, full force": {
        "force": "full",
        "burn_in": 2,
        "kept": 2,
        "leapfrog_steps": 5,
        "entropy_weight": 1.0,
    },
    "MEG": {"lr": 3e-6, "generator_lr": 3e-4, "entropy_weight": 1.0, "gamma": 0.1},
    "PCD": {"lr": 3e-6, "sampler_steps": 40, "noise": 0.1, "capacity": 10_000, "restart": 0.05, "gamma": 0.0},
    "CoopNet": {"lr": 3e-6, "generator_lr": 3e-4, "noise": 0.1, "sampler_steps": 10, "regression_scale": 0.3},
    "SSM": {"lr": 1e-4, "variance_reduced": True},
    "DSM": {"lr": 1e-3, "noise": 0.1},
    "CP-SM": {"lr": 1e-3},
}
"""Sections 3.1 to 3.9 of the fact sheet."""


@pytest.mark.parametrize("entry", LINES, ids=lambda entry: entry.label)
def test_the_paper_profile_is_the_papers_protocol(entry):
    facts = trial_of(entry, "paper").facts
    assert (facts["steps"], facts["batch_size"], facts["evaluate_every"]) == (187_200, 128, 468)
    assert facts["dataset"] == {"name": "mnist-logit", "side": 28}
    assert {name: facts["method"][name] for name in PROTOCOL[entry.label]} == PROTOCOL[entry.label]


def test_the_papers_flow_has_its_fifteen_million_weights():
    from vera.spec.registry import models

    settings = {name: value for name, value in SETTINGS["paper"].networks["energy"].items() if name != "name"}
    assert sum(p.numel() for p in models.create("nice", **settings).parameters()) == 15_154_352


def test_a_plan_at_the_paper_profile_counts_gpu_hours(tmp_path, capsys):
    assert main(["plan", "table2", "--profile", "paper", "--results-dir", str(tmp_path)]) == 0
    summary = capsys.readouterr().out.splitlines()[0]
    assert "33 trials" in summary
    assert "at least 26 GPU-hours" in summary


@pytest.mark.parametrize("entry", LINES, ids=lambda entry: entry.label)
def test_a_smoke_trial_of_every_line_runs(entry):
    record = run_trial(trial_of(entry, "smoke"))
    assert record.row.outcome == "ok"
    assert {LIKELIHOOD, BEST} <= {*json.loads(record.row.metrics)}
    assert record.arrays["exact_samples"].shape == (100, 196)


def test_a_plugged_in_method_has_a_row(tmp_path, monkeypatch):
    from vera.methods.ml import MaximumLikelihood

    class Mine(MaximumLikelihood):
        """Somebody's own."""

    Mine.__module__ = "somewhere.else"
    monkeypatch.setattr(methods, "_known", methods._entries | {"mine": Mine})
    assert [trial.label for trial in TABLE.trials("smoke")][-1] == "mine"
    trial = next(trial for trial in find_sweep("table2").trials("smoke") if trial.label == "mine")
    sheet = TABLE.render(results_of(tmp_path, [record_of(trial, 0, **{LIKELIHOOD: -7.0})], "smoke"))
    assert sheet.lines[-1]["method"] == "mine"
    assert sheet.lines[-1][LIKELIHOOD].values == (-7.0,)
    found = replace(
        trial, spec=replace(trial.spec, method={**trial.spec.method, "lr": 0.5})
    )  # as a search may leave it
    sheet = TABLE.render(
        results_of(tmp_path / "searched", [record_of(found, 0, **{LIKELIHOOD: -1.0})], "smoke")
    )
    assert sheet.lines[-1][LIKELIHOOD].reason == "not run", "a line shows the method with its defaults"


def test_rivals_are_all_that_the_paper_compares():
    assert len(RIVALS) == len(LINES) - 3
    assert catalogue.artifact("table2").name == "table2"


def test_the_papers_values_are_those_it_prints():
    assert paper_value("Table 2", method="PCD") == -4207
    with pytest.raises(VeraError, match="it must be one"):
        paper_value("Table 2", method="VERA")
    assert all(not value["artifact"].startswith("DERIVED") for value in paper_values())


@pytest.mark.skipif(not SHARED.exists(), reason="the fact sheet is not beside this checkout")
def test_the_papers_values_are_those_of_the_fact_sheet():
    with SHARED.open(newline="", encoding="utf-8") as file:
        assert [
            entry for entry in csv.DictReader(file) if not entry["artifact"].startswith("DERIVED")
        ] == list(paper_values())

"""Table 2: declared trials, the sheet and the claims from made-up rows, and a smoke trial of every line."""

import csv
import json
from dataclasses import replace

import pytest
from facts import raises_with
from locations import ROOT
from toys_helpers import check_claim, record_of, results_of

from bench.catalogue import catalogue
from bench.cli.main import main
from bench.experiment import TUNING_SEEDS
from bench.judging.results import Results, open_store
from bench.locations import PUBLISHED
from bench.paper.experiments.images import IMAGES
from bench.paper.experiments.nice import CONTROL, HELD_SIGMA, LINES, NICE
from bench.paper.experiments.tabular import TABULAR
from bench.paper.tables.table2 import BEST, LIKELIHOOD, RIVALS, SIGMA, Table2, read_sigma
from bench.paper.tuning.table2_tuning import find_edges
from bench.paper.values import PAPER
from sweeps.run.attempt import run_trial
from sweeps.store.row import CurvePoint
from sweeps.trial.identity import reseed
from sweeps.trial.matching import TUNING_SEED
from vera.errors import VeraError
from vera.spec.registry import methods

TABLE = Table2()
SHARED = ROOT.parent / "shared" / "paper_values.csv"


def records(values, seeds=(0, 1), profile="laptop"):
    """A record of each line and seed; seeds differ by a tenth."""
    return [
        record_of(NICE.trial(label, profile), seed, **{LIKELIHOOD: value - seed / 10, BEST: value + 1})
        for label, value in values.items()
        for seed in seeds
    ]


def tuning_records(label, values):
    """A record of each setting of the line's grid and tuning seed; `values` are a setting's, seed by seed."""
    trials = NICE.grid_trials(NICE.line(label), "laptop")
    return [
        record_of(
            trial,
            seed,
            "ok" if value is not None else "diverged",
            **({} if value is None else {LIKELIHOOD: value}),
        )
        for trial, of_seeds in zip(trials, values, strict=True)
        for seed, value in zip(TUNING_SEEDS, of_seeds, strict=True)
    ]


MNIST = NICE.data("paper")[0]
PAPER_LINES = [entry for entry in LINES if entry.label != CONTROL]
TUNED = len(PAPER_LINES) * 4 * len(TUNING_SEEDS)
PAPER_ORDER = {entry.label: PAPER.find_for("Table 2", entry, MNIST) or -1180.0 for entry in PAPER_LINES}
"""The paper's values; HMC with the full force has none."""


def test_sheet_shows_measured_and_paper_values(tmp_path):
    sheet = TABLE.render(results_of(tmp_path, records(PAPER_ORDER, profile="paper"), "paper"))
    cells = {entry["method"]: entry[LIKELIHOOD] for entry in sheet.lines}
    assert list(cells) == [entry.label for entry in PAPER_LINES], "the control is of laptop alone"
    assert cells["VERA λ=1"].mean == pytest.approx(-1138.05)
    assert cells["VERA λ=1"].paper == -1138
    assert cells["VERA λ=1"].verdict == "agrees"
    assert cells["VERA-HMC λ=1, full force"].paper is None


def test_values_copied_from_another_paper_have_no_verdict(tmp_path):
    sheet = TABLE.render(results_of(tmp_path, records(PAPER_ORDER, profile="paper"), "paper"))
    cells = {entry["method"]: entry[LIKELIHOOD] for entry in sheet.lines}
    assert {label for label, found in cells.items() if found.paper is not None and found.verdict is None} == {
        "SSM",
        "DSM",
        "CP-SM",
    }
    assert not [note for note in sheet.notes if "tried" in note], "tuning is of laptop alone"


def test_notes_name_lines_still_rising_at_the_end(tmp_path):
    trials = [NICE.trial(label, "laptop") for label in ("ML", "PCD")]
    rows = [
        record_of(trial, 0, **{LIKELIHOOD: -3.0, BEST: best})
        for trial, best in zip(trials, (-3.0, -2.0), strict=True)
    ]
    assert "Still rising when the training ended: ML." in TABLE.render(results_of(tmp_path, rows)).notes


def notes_on_tuning(tmp_path, records):
    return TABLE.render(results_of(tmp_path, records)).notes


def test_tuning_chooses_by_the_mean_over_its_seeds(tmp_path):
    # The setting of the line comes first, so the third of these is another one.
    better = [(-2.0, -2.0), (-1.0, -9.0), (-1.2, -1.0), (-3.0, -3.0)]
    best = NICE.grid_trials(NICE.line("ML"), "laptop")[2].label
    notes = notes_on_tuning(tmp_path / "other", tuning_records("ML", better))
    assert f"ML has not the best of what was tried, which is {best}." in notes
    same = [(-2.0, -2.0), (-1.0, -9.0), (-3.0, -3.0), (-3.0, -3.0)]
    assert not any(
        "has not the best" in note for note in notes_on_tuning(tmp_path, tuning_records("ML", same))
    )


def test_tuning_takes_the_smallest_rate_within_one_standard_error(tmp_path):
    rates = [trial.spec.method["lr"] for trial in NICE.grid_trials(NICE.line("ML"), "laptop")]
    assert rates == [1e-3, 5e-4, 2e-3, 3e-3]
    # The highest mean is −2.5, with a standard error of 1.5.
    near = [(-3.9, -3.9), (-4.1, -4.1), (-3.0, -3.0), (-1.0, -4.0)]
    notes = notes_on_tuning(tmp_path / "near", tuning_records("ML", near))
    assert not any("has not the best" in note for note in notes)
    far = [(-4.1, -4.1), (-4.1, -4.1), (-3.0, -3.0), (-1.0, -4.0)]
    notes = notes_on_tuning(tmp_path / "far", tuning_records("ML", far))
    assert any("has not the best" in note and "lr=0.002" in note for note in notes)


def test_tuning_never_chooses_a_setting_that_diverged_with_a_seed(tmp_path):
    values = [(-2.0, -2.0), (-1.0, None), (-3.0, -3.0), (-3.0, -3.0)]
    notes = notes_on_tuning(tmp_path, tuning_records("ML", values))
    assert not any("has not the best" in note for note in notes)


def test_note_says_what_coopnet_reaches_within_the_noise_of_the_paper(tmp_path):
    noises = [trial.spec.method["noise"] for trial in NICE.grid_trials(NICE.line("CoopNet"), "laptop")]
    values = [(-400.0, -402.0) if noise <= 0.1 else (-300.0, -302.0) for noise in noises]
    (note,) = (
        note for note in notes_on_tuning(tmp_path, tuning_records("CoopNet", values)) if "noise 0.3" in note
    )
    assert {"−301.0", "−401.0"} <= {word.strip(",.") for word in note.split()}


def test_published_tuning_trials_are_complete_and_every_line_has_the_best_setting(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    notes = TABLE.render(results_of(tmp_path, records(PAPER_ORDER))).notes
    assert any(f"{TUNED} of its {TUNED} trials are in results/published" in note for note in notes)
    assert not [note for note in notes if "has not the best" in note or "at the edge" in note]


def test_control_holds_sigma_where_the_entropy_term_leaves_it():
    """The control differs from λ = 1 in λ and σ only."""
    ours, control = (NICE.trial(label, "laptop").spec for label in ("VERA λ=1", CONTROL))
    assert control.method["entropy_weight"] == 0.0
    assert {**control.method, "entropy_weight": 1.0, "posterior_lr": 1e-2} == dict(ours.method)
    generator = control.networks["generator"]
    assert [generator[name] for name in ("sigma", "sigma_min", "sigma_max")] == [HELD_SIGMA] * 3


def test_published_entropy_term_leaves_sigma_where_the_control_holds_it(monkeypatch):
    monkeypatch.chdir(ROOT)
    results = Results(open_store(PUBLISHED), "laptop", "published")
    sigma = read_sigma(results, reseed(NICE.trial("VERA λ=1", "laptop"), TUNING_SEED))
    assert sigma.n == len(TUNING_SEEDS)
    assert sigma.mean == pytest.approx(HELD_SIGMA, abs=0.005)
    held = read_sigma(results, NICE.trial(CONTROL, "laptop"))
    assert held.values == pytest.approx([HELD_SIGMA] * held.n)


def test_note_says_how_much_of_the_gain_the_control_has(tmp_path):
    rows = records({"VERA λ=1": -300.0, "VERA λ=0": -340.0, CONTROL: -310.0})
    (note,) = (note for note in TABLE.render(results_of(tmp_path, rows)).notes if CONTROL in note)
    assert "30.0 of the 40.0" in note


def test_sigma_is_the_last_point_of_its_curve(tmp_path):
    trials = [NICE.trial(label, "laptop") for label in ("VERA λ=1", "ML")]
    made = [record_of(trial, 0, **{LIKELIHOOD: -3.0}) for trial in trials]
    made[0].curves.extend(
        CurvePoint(made[0].row.trial_id, "training", SIGMA, step, value)
        for step, value in ((3_000, 0.75), (30, 0.3))
    )
    sheet = TABLE.render(results_of(tmp_path, made))
    sigmas = {entry["method"]: entry[SIGMA] for entry in sheet.lines}
    assert sigmas["VERA λ=1"].values == (0.75,)
    assert sigmas["ML"] is None


def test_table_leaves_out_tuning_trials(tmp_path):
    chosen = NICE.trial("ML", "laptop")
    rows = [record_of(chosen, 0, **{LIKELIHOOD: -3.0}), record_of(chosen, TUNING_SEED, **{LIKELIHOOD: -1.0})]
    results = results_of(tmp_path, rows)
    assert results.cell(chosen, LIKELIHOOD).values == (-3.0,)
    assert results.cell(reseed(chosen, TUNING_SEED), LIKELIHOOD).values == (-1.0,)
    assert any(f"1 of its {TUNED} trials" in note for note in TABLE.render(results).notes)


@pytest.mark.parametrize(
    ("change", "key", "judgement"),
    [
        ({}, "vera-is-best", "supported"),
        ({"CoopNet": -500.0}, "vera-is-best", "refuted"),
        ({}, "entropy-helps", "supported"),
        ({"VERA λ=0": -900.0}, "entropy-helps", "refuted"),
        ({"VERA λ=0": -1138.02}, "entropy-helps", "undetermined"),
        ({CONTROL: -1200.0}, "entropy-beyond-sigma", "supported"),
        ({CONTROL: -1000.0}, "entropy-beyond-sigma", "refuted"),
        ({CONTROL: -1000.0}, "vera-is-best", "supported"),
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
        ({}, "meg-equals-no-entropy", "supported"),
        ({"MEG": -1300.0}, "meg-equals-no-entropy", "refuted"),
        ({"MEG": -1100.0}, "meg-equals-no-entropy", "refuted"),
        ({}, "coopnet-beats-pcd", "supported"),
        ({"CoopNet": -5000.0}, "coopnet-beats-pcd", "refuted"),
        ({}, "meg-collapses", "undetermined"),
        ({}, "samples-match", "undetermined"),
    ],
)
def test_rows_decide_claims(tmp_path, change, key, judgement):
    assert check_claim(TABLE, key, results_of(tmp_path, records(PAPER_ORDER | change))).judgement == judgement


@pytest.mark.parametrize(
    ("distances", "share", "judgements"),
    [
        ({"VERA λ=1": 0.2, "PCD": 0.9, "MEG": 1.5}, 0.001, ("supported", "supported")),
        ({"VERA λ=1": 1.2, "PCD": 0.9, "MEG": 1.5}, 0.2, ("refuted", "refuted")),
    ],
)
def test_samples_and_variety_decide_claims(tmp_path, distances, share, judgements):
    rows = [
        record_of(
            NICE.trial(label, "laptop"),
            seed,
            training_sample_distance=distance + seed / 1000,
            generator_variance_share=share + seed / 10_000,
        )
        for label, distance in distances.items()
        for seed in (0, 1, 2)
    ]
    results = results_of(tmp_path, rows)
    found = tuple(check_claim(TABLE, key, results).judgement for key in ("samples-match", "meg-collapses"))
    assert found == judgements


def test_proposal_claim_compares_effective_sample_sizes(tmp_path):
    trial = NICE.trial("VERA λ=1", "laptop")
    rows = [
        record_of(trial, seed, posterior_ess=1.3 + seed / 100, prior_ess=1.0 + seed / 1000) for seed in (0, 1)
    ]
    finding = check_claim(TABLE, "proposal-ess", results_of(tmp_path, rows))
    assert finding.judgement == "supported"
    assert "1.29 and 1" in finding.evidence


def test_every_line_has_the_same_tuning_effort():
    assert {entry.label: len(NICE.grid_trials(entry, "laptop")) for entry in PAPER_LINES} == {
        entry.label: 4 for entry in PAPER_LINES
    }
    assert {trial.spec.seed for trial in catalogue.sweep("table2-grid").trials("laptop")} == {*TUNING_SEEDS}


@pytest.mark.parametrize("entry", PAPER_LINES, ids=lambda entry: entry.label)
def test_settings_of_a_line_lie_inside_its_grid(entry):
    assert NICE.trial(entry, "laptop").spec.method in [
        trial.spec.method for trial in NICE.grid_trials(entry, "laptop")
    ]
    assert [*find_edges(entry, "laptop")] == []


def test_paper_grids_are_those_of_the_paper():
    sizes = {entry.label: len(NICE.grid_trials(entry, "paper")) for entry in LINES}
    assert (sizes["VERA λ=1"], sizes["MEG"], sizes["PCD"], sizes["CoopNet"]) == (9, 9, 24, 29)
    for entry in PAPER_LINES:
        if entry.grid:
            assert NICE.trial(entry, "paper").spec.method in [
                trial.spec.method for trial in NICE.grid_trials(entry, "paper")
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


@pytest.mark.parametrize("entry", PAPER_LINES, ids=lambda entry: entry.label)
def test_paper_profile_follows_the_protocol(entry):
    facts = NICE.trial(entry, "paper").facts
    assert (facts["steps"], facts["batch_size"], facts["evaluate_every"]) == (187_200, 128, 468)
    assert facts["dataset"] == {"name": "mnist-logit", "side": 28}
    assert {name: facts["method"][name] for name in PROTOCOL[entry.label]} == PROTOCOL[entry.label]


def test_paper_flow_has_fifteen_million_weights():
    from vera.spec.registry import models

    settings = {
        name: value for name, value in NICE.scales["paper"].networks["energy"].items() if name != "name"
    }
    assert sum(p.numel() for p in models.create("nice", **settings).parameters()) == 15_154_352


def test_plan_at_the_paper_profile_counts_gpu_hours(tmp_path, capsys):
    assert main(["plan", "table2", "--profile", "paper", "--results-dir", str(tmp_path)]) == 0
    summary = capsys.readouterr().out.splitlines()[0]
    assert "33 trials" in summary
    assert "at least 26 GPU-hours" in summary


@pytest.mark.parametrize("entry", LINES, ids=lambda entry: entry.label)
def test_smoke_trial_of_every_line_runs(entry):
    record = run_trial(NICE.trial(entry, "smoke"))
    assert record.row.outcome == "ok"
    assert {LIKELIHOOD, BEST} <= {*json.loads(record.row.metrics)}
    assert record.arrays["exact_samples"].shape == (100, 196)


def test_plugin_method_has_a_line(tmp_path, monkeypatch):
    from vera.methods.ml import MaximumLikelihood

    class MyLikelihood(MaximumLikelihood):
        """A user's method."""

    MyLikelihood.__module__ = "somewhere.else"
    monkeypatch.setattr(methods, "_known", methods._entries | {"mine": MyLikelihood})
    assert [trial.label for trial in TABLE.trials("smoke")][-1] == "mine"
    trial = next(trial for trial in catalogue.sweep("table2").trials("smoke") if trial.label == "mine")
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


def test_rivals_are_the_methods_of_the_paper():
    assert {"ML", "VERA λ=1", "VERA-HMC λ=1, full force", *RIVALS} == {entry.label for entry in PAPER_LINES}
    assert catalogue.artifact("table2").name == "table2"


def test_paper_values_are_those_printed():
    assert PAPER.read_value("Table 2", method="PCD") == -4207
    with raises_with(VeraError, "values.csv", "2 values", "Table 2", "VERA"):
        PAPER.read_value("Table 2", method="VERA")
    assert all(not value["artifact"].startswith("DERIVED") for value in PAPER.entries)


@pytest.mark.parametrize(
    ("artifact", "experiment"), [("Table 2", NICE), ("Table 3", IMAGES), ("Table 6", TABULAR)]
)
def test_every_reference_of_a_line_selects_one_entry(artifact, experiment):
    for data in experiment.data("paper"):
        for entry in experiment.lines:
            if entry.reference is not None:
                assert PAPER.read_text(artifact, dataset=data.reference, **entry.reference), (
                    data.name,
                    entry.label,
                )


@pytest.mark.skipif(not SHARED.exists(), reason="the fact sheet is not beside this checkout")
def test_paper_values_equal_those_of_the_fact_sheet():
    with SHARED.open(newline="", encoding="utf-8") as file:
        assert [
            entry for entry in csv.DictReader(file) if not entry["artifact"].startswith("DERIVED")
        ] == list(PAPER.entries)

"""Table 2: its declared trials, its sheet from made-up rows, its claims decided both ways, and one real smoke trial."""

import csv
import json
from pathlib import Path

import pytest
from toys_helpers import judged, record_of, results_of

from bench.artifact import artifacts
from bench.cli import main
from bench.nice import LINES, SETTINGS, line, trial_of, tried
from bench.reference import paper_value, paper_values
from bench.results import TUNING_SEED
from bench.table2 import BEST, LIKELIHOOD, RIVALS, Table2
from sweeps.attempt import run_trial
from sweeps.sweep import find_sweep
from sweeps.trial import with_seed
from vera.errors import VeraError
from vera.registry import methods

TABLE = Table2()
SHARED = Path(__file__).resolve().parents[3] / "shared" / "paper_values.csv"


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


def test_tuning_trials_are_no_part_of_the_table(tmp_path):
    chosen = trial_of(line("ML"), "laptop")
    rows = [record_of(chosen, 0, **{LIKELIHOOD: -3.0}), record_of(chosen, TUNING_SEED, **{LIKELIHOOD: -1.0})]
    results = results_of(tmp_path, rows)
    assert results.cell(chosen, LIKELIHOOD).values == (-3.0,)
    assert results.cell(with_seed(chosen, TUNING_SEED), LIKELIHOOD).values == (-1.0,)
    (note,) = [note for note in TABLE.render(results).notes if "tuning effort" in note]
    assert "1 of its 89 settings" in note


@pytest.mark.parametrize(
    ("change", "key", "judgement"),
    [
        ({}, "vera-is-best", "supported"),
        ({"CoopNet": -500.0}, "vera-is-best", "refuted"),
        ({}, "entropy-helps", "supported"),
        ({"VERA λ=0": -900.0}, "entropy-helps", "refuted"),
        ({"VERA λ=0": -1138.02}, "entropy-helps", "undetermined"),
        ({}, "hmc-not-needed", "supported"),
        ({"VERA-HMC λ=1, full force": -800.0}, "hmc-not-needed", "refuted"),
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
    rows = [record_of(trial, seed, posterior_ess=1.3 + seed / 100, prior_ess=1.0 + seed / 1000) for seed in (0, 1)]
    finding = judged(TABLE, "proposal-ess", results_of(tmp_path, rows))
    assert finding.judgement == "supported"
    assert "1.29 and 1" in finding.evidence


def test_every_line_had_the_same_tuning_effort():
    assert {entry.label: len(tried(entry, "laptop")) for entry in LINES} == {entry.label: 8 for entry in LINES} | {"PCD": 9}
    for entry in LINES:
        assert trial_of(entry, "laptop").spec.method in [trial.spec.method for trial in tried(entry, "laptop")], entry.label


def test_the_grids_are_the_papers():
    sizes = {entry.label: len(tried(entry, "paper")) for entry in LINES}
    assert (sizes["VERA λ=1"], sizes["MEG"], sizes["PCD"], sizes["CoopNet"]) == (9, 9, 12, 27)
    for entry in LINES:
        if entry.grid:
            assert trial_of(entry, "paper").spec.method in [trial.spec.method for trial in tried(entry, "paper")], entry.label


def test_the_paper_profile_is_the_papers_protocol():
    setting = SETTINGS["paper"]
    assert (setting.steps, setting.batch_size) == (187_200, 128)
    method = trial_of(line("VERA λ=1"), "paper").facts["method"]
    assert (method["lr"], method["generator_lr"], method["gamma"], method["k"]) == (3e-6, 3e-4, 0.1, 20)
    assert trial_of(line("PCD"), "paper").facts["method"]["sampler_steps"] == 40


def test_a_plan_at_the_paper_profile_counts_gpu_hours(tmp_path, capsys):
    assert main(["plan", "table2", "--profile", "paper", "--results-dir", str(tmp_path)]) == 0
    summary = capsys.readouterr().out.splitlines()[0]
    assert "33 trials" in summary
    assert "about 25 GPU-hours" in summary


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


def test_rivals_are_all_but_ml_and_vera():
    assert len(RIVALS) == len(LINES) - 2
    assert artifacts.known["table2"].name == "table2"


def test_the_papers_values_are_those_it_prints():
    assert paper_value("Table 2", method="PCD") == -4207
    with pytest.raises(VeraError, match="it must be one"):
        paper_value("Table 2", method="VERA")
    assert all(not value["artifact"].startswith("DERIVED") for value in paper_values())


@pytest.mark.skipif(not SHARED.exists(), reason="the fact sheet is not beside this checkout")
def test_the_papers_values_are_those_of_the_fact_sheet():
    with SHARED.open(newline="", encoding="utf-8") as file:
        assert [entry for entry in csv.DictReader(file) if not entry["artifact"].startswith("DERIVED")] == list(paper_values())

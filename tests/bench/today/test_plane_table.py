"""The tables of the plane: means over toys, claims from made-up rows, notes on tuning, trials."""

import math
from dataclasses import replace

import pytest
from toys_helpers import check_claim, hold_rows, record_of

from bench.catalogue import catalogue
from bench.today.experiments.plane import METHODS, NETWORK_TUNING, PLANE_MIXTURE, PLANE_NETWORK, TOYS
from bench.today.plane_results import average_over_toys, read_gap, read_sample_gap
from bench.today.tables.density import list_line_trials
from sweeps.run.attempt import run_trial
from vera.spec.registry import tasks

TABLE = catalogue.artifact("today/density")
GAPS = dict.fromkeys(METHODS, 1.0) | {
    "VERA": 0.8,
    "VERA-AR-DAE": 0.6,
    "PCD": 1.5,
    "CD": 1.5,
    "Short-run": 2.5,
    "NCE": 0.3,
    "SNL": 0.3,
    "ED": 0.4,
}
"""Nats below the true density with which all claims of the network hold."""


def records(changes=None, seeds=(0, 1, 2), rim=0.0, fails=()):
    """A row of every trial of the network; `fails` are (label, toy, seed) that diverged."""
    for trial in PLANE_NETWORK.trials("laptop"):
        gap, toy = (GAPS | (changes or {}))[trial.label], trial.spec.dataset["name"]
        for seed in seeds:
            if (trial.label, toy, seed) in fails:
                yield record_of(trial, seed, "diverged", step=7)
                continue
            own = gap + 0.01 * seed * (1 + len(trial.label) % 3)
            yield record_of(
                trial,
                seed,
                ceiling=-2.5,
                grid_log_likelihood=-2.5 - own,
                ema_grid_log_likelihood=-2.5 - own + 0.1 + 0.001 * seed,
                grid_rim_share=rim,
                sample_log_density=-2.6,
                sample_energy_distance=0.01,
            )


def test_all_claims_hold_for_rows_as_claimed(tmp_path):
    results = hold_rows(tmp_path, records())
    assert {claim.key: claim.check(results).judgement for claim in TABLE.claims} == {
        claim.key: "supported" for claim in TABLE.claims
    }


@pytest.mark.parametrize(
    ("key", "changes"),
    [
        ("vera-beats-langevin", {"CD": 0.2}),
        ("contrast-beats-vera", {"ED": 1.9}),
        ("short-run-samples", {"Short-run": 0.2}),
        ("ar-dae-beats-is", {"VERA-AR-DAE": 1.8}),
    ],
)
def test_a_claim_is_refuted_by_other_rows(tmp_path, key, changes):
    assert check_claim(TABLE, key, hold_rows(tmp_path, records(changes))).judgement == "refuted"


def test_a_seed_has_a_mean_only_if_every_toy_has_a_value(tmp_path):
    fails = [("VERA", "rings", 1)]
    results = hold_rows(tmp_path, records(fails=fails))
    trials = list_line_trials(PLANE_NETWORK, "VERA", "laptop")
    cell = average_over_toys(results, trials, read_gap)
    assert (cell.seeds, cell.diverged, cell.total) == ((0, 2), 1, 3)
    assert cell.values == pytest.approx([0.8, 0.8 + 0.02 * (1 + len("VERA") % 3)])
    (line,) = [line for line in TABLE.render(results).lines if line["method"] == "VERA"]
    assert line["diverged_trials"] == "1 of 18"
    assert line["gap_rings"].n == 2
    assert line["gap_moons"].n == 3


def test_a_toy_that_was_not_run_leaves_no_mean(tmp_path):
    few = [record for record in records() if record.row.dataset != "moons"]
    trials = list_line_trials(PLANE_NETWORK, "ED", "laptop")
    cell = average_over_toys(hold_rows(tmp_path, few), trials, read_gap)
    assert (cell.total, cell.reason) == (0, "not run")


def test_a_likelihood_that_is_only_a_bound_is_not_measured(tmp_path):
    results = hold_rows(tmp_path, records(rim=0.01))
    (line,) = [line for line in TABLE.render(results).lines if line["method"] == "ED"]
    assert (line["gap"].n, line["gap"].unmeasured, line["beyond_grid"]) == (0, 3, "18 of 18")
    assert {claim.check(results).judgement for claim in TABLE.claims} == {"undetermined"}


def test_a_method_without_samples_has_no_sample_columns(tmp_path):
    made = [
        replace(each, row=replace(each.row, metrics='{"ceiling":-2.5,"grid_log_likelihood":-3.0}'))
        for each in records()
    ]
    (line,) = [line for line in TABLE.render(hold_rows(tmp_path, made)).lines if line["method"] == "SSM"]
    assert (line["sample_gap"], line["distance"]) == ("", "")


def test_the_note_names_a_line_that_has_not_the_best_of_its_grid(tmp_path):
    def tuning_records():
        for line in NETWORK_TUNING.lines:
            for toy in NETWORK_TUNING.data("laptop"):
                for number, trial in enumerate(NETWORK_TUNING.grid_trials(line, "laptop", toy)):
                    gap = 1.0 + (number if line.label != "ED" else -0.1 * number)
                    yield record_of(trial, 100, ceiling=0.0, grid_log_likelihood=-gap, grid_rim_share=0.0)

    notes = TABLE.render(hold_rows(tmp_path, tuning_records())).notes
    assert [note for note in notes if "156 of its trials" in note and "4 configurations" in note]
    named = [note for note in notes if "does not have the best" in note]
    assert len(named) == 1
    assert named[0].startswith("ED ")
    assert "ED lr=0.003 t=0.3" in named[0]


@pytest.mark.parametrize("experiment", [PLANE_NETWORK, PLANE_MIXTURE], ids=["network", "mixture"])
def test_every_declared_trial_trains(experiment):
    for line in experiment.lines:
        for trial in experiment.grid_trials(line, "laptop", TOYS[0]):
            spec = replace(trial.spec, steps=1, evaluate_every=None, ema=None, batch_size=20)
            trainer = tasks.create("density").build(spec)
        trainer.evaluate = None
        assert trainer.run().outcome == "ok", trial.label


@pytest.mark.parametrize(
    ("experiment", "label"),
    [(PLANE_NETWORK, "VERA"), (PLANE_MIXTURE, "Short-run")],
    ids=["network", "mixture"],
)
def test_a_smoke_trial_measures_what_the_table_reads(experiment, label, tmp_path):
    trial = experiment.trial(label, "smoke")
    record = run_trial(trial)
    assert record.row.outcome == "ok"
    results = hold_rows(tmp_path, [record], "smoke")
    (value,) = results.measure(trial, read_sample_gap).values
    assert math.isfinite(value)
    table = catalogue.artifact("today/density" if experiment is PLANE_NETWORK else "today/mixture")
    (line,) = [line for line in table.render(results).lines if line["method"] == label]
    if experiment is PLANE_NETWORK:
        assert line["beyond_grid"] == "1 of 1", "a network that is hardly trained is flat"
    else:
        assert (line["gap"].n, line["averaged_gap"].n) == (1, 1)

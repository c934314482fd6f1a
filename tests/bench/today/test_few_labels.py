"""Ten labels a class: the trials of Table 6 beside two lines of its own, the grid, claims, matching."""

from collections import Counter
from dataclasses import replace

from toys_helpers import check_claim, hold_rows, record_of

from bench.catalogue import catalogue
from bench.paper.experiments.tabular import TABULAR
from bench.today.experiments.few_labels import AVERAGED, EMA, FEW_LABELS, HDGE, VERA
from sweeps.run.attempt import run_trial
from vera.spec.resolve import resolve_spec

TABLE = catalogue.artifact("today/few-labels")


def records(hdge=0.8, averaged=0.95):
    for trial in FEW_LABELS.trials("laptop"):
        for seed in (0, 1, 2):
            value = (hdge if trial.label == HDGE else 0.9) + 0.001 * seed * (1 + len(trial.label) % 3)
            more = {"ema_test_accuracy": averaged + 0.002 * seed} if trial.label == AVERAGED else {}
            yield record_of(trial, seed, test_accuracy=value, collapsed=0.0, **more)


def test_the_lines_of_table_6_are_its_trials():
    own = {trial.id for trial in FEW_LABELS.trials("laptop")}
    assert {trial.id for trial in TABULAR.trials("laptop")} < own
    for data in FEW_LABELS.data("laptop"):
        plain, averaged = (FEW_LABELS.trial(label, "laptop", data).spec for label in (VERA, AVERAGED))
        assert resolve_spec(replace(averaged, ema=None)) == resolve_spec(plain)
        assert averaged.ema == EMA


def test_hdge_has_as_many_configurations_as_the_lines_of_table_6():
    grids = [
        catalogue.sweep(name).trials("laptop", [100, 101])
        for name in ("today/few-labels-grid", "table6-grid")
    ]
    own, paper = (
        Counter((trial.spec.method["name"], trial.spec.dataset["name"]) for trial in grid) for grid in grids
    )
    assert own == {("hdge", name): paper["vera", name] for name in ("digits-table", "mnist5k-table")}


def test_rows_with_averaged_weights_are_not_taken_for_those_without(tmp_path):
    results = hold_rows(tmp_path, records())
    for data in FEW_LABELS.data("laptop"):
        for label in (VERA, AVERAGED):
            rows = results.find_rows(FEW_LABELS.trial(label, "laptop", data))
            assert [row.label for row in rows] == [label] * 3
    assert results.notes == []


def test_claims(tmp_path):
    results = hold_rows(tmp_path, records())
    assert {claim.check(results).judgement for claim in TABLE.claims} == {"supported"}
    results = hold_rows(tmp_path / "other", records(hdge=0.97, averaged=0.8))
    for key in ("vera-beats-hdge", "averaging-helps-vera"):
        assert check_claim(TABLE, key, results).judgement == "refuted"


def test_smoke_trials_of_the_new_lines_run():
    for label in (HDGE, AVERAGED):
        record = run_trial(FEW_LABELS.trial(label, "smoke"))
        assert record.row.outcome == "ok"
    assert "ema_test_accuracy" in record.row.metrics

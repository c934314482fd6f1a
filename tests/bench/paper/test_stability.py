"""Stability: counts and claims from made-up rows."""

from dataclasses import replace

from image_records import image_records, line_of
from toys_helpers import check_claim, results_of

from bench.catalogue import catalogue
from bench.paper.extras.stability import VERA

STABILITY = catalogue.artifact("stability")


def test_table_counts_divergences_and_restarts(tmp_path):
    made = [*image_records(diverged=("HDGE",))]
    again = [
        replace(record, row=replace(record.row, restarts='[{"step": 5}, {"step": 9}]'))
        if record.row.label == "JEM"
        else record
        for record in made
    ]
    sheet = STABILITY.render(results := results_of(tmp_path, again, "paper"))
    hdge = line_of(sheet, dataset="SVHN", method="HDGE")
    assert (hdge["diverged"], hdge["fraction"], hdge["step"]) == ("3 of 3", 1.0, "7, 7, 7")
    assert hdge["restarts"] == 0.0
    assert line_of(sheet, dataset="SVHN", method="JEM")["restarts"] == 6.0
    assert check_claim(STABILITY, "jem-is-not", results).judgement == "supported"
    diverged = results_of(tmp_path / "diverged", image_records(diverged=VERA), "paper")
    assert check_claim(STABILITY, "vera-is-stable", diverged).judgement == "refuted"


def test_failed_or_short_trials_do_not_show_stability(tmp_path):
    failed = [
        replace(record, row=replace(record.row, outcome="error", metrics="{}")) for record in image_records()
    ]
    results = results_of(tmp_path / "failed", failed, "paper")
    assert {check_claim(STABILITY, key, results).judgement for key in ("vera-is-stable", "jem-is-not")} == {
        "undetermined"
    }
    short = results_of(tmp_path / "short", image_records("laptop"))
    assert check_claim(STABILITY, "vera-is-stable", short).judgement == "undetermined"

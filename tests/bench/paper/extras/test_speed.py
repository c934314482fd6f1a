"""Speed: the claim and the paper's value from made-up rows, and a smoke trial."""

import pytest
from toys_helpers import check_claim, record_of, results_of

from bench.catalogue import catalogue
from sweeps.run.attempt import run_trial

SPEED = catalogue.artifact("speed")


@pytest.mark.parametrize(
    ("level", "judgement"), [(2.8, "supported"), (0.5, "refuted"), (1.0, "undetermined")]
)
def test_ratio_is_judged_and_shown_with_the_paper_value(tmp_path, level, judgement):
    made = [
        record_of(trial, seed, ratio=level + 0.001 * seed, vera_seconds=1.0, jem_seconds=level, spread=0.1)
        for trial in SPEED.trials("paper")
        for seed in (0, 1, 2)
    ]
    results = results_of(tmp_path, made, "paper")
    assert check_claim(SPEED, "vera-is-faster", results).judgement == judgement
    (entry,) = SPEED.render(results).lines
    assert (entry["classifier"], entry["ratio"].paper, entry["ratio"].mean) == (
        "WRN-28-10",
        2.8,
        pytest.approx(level + 0.001),
    )


def test_smoke_trial_times_both_methods(tmp_path):
    (trial,) = SPEED.trials("smoke")
    record = run_trial(trial)
    assert record.row.outcome == "ok"
    (entry,) = SPEED.render(results_of(tmp_path, [record], "smoke")).lines
    assert min(entry[key].mean for key in ("vera_seconds", "jem_seconds", "ratio")) > 0

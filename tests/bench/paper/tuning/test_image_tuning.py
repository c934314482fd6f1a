"""The rule that chooses the settings of images at `laptop`, and the notes of Table 3 on it."""

import pytest
from toys_helpers import record_of, results_of

from bench.catalogue import catalogue
from bench.experiment import TUNING_SEEDS
from bench.paper.experiments.images import IMAGES
from bench.paper.tuning.image_tuning import choose_setting, read_tuning
from sweeps.trial.identity import reseed

TABLE3 = catalogue.artifact("table3")


def make_tuning_records(label, results_by_rate, outcomes=("ok", "ok")):
    """Records of a line's grid; accuracy and distance of samples by learning rate."""
    for trial in IMAGES.grid_trials(IMAGES.line(label), "laptop"):
        accuracy, distance = results_by_rate[trial.spec.method["lr"]]
        metrics = {"test_accuracy": accuracy} | ({} if distance is None else {"fid_digits": distance})
        for seed, outcome in zip(TUNING_SEEDS, outcomes, strict=True):
            yield record_of(reseed(trial, seed), seed, outcome, **(metrics if outcome == "ok" else {}))


def choose_rate(tmp_path, label, *records):
    chosen = choose_setting(read_tuning(results_of(tmp_path, records), IMAGES.line(label)))
    return None if chosen is None else chosen.trial.spec.method["lr"]


RATES = IMAGES.line("VERA α=1").points_at("laptop")
LOW, *_, HIGH = [point["lr"] for point in RATES]


@pytest.mark.parametrize(
    ("low", "high", "chosen"),
    [
        ((0.95, 10.0), (0.955, 20.0), LOW),
        ((0.93, 10.0), (0.955, 20.0), HIGH),
        ((0.95, None), (0.955, None), HIGH),
    ],
    ids=["better samples within a point", "too inaccurate", "without samples"],
)
def test_samples_decide_within_a_point_of_the_best_accuracy(tmp_path, low, high, chosen):
    poor = (0.1, None if low[1] is None else 1.0)
    found = {point["lr"]: poor for point in RATES} | {LOW: low, HIGH: high}
    assert choose_rate(tmp_path, "VERA α=1", *make_tuning_records("VERA α=1", found)) == chosen


def test_a_setting_that_diverged_once_is_never_chosen(tmp_path):
    found = {point["lr"]: (0.9, 10.0) for point in RATES}
    records = make_tuning_records("VERA α=30", found, outcomes=("ok", "diverged"))
    assert choose_rate(tmp_path, "VERA α=30", *records) is None


def test_table_3_names_a_line_that_has_another_setting_than_the_rule_chooses(tmp_path):
    best = next(
        point["lr"] for point in RATES if point["lr"] != IMAGES.line("VERA α=1").settings("laptop")["lr"]
    )
    found = {point["lr"]: (0.9 if point["lr"] == best else 0.5, 10.0) for point in RATES}
    notes = TABLE3.render(results_of(tmp_path, make_tuning_records("VERA α=1", found))).notes
    assert any("VERA α=1 has not the setting" in note and f"lr={best:g}" in note for note in notes)
    assert any(f"{2 * len(RATES)} of its" in note for note in notes)

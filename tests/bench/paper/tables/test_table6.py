"""Table 6: declared trials, the sheet and the claims from made-up rows, and other data."""

import re

import pytest
from bench_helpers import row_of, store_rows
from facts import raises_with
from tabular_records import AS_CLAIMED, lines_of, table6_records
from toys_helpers import check_claim, results_of

from bench.catalogue import catalogue
from bench.paper.experiments.tabular import LINES, TABULAR
from bench.paper.experiments.tabular_data import PAPER_TABLES
from bench.paper.values import PAPER
from vera.errors import SettingError

TABLE6 = catalogue.artifact("table6")


@pytest.mark.parametrize("profile", TABULAR.scales)
def test_every_line_is_declared_once_on_every_data_set(profile):
    trials = list(TABLE6.trials(profile))
    assert len({trial.id for trial in trials}) == len(trials) == len(TABULAR.data(profile)) * len(LINES)
    assert len(catalogue.sweep("table6").trials(profile)) == len(trials) * len(TABLE6.seeds[profile])
    assert TABLE6.seeds["paper"] == (0, 1, 2)


def test_paper_profile_has_the_settings_of_the_paper():
    steps = {table.name: (table.steps, table.decay_at) for table in PAPER_TABLES}
    assert steps == {
        "HEPMASS": (98_437, [4_921, 9_843]),
        "CROP": (82_460, [61_845, 70_091]),
        "HUMAN": (82_400, [20_600, 30_900, 41_200, 61_800]),
        "MNIST": (187_400, [140_550, 163_975]),
    }
    for trial in TABLE6.trials("paper"):
        facts, method = trial.facts, trial.facts["method"]
        assert facts["networks"]["energy"]["hidden"] == [1000, 500, 500, 250, 250, 250]
        assert {value for name, value in method.items() if name.endswith("lr") and value is not None} == {
            method["lr"]
        }
        assert facts["dataset"]["labels_per_class"] == (None if trial.label == "Full-label" else 10)
        assert (facts["batch_size"], method["decay"]) == (64, 0.3)
        assert facts["networks"]["energy"]["weight_normalised"] == (facts["dataset"]["name"] == "mnist-table")
        if trial.label == "JEM":
            assert (method["step_size"], method["noise"], method["capacity"]) == (1.0, 0.01, 10_000)
        if trial.label == "VERA":
            assert (method["gamma"], method["k"], facts["networks"]["generator"]["hidden"]) == (
                0.1,
                20,
                [500] * 3,
            )


def test_lines_show_percentages_and_paper_values(tmp_path):
    sheet = TABLE6.render(results_of(tmp_path, table6_records(profile="paper"), "paper"))
    own = lines_of(sheet, "CROP")["VERA"]
    assert own["test_accuracy"].mean == pytest.approx(90.1)
    assert own["test_accuracy"].paper == PAPER.read_value("Table 6", dataset="CROP", method="VERA") == 94.9
    assert (own["collapsed"], own["brier"].mean, own["auroc"]) == ("0 of 3", pytest.approx(0.3), "")


def test_laptop_lines_have_no_paper_value(tmp_path):
    sheet = TABLE6.render(results_of(tmp_path, table6_records()))
    assert {entry["test_accuracy"].paper for entry in sheet.lines} == {None}


def test_collapsed_and_diverged_trials_are_counted(tmp_path):
    made = [*table6_records({"JEM": None, "VAT": 0.5}, collapsed=1.0)]
    found = lines_of(TABLE6.render(results_of(tmp_path, made)), "wine")
    assert (found["JEM"]["test_accuracy"].diverged, found["JEM"]["collapsed"]) == (3, "")
    assert found["VAT"]["collapsed"] == "3 of 3"


def test_rows_decide_claims(tmp_path):
    good = results_of(tmp_path / "good", table6_records())
    assert {claim.key: claim.check(good).judgement for claim in TABLE6.claims} == dict.fromkeys(
        ["vera-beats-supervised", "vera-beats-vat", "vera-beats-meg", "jem-fails", "one-network"], "supported"
    )
    bad = results_of(tmp_path / "bad", table6_records({"VERA": 0.7, "JEM": 0.95}))
    keys = ("vera-beats-supervised", "vera-beats-vat", "vera-beats-meg", "jem-fails")
    assert {check_claim(TABLE6, key, bad).judgement for key in keys} == {"refuted"}


def test_data_sets_on_which_every_label_is_no_better_than_ten_are_left_out(tmp_path):
    """VERA is worst on wine, where the full-label line is level with the supervised one."""
    rows = list(table6_records())
    level = {"Full-label": 0.9, "Supervised": 0.9, "VERA": 0.7}
    on_wine = [record for record in table6_records(level) if record.row.dataset == "wine"]
    others = [record for record in rows if record.row.dataset != "wine"]
    finding = check_claim(TABLE6, "vera-beats-supervised", results_of(tmp_path / "some", others + on_wine))
    assert (finding.judgement, "wine is left out" in finding.evidence) == ("supported", True)
    none = results_of(tmp_path / "none", table6_records(level))
    assert check_claim(TABLE6, "vera-beats-vat", none).judgement == "not testable"


@pytest.mark.parametrize("value", [None, 0.99])
def test_jem_fails_by_diverging_or_collapsing(tmp_path, value):
    alone = [record for record in table6_records({"JEM": value}, collapsed=1.0) if record.row.label == "JEM"]
    others = [record for record in table6_records() if record.row.label != "JEM"]
    finding = check_claim(TABLE6, "jem-fails", results_of(tmp_path, [*alone, *others]))
    assert finding.judgement == "supported"
    assert ("3 diverged" in finding.evidence) != ("3 collapsed" in finding.evidence)


def jem_among(tmp_path, endings, others=None, **metrics):
    """The claim for these endings of JEM on every data set: an accuracy, or None for a diverged trial."""
    made = [
        record for record in (others if others is not None else table6_records()) if record.row.label != "JEM"
    ]
    for seed, value in enumerate(endings):
        made += [
            record
            for record in table6_records({"JEM": value}, (seed,), **metrics)
            if record.row.label == "JEM"
        ]
    return check_claim(TABLE6, "jem-fails", results_of(tmp_path, made))


def test_one_failed_trial_is_not_a_failure_of_jem(tmp_path):
    assert jem_among(tmp_path / "most", [None, None, 0.99]).judgement == "supported"
    few = jem_among(tmp_path / "few", [None, 0.99, 0.99])
    assert few.judgement == "undetermined"
    assert "of 3 trials 1 diverged and 0 collapsed; Supervised − JEM" in few.evidence
    assert jem_among(tmp_path / "none", [0.99, 0.98, 0.99]).judgement == "refuted"
    assert jem_among(tmp_path / "one", [None]).judgement == "undetermined"


def test_collapse_counts_only_if_the_supervised_baseline_was_run(tmp_path):
    without = [record for record in table6_records() if record.row.label != "Supervised"]
    assert jem_among(tmp_path / "without", [0.1] * 3, without, collapsed=1.0).judgement == "undetermined"
    assert jem_among(tmp_path / "with", [0.1] * 3, collapsed=1.0).judgement == "supported"


def test_collapse_shared_with_the_supervised_baseline_does_not_count(tmp_path):
    results = results_of(tmp_path, table6_records({"JEM": 0.99}, collapsed=1.0))
    assert check_claim(TABLE6, "jem-fails", results).judgement == "refuted"


def test_other_data_replace_those_of_the_profile():
    other = TABLE6.on({"name": "wine", "labels_per_class": 5})
    shown = {trial.label: trial.spec.dataset["labels_per_class"] for trial in other.trials("laptop")}
    assert shown == dict.fromkeys([entry.label for entry in LINES], 5) | {"Full-label": None}
    with raises_with(SettingError, "--profile paper", "hepmass, crop, human, mnist-table"):
        list(other.trials("paper"))
    with raises_with(SettingError, "table2", "--dataset", "table3", "table6"):
        catalogue.on_dataset(catalogue.artifact("table2"), {"name": "wine"})


def test_other_data_have_their_own_claims_and_files(tmp_path):
    other = TABLE6.on({"name": "csv", "file": "my iris.csv", "label": "species"})
    made = [record_of_row(trial, seed) for trial in other.trials("laptop") for seed in (0, 1, 2)]
    results = store_rows(tmp_path, made)
    assert re.fullmatch("table6-my-iris-csv-label-species-[0-9a-f]{6}", other.render(results).name)
    assert other.claims[0].check(results).judgement == "supported"
    assert "my iris.csv (label=species): VERA" in other.claims[0].check(results).evidence


def record_of_row(trial, seed):
    return row_of(trial, seed, AS_CLAIMED[trial.label] + 0.001 * seed, metric="test_accuracy")

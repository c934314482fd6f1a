"""Tables 6, 8 and 9, Figure 8 and the reliability diagram: what they declare, what they say of made-up rows,
and real trials."""

import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from bench_helpers import row_of, stored
from engine_helpers import ROOT
from toys_helpers import judged, record_of, results_of

from bench.catalogue import catalogue
from bench.paper.experiments.tabular import (
    LINES,
    PAPER,
    RECOMPUTED,
    RECOMPUTED_HUMAN,
    TABLES,
    line,
    own_table,
    tried,
)
from bench.paper.extras.reliability import pooled
from bench.paper.tables.table8 import FACTS, SEED, facts_trial
from bench.paper.tables.table9 import READINGS, differences
from bench.paper.values import paper_value
from bench.render.layout import spread
from sweeps.run.attempt import run_trial
from sweeps.trial.sweep import find_sweep
from vera.errors import SettingError

TABLE6, TABLE8, TABLE9, FIGURE8, DIAGRAM = (
    catalogue.artifact(name) for name in ("table6", "table8", "table9", "figure8", "reliability")
)
AS_CLAIMED = {"Supervised": 0.8, "VAT": 0.85, "MEG": 0.78, "JEM": 0.5, "VERA": 0.9, "Full-label": 0.97}


def records(changes=None, seeds=(0, 1, 2), profile="laptop", **metrics):
    """Every trial of Table 6; a value of None diverged, later seeds lie .001 above each other."""
    for trial in TABLE6.trials(profile):
        value = (AS_CLAIMED | (changes or {}))[trial.label]
        for seed in seeds:
            if value is None:
                yield record_of(trial, seed, "diverged", step=7)
            else:
                own = {
                    "test_accuracy": value + 0.001 * seed,
                    "best_test_accuracy": value + 0.01,
                    "brier": 0.3,
                    "collapsed": 0.0,
                }
                yield record_of(trial, seed, **(own | metrics))


def lines_of(sheet, dataset):
    return {entry["method"]: entry for entry in sheet.lines if entry["dataset"] == dataset}


@pytest.mark.parametrize("profile", TABLES)
def test_every_method_stands_on_every_data_set_once(profile):
    trials = list(TABLE6.trials(profile))
    assert len({trial.id for trial in trials}) == len(trials) == len(TABLES[profile]) * len(LINES)
    assert len(find_sweep("table6").trials(profile)) == len(trials) * len(TABLE6.seeds[profile])
    assert TABLE6.seeds["paper"] == (0, 1, 2)


def test_the_paper_profile_has_the_papers_budgets():
    steps = {table.name: (table.steps, table.decay_at) for table in PAPER}
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


def test_table_9_is_read_off_the_trials_and_is_the_papers(tmp_path):
    assert differences("paper") == []
    sheet = TABLE9.render(results_of(tmp_path, [], "paper"))
    assert {entry["setting"]: entry["HUMAN"] for entry in sheet.lines}["JEM κ"] == "40"
    assert len(sheet.lines) == len(READINGS) == 11


def test_a_setting_that_is_not_the_papers_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(TABLES, "paper", (replace(PAPER[0], epsilon=0.2), *PAPER[1:]))
    assert differences("paper") == ["HEPMASS VAT ε: 0.2, in the paper 0.1"]
    finding = judged(TABLE9, "settings", results_of(tmp_path, [], "paper"))
    assert finding.judgement == "refuted"


def test_lines_are_percentages_with_the_papers_beside_them(tmp_path):
    sheet = TABLE6.render(results_of(tmp_path, records(profile="paper"), "paper"))
    own = lines_of(sheet, "CROP")["VERA"]
    assert own["test_accuracy"].mean == pytest.approx(90.1)
    assert own["test_accuracy"].paper == paper_value("Table 6", dataset="CROP", method="VERA") == 94.9
    assert (own["collapsed"], own["brier"].mean, own["auroc"]) == ("0 of 3", pytest.approx(0.3), "")


def test_laptop_lines_have_no_value_of_the_paper(tmp_path):
    sheet = TABLE6.render(results_of(tmp_path, records()))
    assert {entry["test_accuracy"].paper for entry in sheet.lines} == {None}


def test_collapse_and_divergence_are_counted(tmp_path):
    made = [*records({"JEM": None, "VAT": 0.5}, collapsed=1.0)]
    found = lines_of(TABLE6.render(results_of(tmp_path, made)), "wine")
    assert (found["JEM"]["test_accuracy"].diverged, found["JEM"]["collapsed"]) == (3, "")
    assert found["VAT"]["collapsed"] == "3 of 3"


def test_claims_hold_where_the_rows_say_so_and_not_else(tmp_path):
    good = results_of(tmp_path / "good", records())
    assert {claim.key: claim.check(good).judgement for claim in TABLE6.claims} == dict.fromkeys(
        ["vera-beats-supervised", "vera-beats-vat", "vera-beats-meg", "jem-fails", "one-network"], "supported"
    )
    bad = results_of(tmp_path / "bad", records({"VERA": 0.7, "JEM": 0.95}))
    keys = ("vera-beats-supervised", "vera-beats-vat", "vera-beats-meg", "jem-fails")
    assert {judged(TABLE6, key, bad).judgement for key in keys} == {"refuted"}


@pytest.mark.parametrize("value", [None, 0.99])
def test_jem_fails_by_diverging_or_collapsing_too(tmp_path, value):
    alone = [record for record in records({"JEM": value}, collapsed=1.0) if record.row.label == "JEM"]
    others = [record for record in records() if record.row.label != "JEM"]
    finding = judged(TABLE6, "jem-fails", results_of(tmp_path, [*alone, *others]))
    assert finding.judgement == "supported"
    assert ("3 diverged" in finding.evidence) != ("3 collapsed" in finding.evidence)


def jem_among(tmp_path, endings, others=None, **metrics):
    """The claim where JEM's trials end so, an accuracy or None for one that diverged, on every data set."""
    made = [record for record in (others if others is not None else records()) if record.row.label != "JEM"]
    for seed, value in enumerate(endings):
        made += [
            record for record in records({"JEM": value}, (seed,), **metrics) if record.row.label == "JEM"
        ]
    return judged(TABLE6, "jem-fails", results_of(tmp_path, made))


def test_one_lost_trial_is_no_failure_of_jem(tmp_path):
    assert jem_among(tmp_path / "most", [None, None, 0.99]).judgement == "supported"
    few = jem_among(tmp_path / "few", [None, 0.99, 0.99])
    assert few.judgement == "undetermined"
    assert "of 3 trials 1 diverged and 0 collapsed; Supervised − JEM" in few.evidence
    assert jem_among(tmp_path / "none", [0.99, 0.98, 0.99]).judgement == "refuted"
    assert jem_among(tmp_path / "one", [None]).judgement == "undetermined"


def test_a_collapse_counts_only_beside_labels_alone_that_were_run(tmp_path):
    without = [record for record in records() if record.row.label != "Supervised"]
    assert jem_among(tmp_path / "without", [0.1] * 3, without, collapsed=1.0).judgement == "undetermined"
    assert jem_among(tmp_path / "with", [0.1] * 3, collapsed=1.0).judgement == "supported"


def test_a_collapse_that_the_labels_alone_share_says_nothing_of_jem(tmp_path):
    assert (
        judged(TABLE6, "jem-fails", results_of(tmp_path, records({"JEM": 0.99}, collapsed=1.0))).judgement
        == "refuted"
    )


@pytest.mark.parametrize("artifact", [TABLE6, TABLE8], ids=lambda artifact: artifact.name)
def test_without_rows_every_claim_is_undetermined(tmp_path, artifact):
    results = results_of(tmp_path, [], "paper")
    assert {claim.check(results).judgement for claim in artifact.claims} == {"undetermined"}


def test_recomputed_columns_are_named(tmp_path):
    made = [*records(profile="paper")]
    plain = TABLE6.render(results_of(tmp_path / "plain", made, "paper"))
    changed = [replace(record, row=replace(record.row, data_fingerprint=RECOMPUTED)) for record in made]
    named = TABLE6.render(results_of(tmp_path / "named", changed, "paper"))
    assert RECOMPUTED_HUMAN not in plain.notes
    assert RECOMPUTED_HUMAN in named.notes
    facts = record_of(facts_trial(PAPER[2], "paper"), SEED)
    counted = results_of(
        tmp_path / "facts", [replace(facts, row=replace(facts.row, data_fingerprint=RECOMPUTED))], "paper"
    )
    assert RECOMPUTED_HUMAN in TABLE8.render(counted).notes
    assert RECOMPUTED_HUMAN in DIAGRAM.render(results_of(tmp_path / "named", [], "paper")).notes


def test_the_fingerprint_of_recomputed_columns_is_that_of_the_file():
    from vera.data.fingerprint import fingerprint_of
    from vera.data.tables import uci_human as human

    kind = human.Human
    files = {kind.file.name: human.RECOMPUTED}
    assert fingerprint_of(form=kind.file.source, version=kind.version, files=files) == RECOMPUTED


def test_the_grid_is_the_appendix_s():
    found = {
        trial.label: trial.spec.method for trial in tried("paper") if trial.spec.dataset["name"] == "human"
    }
    assert sorted(method["beta"] for label, method in found.items() if label.startswith("VERA beta=")) == [
        10.0
    ]
    assert found["JEM gamma=0.1"]["gamma"] == 0.1
    assert {label for label in found if label.startswith("VAT epsilon")} == {
        f"VAT epsilon={e}" for e in ("0.01", "1", "3", "10")
    }


def test_the_papers_own_sets_may_be_cut_otherwise_at_its_profile():
    table = own_table({"name": "mnist-table", "validation": "tenth"}, "paper")
    assert (table.steps, table.lr, table.dataset["validation"]) == (PAPER[3].steps, PAPER[3].lr, "tenth")


def test_table_8_compares_counts(tmp_path):
    paper = {
        table.name: {fact: paper_value("Table 8", dataset=table.name, metric=fact) for fact in FACTS}
        for table in PAPER
    }
    shares = {
        name: facts | {"max_class_percent": facts["max_class_percent"] + 0.04}
        for name, facts in paper.items()
    }
    good = [record_of(facts_trial(table, "paper"), SEED, **shares[table.name]) for table in PAPER]
    assert judged(TABLE8, "counts", results_of(tmp_path / "good", good, "paper")).judgement == "supported"
    bad = [
        *good[1:],
        record_of(facts_trial(PAPER[0], "paper"), SEED, **(paper["HEPMASS"] | {"features": 16.0})),
    ]
    finding = judged(TABLE8, "counts", results_of(tmp_path / "bad", bad, "paper"))
    assert finding.judgement == "refuted"
    assert "HEPMASS: features 16, in the paper 15" in finding.evidence
    sheet = TABLE8.render(results_of(tmp_path / "good", [], "paper"))
    assert [entry["train_examples"].mean for entry in sheet.lines] == [6_300_000, 263_926, 6_617, 60_000]
    assert [strip.texts for strip in spread(sheet) if strip.header == "features"] == [
        ("15", "174", "523", "784")
    ]
    assert "data of its own" in judged(TABLE8, "counts", results_of(tmp_path / "laptop", [])).evidence


def test_one_pooled_diagram_weighs_seeds_by_their_points():
    few, many = (np.array([[count, 0], [confidence, np.nan], [accuracy, np.nan]]) for count, confidence, accuracy in
                 ((10, 0.2, 0.0), (30, 0.6, 1.0)))  # fmt: skip
    confidence, accuracy = pooled([few, many])
    assert (confidence, accuracy) == (pytest.approx([0.5]), pytest.approx([0.75]))
    assert [len(part) for part in pooled([few / [[2], [1], [1]]])] == [0, 0]


def test_figures_draw_what_the_rows_hold(tmp_path):
    (trial,) = FIGURE8.trials("laptop")
    side = trial.spec.dataset["side"]
    arrays = {name: np.full((100, side**2), level, np.float32) for name, level in
              (("generated_samples", -1.0), ("refined_samples", 1.0))}  # fmt: skip
    diagram = {"reliability": np.array([[0.0, 20.0], [np.nan, 0.9], [np.nan, 0.4]])}
    results = results_of(tmp_path, [record_of(trial, arrays=arrays | diagram, refinement_acceptance=0.57)])
    drawing = FIGURE8.render(results)
    left, right = (axis.get_images()[0].get_array() for axis in drawing.draw().get_axes())
    assert (left[0, 0], right[0, 0]) == (0.0, 1.0)
    assert "57 % were accepted" in drawing.caption
    last = DIAGRAM.render(results).draw().get_axes()[-1]
    (curve,) = [drawn for drawn in last.get_lines() if drawn.get_label() == "VERA"]
    assert (list(curve.get_xdata()), list(curve.get_ydata())) == ([0.9], [0.4])


def test_tuning_trials_vary_one_setting_at_a_time_and_none_twice():
    trials = find_sweep("table6-grid").trials("laptop")
    assert len({trial.id for trial in trials}) == len(trials)
    assert {trial.spec.seed for trial in trials} == {100}
    labels = {trial.label for trial in trials}
    assert {
        "VAT epsilon=0.01",
        "JEM sampler_steps=80",
        "VERA entropy_weight=0.1",
        "VERA alpha=30",
        "MEG lr=1e-05",
    } <= labels


def test_other_data_take_the_place_of_the_tables_own():
    other = TABLE6.on({"name": "wine", "labels_per_class": 5})
    shown = {trial.label: trial.spec.dataset["labels_per_class"] for trial in other.trials("laptop")}
    assert shown == dict.fromkeys([entry.label for entry in LINES], 5) | {"Full-label": None}
    with pytest.raises(SettingError, match="the paper has no settings for other data"):
        list(other.trials("paper"))
    with pytest.raises(
        SettingError, match=r"table2 has data of its own; --dataset goes with .*table3.*table6"
    ):
        catalogue.artifact("table2").on({"name": "wine"})


def test_claims_and_files_of_other_data_are_their_own(tmp_path):
    other = TABLE6.on({"name": "csv", "file": "my iris.csv", "label": "species"})
    made = [record_of_row(trial, seed) for trial in other.trials("laptop") for seed in (0, 1, 2)]
    results = stored(tmp_path, made)
    assert re.fullmatch("table6-my-iris-csv-label-species-[0-9a-f]{6}", other.render(results).name)
    assert other.claims[0].check(results).judgement == "supported"
    assert "my iris.csv (label=species): VERA" in other.claims[0].check(results).evidence


def record_of_row(trial, seed):
    return row_of(trial, seed, AS_CLAIMED[trial.label] + 0.001 * seed, metric="test_accuracy")


def test_smoke_trials_run_and_fill_their_lines(tmp_path):
    table = next(entry for entry in TABLES["smoke"] if entry.dataset["name"] == "digits-table")
    made = [run_trial(entry.trial(table, "smoke")) for entry in LINES] + [
        run_trial(facts_trial(table, "smoke"))
    ]
    assert {record.row.outcome for record in made} == {"ok"}
    results = results_of(tmp_path, made, "smoke")
    found = lines_of(TABLE6.render(results), table.name)
    assert {entry["test_accuracy"].n for entry in found.values()} == {1}
    (facts,) = [entry for entry in TABLE8.render(results).lines if entry["dataset"] == table.name]
    assert (facts["features"].mean, facts["classes"].mean) == (64, 10)
    vera = next(record for record in made if record.row.label == line("VERA").label)
    assert {"generated_samples", "refined_samples", "reliability"} <= vera.arrays.keys()


def test_declaring_and_rendering_need_neither_torch_nor_ray(tmp_path):
    results_of(tmp_path, records())
    code = (
        "import sys; sys.modules |= dict.fromkeys(['torch', 'ray', 'pandas'])\n"
        "from bench.catalogue import catalogue; from bench.judging.results import Results\n"
        "for name in ('table6', 'table8', 'table9', 'figure8', 'reliability'):\n"
        "    artifact = catalogue.artifact(name); results = Results.at(sys.argv[1], 'laptop'); print(artifact.render(results).title)\n"
        "    print(*(claim.check(results).judgement for claim in artifact.claims), *artifact.trials('paper'))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, timeout=120, capture_output=True, text=True
    )
    assert (ran.returncode, ran.stderr) == (0, "")

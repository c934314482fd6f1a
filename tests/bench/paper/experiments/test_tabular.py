"""The tabular experiment: its tuning grid, Tables 8 and 9, Figure 8, the reliability diagram, and smoke
trials."""

from dataclasses import replace

import numpy as np
import pytest
from bare_process import run_bare
from tabular_records import lines_of, table6_records
from toys_helpers import check_claim, record_of, results_of

from bench.catalogue import catalogue
from bench.paper.experiments.tabular import LINES, TABULAR
from bench.paper.experiments.tabular_data import PAPER_TABLES, RECOMPUTED, RECOMPUTED_HUMAN
from bench.paper.experiments.tabular_tuning import MOVES_TRIED, START, choose_settings, list_configurations
from bench.paper.extras.reliability import pool_diagrams
from bench.paper.tables.table8 import FACTS, SEED, make_facts_trial
from bench.paper.tables.table9 import READINGS, find_differences
from bench.paper.values import PAPER
from bench.render.layout import lay_out
from sweeps.run.attempt import run_trial
from sweeps.trial.canonical_json import canonical_json

NAMES = ("table6", "table8", "table9", "figure8", "reliability")
TABLE6, TABLE8, TABLE9, FIGURE8, DIAGRAM = map(catalogue.artifact, NAMES)


@pytest.mark.parametrize("artifact", [TABLE6, TABLE8], ids=lambda artifact: artifact.name)
def test_claims_are_undetermined_without_rows(tmp_path, artifact):
    results = results_of(tmp_path, [], "paper")
    assert {claim.check(results).judgement for claim in artifact.claims} == {"undetermined"}


def test_notes_name_recomputed_columns(tmp_path):
    made = [*table6_records(profile="paper")]
    plain = TABLE6.render(results_of(tmp_path / "plain", made, "paper"))
    changed = [replace(record, row=replace(record.row, data_fingerprint=RECOMPUTED)) for record in made]
    named = TABLE6.render(results_of(tmp_path / "named", changed, "paper"))
    assert RECOMPUTED_HUMAN not in plain.notes
    assert RECOMPUTED_HUMAN in named.notes
    facts = record_of(make_facts_trial(PAPER_TABLES[2], "paper"), SEED)
    counted = results_of(
        tmp_path / "facts", [replace(facts, row=replace(facts.row, data_fingerprint=RECOMPUTED))], "paper"
    )
    assert RECOMPUTED_HUMAN in TABLE8.render(counted).notes
    assert RECOMPUTED_HUMAN in DIAGRAM.render(results_of(tmp_path / "named", [], "paper")).notes


def test_fingerprint_of_recomputed_columns_is_that_of_the_file():
    from vera.data.contract import compute_fingerprint
    from vera.data.tables import uci_tables

    kind = uci_tables.Human
    files = {kind.file.name: uci_tables.RECOMPUTED_HUMAN}
    assert compute_fingerprint(form=kind.file.source, version=kind.version, files=files) == RECOMPUTED


def test_paper_grid_is_that_of_the_appendix():
    found = {
        trial.label: trial.spec.method
        for trial in catalogue.sweep("table6-grid").trials("paper")
        if trial.spec.dataset["name"] == "human"
    }
    assert sorted(method["beta"] for label, method in found.items() if label.startswith("VERA beta=")) == [
        10.0
    ]
    assert found["JEM gamma=0.1"]["gamma"] == 0.1
    assert {label for label in found if label.startswith("VAT epsilon")} == {
        f"VAT epsilon={e}" for e in ("0.01", "1", "3", "10")
    }


def test_paper_grid_has_decay_schedules_and_lengths():
    trials = catalogue.sweep("table6-grid").trials("paper")
    found = {trial.label: trial.spec for trial in trials if trial.spec.dataset["name"] == "human"}
    assert {label: spec.method["decay_at"] for label, spec in found.items() if "MEG schedule" in label} == {
        "MEG schedule=none": [],
        "MEG schedule=late": [61_800, 72_100],
        "MEG schedule=early": [4_120, 8_240],
    }
    short = found["Supervised length=0.1"]
    assert (short.steps, short.method["decay_at"]) == (8_240, [2_060, 3_090, 4_120, 6_180])
    assert found["VERA gamma=1"].method["gamma"] == 1.0
    specs = [canonical_json(trial.spec.to_dict()) for trial in trials]
    assert len({*specs}) == len(specs)


@pytest.mark.parametrize("name", MOVES_TRIED)
def test_every_line_is_tuned_with_the_same_effort(name):
    table = next(table for table in TABULAR.data("laptop") if table.name == name)
    grids = {line.label: TABULAR.grid_trials(line, "laptop", table) for line in LINES}
    assert len({len(trials) for trials in grids.values()}) == 1
    trials = [trial for grid in grids.values() for trial in grid]
    assert len({trial.id for trial in trials}) == len(trials)
    assert {trial.spec.seed for trial in trials} == {100}


@pytest.mark.parametrize("name", MOVES_TRIED)
@pytest.mark.parametrize("line", LINES, ids=lambda line: line.label)
def test_settings_are_chosen_inside_of_what_was_tried(line, name):
    tried = [{**START[line.label], **each} for each in list_configurations(line.label, name)]
    chosen = choose_settings(line.label, name)
    assert chosen in tried
    for setting, value in chosen.items():
        values = {each[setting] for each in tried}
        if isinstance(value, float | int) and len(values) > 1:
            assert min(values) < value < max(values), setting


def test_length_and_schedule_of_a_line_decide_its_steps():
    line, table = TABULAR.line("VERA"), TABULAR.data("laptop")[0]
    table = replace(table, lines={})
    before = TABULAR.grid_trials(line, "laptop", table)
    changed = table.change_line("VERA", {"alpha": 3.0, "length": 0.5})
    assert TABULAR.grid_trials(line, "laptop", changed) == before
    trial = TABULAR.trial(line, "laptop", changed)
    assert (trial.spec.method["alpha"], trial.spec.steps) == (3.0, table.steps // 2)
    assert trial.spec.method["decay_at"] == [int(0.5 * step) for step in table.decay_at]
    early = TABULAR.trial(line, "laptop", table.change_line("VERA", {"schedule": "early"}))
    assert early.spec.method["decay_at"] == [int(share * table.steps) for share in (0.05, 0.1)]


def test_paper_data_set_can_have_another_validation_split():
    table = TABULAR.other_data({"name": "mnist-table", "validation": "tenth"}, "paper")
    mnist = PAPER_TABLES[3]
    assert (table.steps, table.lr, table.dataset["validation"]) == (mnist.steps, mnist.lr, "tenth")


def test_counts_are_compared_with_the_paper(tmp_path):
    paper = {
        table.name: {fact: PAPER.read_value("Table 8", dataset=table.name, metric=fact) for fact in FACTS}
        for table in PAPER_TABLES
    }
    shares = {
        name: facts | {"max_class_percent": facts["max_class_percent"] + 0.04}
        for name, facts in paper.items()
    }
    good = [record_of(make_facts_trial(table, "paper"), SEED, **shares[table.name]) for table in PAPER_TABLES]
    assert (
        check_claim(TABLE8, "counts", results_of(tmp_path / "good", good, "paper")).judgement == "supported"
    )
    bad = [
        *good[1:],
        record_of(
            make_facts_trial(PAPER_TABLES[0], "paper"), SEED, **(paper["HEPMASS"] | {"features": 16.0})
        ),
    ]
    finding = check_claim(TABLE8, "counts", results_of(tmp_path / "bad", bad, "paper"))
    assert finding.judgement == "refuted"
    assert "HEPMASS: features 16, in the paper 15" in finding.evidence
    sheet = TABLE8.render(results_of(tmp_path / "good", [], "paper"))
    assert [entry["train_examples"].mean for entry in sheet.lines] == [6_300_000, 263_926, 6_617, 60_000]
    assert [strip.texts for strip in lay_out(sheet) if strip.header == "features"] == [
        ("15 (equal)", "174 (equal)", "523 (equal)", "784 (equal)")
    ]
    assert "data of its own" in check_claim(TABLE8, "counts", results_of(tmp_path / "laptop", [])).evidence


def test_declared_settings_are_those_of_the_paper(tmp_path):
    assert find_differences("paper") == []
    sheet = TABLE9.render(results_of(tmp_path, [], "paper"))
    assert {entry["setting"]: entry["HUMAN"] for entry in sheet.lines}["JEM κ"] == "40"
    assert len(sheet.lines) == len(READINGS) == 11


def test_setting_that_differs_from_the_paper_is_named(monkeypatch, tmp_path):
    changed = (replace(PAPER_TABLES[0], epsilon=0.2), *PAPER_TABLES[1:])
    monkeypatch.setitem(TABULAR.scales, "paper", replace(TABULAR.scales["paper"], data=changed))
    assert find_differences("paper") == ["HEPMASS VAT ε: 0.2, in the paper 0.1"]
    finding = check_claim(TABLE9, "settings", results_of(tmp_path, [], "paper"))
    assert finding.judgement == "refuted"


def test_pooled_diagram_weights_seeds_by_their_points():
    few = np.array([[10, 0], [0.2, np.nan], [0.0, np.nan]])
    many = np.array([[30, 0], [0.6, np.nan], [1.0, np.nan]])
    confidence, accuracy = pool_diagrams([few, many])
    assert (confidence, accuracy) == (pytest.approx([0.5]), pytest.approx([0.75]))
    assert [len(values) for values in pool_diagrams([few / [[2], [1], [1]]])] == [0, 0]


def test_figures_draw_stored_arrays(tmp_path):
    (trial,) = FIGURE8.trials("laptop")
    side = trial.spec.dataset["side"]
    levels = {"generated_samples": -1.0, "refined_samples": 1.0}
    arrays = {name: np.full((100, side**2), level, np.float32) for name, level in levels.items()}
    diagram = {"reliability": np.array([[0.0, 20.0], [np.nan, 0.9], [np.nan, 0.4]])}
    results = results_of(tmp_path, [record_of(trial, arrays=arrays | diagram, refinement_acceptance=0.57)])
    drawing = FIGURE8.render(results)
    left, right = (axis.get_images()[0].get_array() for axis in drawing.draw().get_axes())
    assert (left[0, 0], right[0, 0]) == (0.0, 1.0)
    assert "57 % were accepted" in drawing.caption
    last = DIAGRAM.render(results).draw().get_axes()[-1]
    (curve,) = [drawn for drawn in last.get_lines() if drawn.get_label() == "VERA"]
    assert (list(curve.get_xdata()), list(curve.get_ydata())) == ([0.9], [0.4])


def test_smoke_trials_run_and_fill_their_lines(tmp_path):
    table = next(entry for entry in TABULAR.data("smoke") if entry.dataset["name"] == "digits-table")
    trials = [*(TABULAR.trial(entry, "smoke", table) for entry in LINES), make_facts_trial(table, "smoke")]
    made = [run_trial(trial) for trial in trials]
    assert {record.row.outcome for record in made} == {"ok"}
    results = results_of(tmp_path, made, "smoke")
    found = lines_of(TABLE6.render(results), table.name)
    assert {entry["test_accuracy"].n for entry in found.values()} == {1}
    (facts,) = [entry for entry in TABLE8.render(results).lines if entry["dataset"] == table.name]
    assert (facts["features"].mean, facts["classes"].mean) == (64, 10)
    vera = next(record for record in made if record.row.label == "VERA")
    assert {"generated_samples", "refined_samples", "reliability"} <= vera.arrays.keys()


def test_declaring_and_rendering_need_neither_torch_nor_ray(tmp_path):
    results_of(tmp_path, table6_records())
    script = """
from bench.catalogue import catalogue
from bench.judging.results import Results, open_store

for name in ("table6", "table8", "table9", "figure8", "reliability"):
    artifact, results = catalogue.artifact(name), Results(open_store(sys.argv[1]), "laptop")
    print(artifact.render(results).title)
    print(*(claim.check(results).judgement for claim in artifact.claims), *artifact.trials("paper"))
"""
    ran = run_bare(script, tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")

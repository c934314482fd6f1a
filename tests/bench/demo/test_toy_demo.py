"""The demo as a table and a figure: on moons, on other points, with plug-ins and variants."""

import csv
import re
from dataclasses import replace

import numpy as np
from bench_helpers import row_of
from facts import raises_with
from locations import ROOT

from bench.catalogue import catalogue
from bench.cli.main import main
from bench.judging.results import Results
from bench.shown_variants import show_variants
from sweeps.store.row import Record
from sweeps.store.store import Store
from sweeps.trial.canonical_json import canonical_json
from sweeps.trial.sweep import find_sweep
from vera.errors import SettingError
from vera.spec.registry import load_plugin

EXAMPLES = ROOT / "docs" / "examples"
TABLE, FIGURE = catalogue.artifact("toy-demo"), catalogue.artifact("toy-demo-density")
RINGS = {"name": "rings"}


def store_demo(folder, table=TABLE, density=True, sweep="toy-demo"):
    """Results of the demo at the smoke profile: ML, VERA with two seeds, and a PCD that diverged."""
    store = Store(folder / "trials")
    for trial in table.trials("smoke"):
        for seed, value in enumerate((-3.0, -2.5)):
            outcome = "diverged" if trial.label == "PCD" else "ok"
            row = row_of(trial, seed, value, outcome, "test_log_likelihood", sweep=sweep)
            metrics = canonical_json({"test_log_likelihood": value, "ceiling": -2.25})
            row = row if outcome == "diverged" else replace(row, metrics=metrics)
            points = np.zeros((5, 2), np.float32)
            arrays = {"density_image": np.eye(4), "data_samples": points, "training_samples": points + 9}
            store.write(Record(row, arrays=arrays if density and outcome == "ok" else {}))
    return Results(store, "smoke")


def test_artifact_runs_the_trials_of_the_sweep():
    for profile in ("smoke", "laptop", "paper"):
        assert [trial.id for trial in catalogue.sweep("toy-demo").trials(profile)] == [
            trial.id for trial in find_sweep("toy-demo").trials(profile)
        ]
    assert "toy-demo-density" not in catalogue.sweep_names()


def test_table_shows_likelihoods_and_the_ceiling(tmp_path):
    sheet = TABLE.render_with_notes(store_demo(tmp_path))
    assert [line["method"] for line in sheet.lines] == ["ML", "VERA", "PCD"]
    assert [line["test_log_likelihood"].mean for line in sheet.lines] == [-2.75, -2.75, None]
    assert sheet.lines[2]["test_log_likelihood"].diverged == 2
    assert "moons" in sheet.title
    assert "−2.250" in sheet.notes[0]


def test_figure_shows_the_first_seed_of_every_line(tmp_path):
    drawing = FIGURE.render_with_notes(store_demo(tmp_path))
    axes = np.array(drawing.draw().axes).reshape(2, 4)
    assert [axis.get_title() for axis in axes[0]] == ["data", "ML", "VERA", "PCD"]
    assert [len(axis.images) for axis in axes[0]] == [0, 1, 1, 0]
    assert [len(axis.collections) for axis in axes[1]] == [1, 1, 1, 0]
    assert axes[0, 1].get_xlabel() == "−3.00 nats"
    assert axes[1, 1].get_xlabel() == "5 of 5 outside"
    assert "diverged" in axes[0, 3].texts[0].get_text()


def test_figure_of_points_beyond_the_plane_says_why_it_is_empty(tmp_path):
    drawing = FIGURE.render_with_notes(store_demo(tmp_path, density=False))
    texts = [axis.texts[0].get_text() for axis in drawing.draw().axes if axis.texts]
    assert texts[-3:-1] == ["not in the plane"] * 2


def test_other_points_have_their_own_trials_and_files(tmp_path):
    other = catalogue.on_dataset(TABLE, RINGS)
    moons, rings = ({trial.id for trial in each.sweep().trials("smoke")} for each in (TABLE, other))
    assert (len(rings), moons & rings) == (9, set())
    sheet = other.render(store_demo(tmp_path, other))
    assert (sheet.name, "rings" in sheet.title) == ("toy-demo-rings", True)
    assert not TABLE.is_in(Results(Store(tmp_path / "trials"), "smoke"))


def test_trials_of_another_sweep_are_no_demo(tmp_path):
    own, other = (store_demo(tmp_path / name, sweep=name) for name in ("toy-demo [method.k]", "table10"))
    assert [TABLE.is_in(own), FIGURE.is_in(own)] == [False, False], "k is not declared"
    assert [TABLE.is_in(other), FIGURE.is_in(other)] == [False, False]
    assert TABLE.is_in(store_demo(tmp_path / "demo"))


def test_method_of_a_plugin_has_a_line():
    load_plugin(EXAMPLES / "noise_contrast.py")
    assert [trial.name for trial in TABLE.trials("smoke")] == ["ML", "VERA", "PCD", "noise-contrast"]
    assert len(catalogue.sweep("toy-demo").trials("smoke")) == 12


def test_variants_are_shown_in_table_and_figure(tmp_path):
    results = store_demo(tmp_path)
    with show_variants({"method.k": 5}):
        sheet, drawing = TABLE.render_with_notes(results), FIGURE.render_with_notes(results)
    assert sheet.lines[-1]["method"] == "VERA (k=5)"
    assert sheet.lines[-1]["test_log_likelihood"].reason == "not run"
    assert (sheet.name, drawing.name) == ("toy-demo-with-k-5", "toy-demo-density-with-k-5")


def test_render_writes_table_and_picture(tmp_path, capsys):
    store_demo(tmp_path)
    assert main(["render", "toy-demo", "--profile", "smoke", "--results-dir", str(tmp_path)]) == 0
    with (tmp_path / "tables" / "toy-demo-smoke.csv").open(newline="", encoding="utf-8") as file:
        assert [line["method"] for line in csv.DictReader(file)] == ["ML", "VERA", "PCD"]
    assert (tmp_path / "figures" / "toy-demo-density-smoke.png").stat().st_size > 1_000
    assert "toy-demo-density · smoke profile" in capsys.readouterr().out


def test_data_of_a_plugin_replace_moons(tmp_path, capsys):
    flags = ("--plugin", EXAMPLES / "spirals.py", "--profile", "smoke", "--results-dir", tmp_path)
    assert main(["plan", "toy-demo", "--dataset", "spirals", "--seeds", "1", *map(str, flags)]) == 0
    assert len(re.findall(r" spirals +seed 0 ", capsys.readouterr().out)) == 3
    code = main(["plan", "toy-demo", "--dataset", "spirals,points=20", *map(str, flags)])
    assert code == 2
    assert "200" in capsys.readouterr().err, "20 points do not fill a batch of 200"


def test_table_that_takes_no_points_names_the_demo():
    with raises_with(SettingError, "table2", "--dataset", "toy-demo"):
        catalogue.on_dataset(catalogue.artifact("table2"), RINGS)

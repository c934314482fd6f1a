"""Every artifact of bench/today: declared trials, what counts as run, and rendering from made-up rows."""

from dataclasses import replace

import numpy as np
import pytest
from toys_helpers import hold_rows, record_of, results_of

from bench.catalogue import catalogue
from bench.render.files import write_rendering
from bench.today.artifacts import ARTIFACTS, SWEEPS
from sweeps.store.row import CurvePoint

NAMES = [f"today/{name}" for name in ARTIFACTS]
MADE_UP = {
    "grid_log_likelihood": -3.0,
    "ema_grid_log_likelihood": -2.9,
    "test_log_likelihood": -3.1,
    "ema_test_log_likelihood": -3.0,
    "best_test_log_likelihood": -3.0,
    "ceiling": -2.5,
    "sample_log_density": -2.8,
    "sample_energy_distance": 0.01,
    "rms_bias": 0.5,
    "rms_noise": 0.3,
    "absolute_bias": 0.4,
    "signed_bias": 0.01,
    "deviation": 1.2,
    "ratio": 4.0,
    "test_accuracy": 0.9,
    "ema_test_accuracy": 0.91,
    "best_test_accuracy": 0.92,
    "collapsed": 0.0,
}
ARRAYS = {
    "density_image": np.full((100, 100), 1e-4, dtype=np.float32),
    "training_samples": np.zeros((50, 2)),
    "data_samples": np.ones((50, 2)),
}


def make_records(artifact, profile="smoke", seeds=(0, 1)):
    """A row of every declared trial; each seed is a little better than the one before it."""
    for trial in artifact.trials(profile):
        for seed in seeds:
            made = record_of(trial, seed, **{name: value + 0.01 * seed for name, value in MADE_UP.items()})
            row = replace(made.row, sweep=artifact.name, seconds=10.0 + seed)
            curve = [
                CurvePoint(row.trial_id, "evaluation", "test_log_likelihood", step, -4.0 + step / row.steps)
                for step in (row.steps // 2, row.steps)
            ]
            yield replace(made, row=row, curves=curve, arrays=ARRAYS if "densities" in artifact.name else {})


@pytest.mark.parametrize("name", NAMES)
def test_every_trial_is_declared_once_and_never_at_paper(name):
    artifact = catalogue.artifact(name)
    for profile in ("smoke", "laptop"):
        trials = artifact.sweep().trials(profile)
        assert trials
        assert len({trial.id for trial in trials}) == len(trials)
    assert len(artifact.seeds["laptop"]) >= 3
    assert catalogue.sweep(name).trials("paper") == []
    assert catalogue.sweep(name).trials("paper", seeds=(0, 1)) == []


@pytest.mark.parametrize("name", [f"today/{name}" for name in SWEEPS if name != "few-labels-grid"])
def test_every_line_of_a_grid_has_as_many_configurations_as_the_others(name):
    trials = catalogue.sweep(name).trials("laptop")
    assert {trial.spec.seed >= 100 for trial in trials} == {True}
    assert len({trial.id for trial in trials}) == len(trials)
    counts = {}
    for trial in trials:
        key = trial.spec.method["name"], trial.spec.dataset["name"], trial.spec.seed
        counts[key] = counts.get(key, 0) + 1
    assert set(counts.values()) == {4}


@pytest.mark.parametrize("name", NAMES)
def test_it_is_rendered_from_rows_and_without_any(name, tmp_path):
    artifact = catalogue.artifact(name)
    empty = hold_rows(tmp_path / "empty", [])
    assert not artifact.is_in(empty)
    assert all(path.stat().st_size for path in write_rendering(artifact.render(empty), tmp_path / "empty"))
    hold = results_of if name == "today/densities" else hold_rows
    results = hold(tmp_path / "full", make_records(artifact), "smoke")
    assert artifact.is_in(results)
    assert all(path.stat().st_size for path in write_rendering(artifact.render(results), tmp_path / "full"))
    assert {claim.check(results).judgement for claim in artifact.claims} <= {
        "supported",
        "refuted",
        "undetermined",
    }


def test_rows_of_the_paper_alone_do_not_count_as_run(tmp_path):
    flow = catalogue.artifact("today/flow")
    records = [
        replace(record, row=replace(record.row, sweep="table2")) for record in make_records(flow, seeds=(0,))
    ]
    assert not flow.is_in(hold_rows(tmp_path, records, "smoke"))


def test_none_of_them_belongs_to_the_sweep_of_all():
    assert not [trial for trial in catalogue.sweep("all").trials("laptop") if "today" in trial.sweep]


def test_densities_are_left_of_the_samples_of_the_same_toy(tmp_path):
    artifact = catalogue.artifact("today/densities")
    records = [each for each in make_records(artifact, seeds=(0,)) if each.row.label in ("NCE", "VERA")]
    figure = artifact.render(results_of(tmp_path, records, "smoke")).draw()
    axes = np.array(figure.axes).reshape(-1, 2)
    labels = [density.get_ylabel() for density, _ in axes]
    shown = {label: (bool(a.images), bool(b.collections)) for label, (a, b) in zip(labels, axes, strict=True)}
    assert shown["VERA"] == shown["NCE"] == (True, True)
    assert shown["PCD"] == (False, False)
    assert axes[labels.index("VERA")][0].get_xlabel() == "0.50"
    assert axes[0][1].collections[0].get_offsets()[0].tolist() == [1.0, 1.0]

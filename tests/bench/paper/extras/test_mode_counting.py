"""Mode counting: declared trials, claims from made-up rows, smoke trials, and refused networks."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from facts import raises_with
from image_records import line_of
from toys_helpers import check_claim, record_of, results_of

from bench.catalogue import catalogue
from bench.paper.experiments.modes import MODES as MODE_EXPERIMENT
from bench.paper.experiments.modes import RATES
from sweeps.run.attempt import run_trial
from vera.errors import IncompatibleModel
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_task

MODES = catalogue.artifact("modes")


def test_paper_profile_follows_the_protocol():
    for trial in MODES.trials("paper"):
        facts = trial.facts
        assert (facts["steps"], facts["batch_size"], facts["dataset"]["side"]) == (10_200, 100, 64)
        assert facts["task"] == {
            "name": "modes",
            "samples": 10_000,
            "batch": 10_000,
            "epochs": 14,
            "shown": 100,
        }
        assert facts["networks"]["generator"]["latent_dim"] == 100
        assert (facts["method"]["lr"], facts["method"]["generator_lr"]) == (1e-3, 1e-3)


def test_every_line_is_tuned_with_equal_effort_and_equal_rates():
    trials = catalogue.sweep("modes-grid").trials("laptop")
    assert {trial.spec.seed for trial in trials} == {100, 101}
    tried = Counter(trial.label.partition(" lr=")[0] for trial in trials)
    assert tried == dict.fromkeys((line.label for line in MODE_EXPERIMENT.lines), 2 * len(RATES))
    assert all(trial.spec.method["lr"] == trial.spec.method["generator_lr"] for trial in trials)
    assert len({trial.id for trial in trials}) == len(trials)


@pytest.mark.parametrize(("modes", "judgement"), [(999.0, "supported"), (100.0, "refuted")])
def test_modes_are_compared_with_those_of_data(tmp_path, modes, judgement):
    counts = {
        "VERA": modes,
        "VERA-HMC, prior-only force": 998.0,
        "VERA-HMC, full force": 1.0,
        "VERA λ=0": 500.0,
    }
    made = [
        record_of(trial, seed, modes=counts[trial.label] - seed, data_modes=1_000.0 - seed)
        for trial in MODE_EXPERIMENT.trials("paper")
        for seed in (0, 1, 2)
    ]
    results = results_of(tmp_path, made, "paper")
    assert {check_claim(MODES, key, results).judgement for key in ("nearly-all", "as-many-as-hmc")} == {
        judgement
    }
    assert [entry["modes"].paper for entry in MODES.render(results).lines] == [999.0, 999.0, None, 998.0]


@pytest.mark.parametrize(
    ("modes", "judgement"), [(998.0, "supported"), (988.0, "undetermined"), (500.0, "refuted")]
)
def test_modes_without_entropy_are_compared_with_those_of_vera(tmp_path, modes, judgement):
    made = [
        record_of(MODE_EXPERIMENT.trial(label, "paper"), seed, modes=count)
        for seed in (0, 1, 2)
        for label, count in {"VERA": 999.0 - seed, "VERA λ=0": modes + seed}.items()
    ]
    found = check_claim(MODES, "as-many-without-entropy", results_of(tmp_path, made, "paper"))
    assert found.judgement == judgement


@pytest.mark.parametrize("label", ["VERA", "VERA-HMC, prior-only force", "VERA-HMC, full force"])
def test_smoke_trial_counts_modes(untrained_classifiers, tmp_path, label):
    record = run_trial(MODE_EXPERIMENT.trial(label, "smoke"))
    assert (record.row.outcome, record.row.reason) == ("ok", "")
    found = line_of(MODES.render(results_of(tmp_path, [record], "smoke")), method=label)
    assert 1 <= found["modes"].mean <= 60
    assert 1 <= found["data_modes"].mean <= 60
    assert record.arrays["generated_samples"].shape == (60, 3, 32, 32)


def test_notes_name_the_rate_with_the_most_modes_and_lines_that_have_another(tmp_path):
    best = dict(zip((line.label for line in MODE_EXPERIMENT.lines), (1e-3, 3e-3, 1e-3, 1e-3), strict=True))
    made = [record_of(MODE_EXPERIMENT.trial("VERA", "laptop"), modes=900.0)]
    made += [
        record_of(trial, seed, "diverged" if trial.spec.method["lr"] == 3e-4 else "ok", modes=modes + seed)
        for line in MODE_EXPERIMENT.lines
        for trial in MODE_EXPERIMENT.grid_trials(line, "laptop")
        for modes in [800.0 if trial.spec.method["lr"] == best[line.label] else 700.0]
        for seed in (100, 101)
    ]
    notes = MODES.render(results_of(tmp_path, made)).notes
    assert sum("0.0003, 0.001, 0.003" in note and "24 of its 24" in note for note in notes) == 1
    (other,) = [note for note in notes if "0.003" in note and "seeds" not in note]
    assert other.startswith("VERA-HMC, prior-only force has 0.001")
    assert sum(note.endswith("has the rate with the most modes, 0.001.") for note in notes) == 3


def test_figure_has_a_sheet_for_each_line_with_its_count(tmp_path):
    trials = list(catalogue.artifact("mode-samples").trials("laptop"))
    samples = np.zeros((100, 3, 16, 16), np.uint8)
    samples[63] = 200
    made = [record_of(trials[0], 0, arrays={"generated_samples": samples}, modes=987.0)]
    drawing = catalogue.artifact("mode-samples").render(results_of(tmp_path, made))
    figure = drawing.draw()
    assert len(figure.axes) == 1, "no empty panels"
    assert "987 modes" in figure.axes[0].get_title()
    sheet = figure.axes[0].images[0].get_array()
    assert sheet.shape == (8 * 17 - 1, 8 * 17 - 1, 3)
    assert (sheet[-1, -1].tolist(), sheet[0, 0].tolist()) == ([200] * 3, [0] * 3)
    assert [f"{trial.name}: not run." in drawing.notes for trial in trials] == [False, True, True, True]


def test_task_needs_stacked_digits_and_a_generator():
    networks = {"energy": {"name": "mlp"}, "generator": {"name": "mlp-generator"}}
    spec = TrialSpec({"name": "moons"}, networks, {"name": "vera"}, 2, task="modes")
    with raises_with(IncompatibleModel, "stacked-mnist"):
        build_task(spec).build(spec)
    alone = replace(
        MODE_EXPERIMENT.trial("VERA", "smoke").spec,
        networks={"energy": {"name": "dcgan", "width": 4}},
        method={"name": "pcd"},
    )
    with raises_with(IncompatibleModel, "'pcd'", "generator"):
        build_task(alone).build(alone)

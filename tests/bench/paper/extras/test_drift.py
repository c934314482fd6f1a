"""Drift: its trials, its lines, notes and claims for given paths, and a real trial."""

from dataclasses import replace

import pytest
from toys_helpers import check_claim, record_of, results_of

from bench.catalogue import catalogue
from bench.paper.experiments.toys import EVALUATED_MIXTURE, MIXTURE
from bench.paper.extras import drift
from sweeps.run.attempt import run_trial
from sweeps.store.row import CurvePoint

FIGURE = catalogue.artifact("drift")
CEILING = -2.5
AS_CLAIMED = {
    "ML": (-3.5, -2.6, -2.499), "PCD σ=0.1": (-3.6, -3.5, -4.5), "PCD σ=0.3": (-3.6, -9.0), "PCD σ=1": (),
}  # fmt: skip
"""The likelihood after a hundredth, a tenth and all of the training; lines with fewer values diverged."""


def record(trial, seed, values):
    steps = [trial.spec.steps // divisor for divisor in (100, 10, 1)]
    is_complete = len(values) == len(steps)
    outcome, last = ("ok", None) if is_complete else ("diverged", 900)
    made = record_of(trial, seed, outcome, step=last, ceiling=CEILING)
    points = [
        CurvePoint(made.row.trial_id, kind, "test_log_likelihood", step, value)
        for step, value in zip(steps, values, strict=False)
        for kind in ("evaluation", "training")  # the second kind is ignored
        if kind == "evaluation" or step == steps[0]
    ]
    return replace(made, curves=points)


def records(changes=None, seeds=(0, 1), profile="laptop"):
    for trial in FIGURE.trials(profile):
        for seed in seeds:
            yield record(
                trial, seed, [value + 0.01 * seed for value in (AS_CLAIMED | (changes or {}))[trial.label]]
            )


def moons(results):
    """The lines of the first panel as (steps, heights), and the figure's legend."""
    figure = FIGURE.render(results).draw()
    lines = [(list(line.get_xdata()), list(line.get_ydata())) for line in figure.axes[0].lines]
    return lines, [text.get_text() for legend in figure.legends for text in legend.texts]


@pytest.mark.parametrize("profile", EVALUATED_MIXTURE.scales)
def test_the_trials_are_those_of_table_10_with_more_evaluations(profile):
    every = {"smoke": 5, "laptop": 20, "paper": 1_000}[profile]
    trials, of_table = list(FIGURE.trials(profile)), list(MIXTURE.trials(profile))
    assert len({trial.id for trial in trials}) == len(trials) == 12
    assert {trial.id for trial in trials}.isdisjoint(trial.id for trial in of_table)
    for trial in trials:
        assert trial.spec.evaluate_every == every
        assert replace(trial.spec, evaluate_every=None) in [other.spec for other in of_table]


def test_lines_show_the_gap_at_each_evaluation_and_a_cross_at_a_divergence(tmp_path):
    lines, legend = moons(results_of(tmp_path, records(seeds=(0,))))
    assert lines[0] == ([20, 200, 2_000], pytest.approx([1.0, 0.1, drift.LEAST]))
    assert lines[1] == ([20, 200, 2_000], pytest.approx([1.1, 1.0, 2.0]))
    assert lines[2] == ([20, 200], pytest.approx([1.1, 6.5]))
    assert lines[3] == ([200], pytest.approx([6.5])), "the cross"
    assert len(lines) == 4, "the paper's value is shown at paper only"
    assert legend == ["ML", "PCD σ=0.1", "PCD σ=0.3"]


def test_at_paper_the_papers_value_is_drawn(tmp_path):
    results = results_of(tmp_path, records(seeds=(0,), profile="paper"), "paper")
    lines, legend = moons(results)
    assert lines[-1][1] == pytest.approx([CEILING - -3.82] * 2)
    assert legend[-1] == "PCD in the paper, best of its evaluations"
    assert "; the paper has −3.82." in FIGURE.render(results).notes[0]


def test_vera_is_drawn_if_table_10_has_it(tmp_path):
    vera = MIXTURE.trial("VERA λ=1", "laptop")
    lines, legend = moons(results_of(tmp_path, [*records(), record_of(vera, test_log_likelihood=-2.75)]))
    assert lines[-1][1] == pytest.approx([0.25] * 2)
    assert legend[-1] == "VERA λ=1 at the end (Table 10)"


def test_notes_name_the_best_and_the_last_value_of_pcd(tmp_path):
    notes = FIGURE.render(results_of(tmp_path, records(seeds=(0,)))).notes
    said = "best after 200 steps (−3.50), of evaluations every 200 steps after 200 (−3.50), at the end −4.50"
    assert notes[0] == f"PCD σ=0.1 on moons, seed 0: {said}."
    assert [note.split(",")[0] for note in notes] == [
        f"PCD σ=0.1 on {name}" for name in ("moons", "circles", "rings")
    ]


@pytest.mark.parametrize(
    ("path", "falls", "does_not_stay"),
    [
        ((-3.6, -3.5, -4.5), "supported", "supported"),
        ((-3.6, -2.9, -3.55), "undetermined", "supported"),
        ((-3.6, -3.5, -3.0), "refuted", "refuted"),
        ((-3.6, -3.5, -3.8), "supported", "refuted"),
        ((), "undetermined", "undetermined"),
    ],
)
def test_claims_compare_the_first_the_best_and_the_last_evaluation(tmp_path, path, falls, does_not_stay):
    results = results_of(tmp_path, records({"PCD σ=0.1": path}))
    assert check_claim(FIGURE, "pcd-falls", results).judgement == falls
    assert check_claim(FIGURE, "pcd-does-not-stay", results).judgement == does_not_stay


@pytest.mark.parametrize("claim", FIGURE.claims, ids=lambda claim: claim.key)
def test_one_seed_decides_nothing(tmp_path, claim):
    assert claim.check(results_of(tmp_path, records(seeds=(0,)))).judgement == "undetermined"


def test_panels_of_an_empty_store_read_not_run(tmp_path):
    figure = FIGURE.render(results_of(tmp_path, [])).draw()
    assert [axis.texts[0].get_text() for axis in figure.axes] == ["not run"] * 3
    assert not figure.legends


def test_paths_of_diverged_trials_are_drawn_once_the_ceiling_is_known(tmp_path):
    made = [
        record(trial, 0, AS_CLAIMED["PCD σ=0.3"])
        for trial in FIGURE.trials("laptop")
        if trial.label == "PCD σ=0.3"
    ]
    diverged = [replace(one, row=replace(one.row, metrics="{}")) for one in made]
    figure = FIGURE.render(results_of(tmp_path / "alone", diverged)).draw()
    assert [axis.texts[0].get_text() for axis in figure.axes] == ["no trial ended ok:\nno ceiling yet"] * 3
    ml = MIXTURE.trial("ML", "laptop")
    lines, _ = moons(
        results_of(tmp_path / "beside", [*diverged, record_of(ml, ceiling=CEILING, test_log_likelihood=-2.6)])
    )
    assert lines == [([20, 200], pytest.approx([1.1, 6.5])), ([200], pytest.approx([6.5]))]


def test_a_seed_that_diverged_before_its_first_evaluation_is_counted(tmp_path):
    changed = [record(t, 2, ()) for t in FIGURE.trials("laptop") if t.label == "PCD σ=0.1"]
    evidence = check_claim(FIGURE, "pcd-falls", results_of(tmp_path, [*records(), *changed])).evidence
    assert evidence.count("n=2 of 3 and 2 of 3") == 3


def test_a_real_trial_is_evaluated_during_training(tmp_path):
    trial = next(trial for trial in FIGURE.trials("smoke") if trial.label == "PCD σ=0.1")
    results = results_of(tmp_path, [run_trial(trial)], "smoke")
    [(steps, heights)], _ = moons(results)
    assert steps == [5, 10, 15, 20]
    assert min(heights) > 0
    assert "at 4 evaluations" in FIGURE.render(results).caption

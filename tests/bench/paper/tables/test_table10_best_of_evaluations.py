"""Table 10 by the paper's rule: the best evaluation during training, and the better of it and the best of ten
batches."""

from dataclasses import replace

from table10_helpers import TABLE, lines_of, record
from toys_helpers import record_of, results_of

from bench.paper.experiments.toys import MIXTURE, label_pcd
from bench.paper.tables.table10_lines import BEST_PCD
from sweeps.store.row import CurvePoint


def trial(label):
    return MIXTURE.trial(label, "laptop")


def pcd(noise):
    return trial(label_pcd(noise))


def with_curve(made, metric, *values):
    """A training curve with these values at the last tenths of the training that it reached, and a better
    value between two tenths."""
    tenth = made.row.steps // 10
    last = made.row.steps if made.row.outcome == "ok" else (made.row.outcome_step - 1) // tenth * tenth
    steps = [last - tenth * back for back in range(len(values))][::-1]
    between = CurvePoint(
        made.row.trial_id, "training", metric, steps[-1] - tenth // 2, 0.0 if metric == "f_data" else -9.0
    )
    return replace(
        made,
        curves=[
            CurvePoint(made.row.trial_id, "training", metric, *at) for at in zip(steps, values, strict=True)
        ]
        + [between],
    )


def test_the_best_evaluation_is_the_best_of_those_at_tenths(tmp_path):
    made = [
        with_curve(record(trial("ML"), 0, -2.5), "loss", 2.75, 2.5),
        with_curve(record(trial("VERA λ=1"), 0, -2.75), "f_data", -2.5, -2.75),
        with_curve(record(trial("VERA λ=1"), 1, -2.75), "f_data", -3.0, -2.75),
        with_curve(record(pcd(0.1), 0, -9.0), "f_data", -3.0, -4.0, -9.0),
        with_curve(record(pcd(0.3), 0, None), "f_data", -2.75),
        record(pcd(0.01), 0, -30.0),
        record(pcd(0.03), 0, -20.0),
        record(pcd(1.0), 0, None),
    ]
    lines = lines_of(results_of(tmp_path, made))
    best = {label: line["best_of_ten_looks"] for label, line in lines.items()}
    assert {label: cell.values for label, cell in best.items() if cell.values} == {
        "ML": (-2.5,),
        "VERA λ=1": (-2.5, -2.75),
        "PCD σ=0.1": (-3.0,),
        "PCD σ=0.3": (-2.75,),
        BEST_PCD: (-2.75,),
    }
    assert best["PCD σ=1"].reason == "diverged 1 of 1", "before its first evaluation"
    assert best["PCD σ=0.01"].reason == "not measured 1 of 1"
    assert best["VERA λ=0"].reason == "not run"


def test_the_papers_value_is_compared_with_the_better_of_both_in_every_seed(tmp_path):
    """The best of ten batches of these rows lies half a nat above their likelihood at the end."""
    made = [
        with_curve(record(trial("VERA λ=1"), 0, -2.75), "f_data", -2.5, -2.75),
        with_curve(record(trial("VERA λ=1"), 1, -2.75), "f_data", -2.0, -2.75),
        record(trial("VERA λ=0.1"), 0, -3.0),
        with_curve(record(pcd(0.1), 0, -9.0), "f_data", -3.0, -4.0, -9.0),
        *(record(pcd(sigma), 0, None) for sigma in (0.01, 0.03, 0.3, 1.0)),
    ]
    lines = lines_of(results_of(tmp_path, made))
    either = {label: line["best_of_either"] for label, line in lines.items()}
    assert {label: cell.values for label, cell in either.items() if cell.values} == {
        "VERA λ=1": (-2.25, -2.0), "VERA λ=0.1": (-2.5,), "PCD σ=0.1": (-3.0,), BEST_PCD: (-3.0,),
    }  # fmt: skip
    assert either["PCD σ=0.3"].reason == "diverged 1 of 1"
    assert either["ML"].reason == "not run"


def test_by_the_papers_rule_a_sigma_that_diverged_keeps_its_evaluations(tmp_path):
    made = [
        with_curve(record(pcd(0.1), 0, None), "f_data", -4.5),
        with_curve(record(pcd(0.1), 1, -14.0), "f_data", -4.25, -14.0),
        *(record(pcd(sigma), seed, -20.0) for sigma in (0.01, 0.03, 0.3, 1.0) for seed in (0, 1)),
    ]
    line = lines_of(results_of(tmp_path, made))[BEST_PCD]
    assert line["test_log_likelihood"].values == (-20.0, -20.0), "the best at the end has no diverged seed"
    assert line["best_of_either"].values == (-4.5, -4.25)
    assert (line["best_of_either"].is_biased, line["test_log_likelihood"].is_biased) == (True, False)
    assert line["best_of_either"].verdict == "undetermined"
    assert line["remark"] == "σ=0.01, by the paper's rule σ=0.1, 1 of 2 diverged later"


def test_an_evaluation_after_the_divergence_does_not_count(tmp_path):
    """The curve ends within the hundredth before the evaluation."""
    made = record_of(pcd(0.1), 0, "diverged", step=798)
    points = [
        CurvePoint(made.row.trial_id, "training", "f_data", step, value)
        for step, value in ((600, -4.0), (797, -1.0))
    ]
    line = lines_of(results_of(tmp_path, [replace(made, curves=points)]))["PCD σ=0.1"]
    assert line["best_of_ten_looks"].values == (-4.0,)
    assert line["remark"] == "1 of 1 diverged later"


def test_the_notes_count_the_values_that_agree_by_either_rule(tmp_path):
    made = [
        record(MIXTURE.trial("VERA λ=1", "paper"), seed, value)
        for seed, value in enumerate((-3.1, -3.0, -3.2))
    ]
    (note,) = [note for note in TABLE.render(results_of(tmp_path, made, "paper")).notes if "agree" in note]
    assert "1 values 1 agree" in note
    assert note.endswith("and 0 with the end of training.")

"""The results of a grid, from made-up rows: the table, the best configuration, plots and mistakes."""

from dataclasses import replace

import matplotlib
import pytest
from engine_helpers import row_of
from facts import raises_with

import sweeps
from sweeps.errors import UnknownTrial
from sweeps.grids.progress_bar import ProgressBar
from sweeps.store.row import Record
from sweeps.store.store import Store
from vera.errors import SettingError, UnknownName, VeraError
from vera.spec.trial_spec import TrialSpec

METRIC = "test_log_likelihood"
SPEC = TrialSpec({"name": "moons"}, {"energy": {"name": "mixture"}}, {"name": "ml"}, steps=5)
GRID = sweeps.grid(SPEC, {"method.lr": [0.1, 0.2, 0.3], "seed": range(3)}, profile="smoke")
ENDINGS = {0.1: [-5.0, -1.0, "diverged"], 0.2: [-4.0, -3.0, -2.0], 0.3: [-3.5, -2.0, None]}
"""Learning rate → the ending of each seed: a value, an outcome, or None if it was not run."""


def make_row_of(trial, value, outcome="ok"):
    return replace(row_of(trial, trial.spec.seed, value, outcome, METRIC), trial_id=trial.id)


def read(folder, endings=ENDINGS):
    """The results of the grid with these endings."""
    store = Store(folder / "trials")
    for trial in GRID.trials():
        ending = endings[trial.spec.method["lr"]][trial.spec.seed]
        value, outcome = (None, ending) if isinstance(ending, str) else (ending, "ok")
        if ending is not None:
            store.write(Record(make_row_of(trial, value, outcome)))
    return GRID.results(folder)


def test_frame_has_one_row_per_trial_with_settings_outcome_and_metrics(tmp_path):
    frame = read(tmp_path).frame()
    assert list(frame.columns[:4]) == ["id", "method.lr", "seed", "outcome"]
    assert list(frame["id"]) == [trial.id for trial in GRID.trials()]
    assert frame["outcome"].value_counts().to_dict() == {"ok": 7, "diverged": 1, "not run": 1}
    assert frame.groupby("method.lr")[METRIC].mean().to_dict() == {0.1: -3.0, 0.2: -3.0, 0.3: -2.75}
    assert frame.loc[frame["outcome"] != "ok", METRIC].isna().all()


def test_frame_writes_lists_as_text(tmp_path):
    spec = TrialSpec({"name": "moons"}, {"energy": {"name": "mlp"}}, {"name": "pcd"}, steps=5)
    grid = sweeps.grid(spec, {"networks.energy.hidden": [(8, 8), [4]]})
    frame = grid.results(tmp_path).frame()
    assert list(frame["networks.energy.hidden"]) == ["[8,8]", "[4]"]
    assert list(frame["outcome"]) == ["not run", "not run"]


def test_best_is_the_mean_over_seeds_and_seeds_without_a_value_count_as_worst(tmp_path):
    """lr=0.3 has the best mean of the seeds that were run, and lr=0.1 the best single seed."""
    best = read(tmp_path).best(METRIC)
    assert best.settings == {"method.lr": 0.2}
    assert (best.mean, best.failed, best.values) == (-3.0, 0, {0: -4.0, 1: -3.0, 2: -2.0})
    assert [trial.spec.seed for trial in best.trials] == [0, 1, 2]


def test_lower_is_better_turns_the_order_around(tmp_path):
    endings = {0.1: [1.0] * 3, 0.2: [2.0] * 3, 0.3: [0.5, 0.5, "error"]}
    results = read(tmp_path, endings)
    assert results.best(METRIC, better="lower").settings == {"method.lr": 0.1}
    assert results.best(METRIC, better="higher").settings == {"method.lr": 0.2}


def test_fewest_failures_win_if_every_configuration_has_some(tmp_path):
    endings = {0.1: [9.0, "diverged", "diverged"], 0.2: [1.0, 2.0, "timeout"], 0.3: ["diverged"] * 3}
    best = read(tmp_path, endings).best(METRIC)
    assert (best.settings, best.failed, best.mean) == ({"method.lr": 0.2}, 1, 1.5)


def test_grid_in_which_no_trial_ended_ok_has_no_best(tmp_path):
    with raises_with(VeraError, METRIC, "9 diverged"):
        read(tmp_path, {lr: ["diverged"] * 3 for lr in ENDINGS}).best(METRIC)


def test_unknown_metric_and_direction_are_refused(tmp_path):
    results = read(tmp_path)
    with raises_with(UnknownName, "'test_log_likelihod'", "Did you mean test_log_likelihood?"):
        results.best("test_log_likelihod")
    with raises_with(SettingError, "'higher'", "'large'"):
        results.best(METRIC, better="large")


def test_model_of_an_unknown_trial_or_seed_is_refused(tmp_path):
    results = read(tmp_path)
    with raises_with(UnknownTrial, "'zzzz'", ".frame()"):
        results.model("zzzz")
    with raises_with(UnknownTrial, GRID.trials()[0].id, "no model"):
        results.model(GRID.trials()[0].id)
    with raises_with(SettingError, "seed 7", "0, 1, 2"):
        results.best(METRIC).model(seed=7)


def test_results_print_their_outcomes(tmp_path):
    assert "9 trials" in repr(read(tmp_path))
    assert all(fact in repr(read(tmp_path)) for fact in ("7 ok", "1 diverged", "1 not run"))


def test_a_plot_without_a_metric_needs_a_main_one(tmp_path):
    with raises_with(VeraError, "9 not run"):
        GRID.results(tmp_path).plot()


def test_plot_shows_every_seed_and_mean(tmp_path):
    matplotlib.use("Agg")
    figure = read(tmp_path).plot()  # of the main metric
    (axes,) = figure.axes
    dots = [line.get_xdata() for line in axes.lines if line.get_marker() == "o"]
    means = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "|"]
    assert [list(values) for values in dots] == [[-5.0, -1.0], [-4.0, -3.0, -2.0], [-3.5, -2.0]]
    assert means == [-3.0, -3.0, -2.75]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["lr=0.1\n1 of 3 without a value", "lr=0.2", "lr=0.3\n1 of 3 without a value"]
    assert axes.get_xlabel() == METRIC
    matplotlib.pyplot.close(figure)


@pytest.mark.filterwarnings("ignore::tqdm.TqdmWarning")
def test_bar_counts_steps_and_is_full_at_the_end(capsys):
    trials = GRID.trials()[:2]
    with ProgressBar("grid", trials, shown=True) as bar:
        bar.on_start(trials[0].id)
        bar.on_advance(trials[0].id, 3)
        assert bar.bar.n == 3
        bar.on_end(make_row_of(trials[0], None, "diverged"))
        bar.on_end(make_row_of(trials[1], 1.0))
        assert bar.bar.n == bar.bar.total == 10
    assert "2/2 trials: 1 diverged, 1 ok" in capsys.readouterr().err


def test_bar_is_silent_where_nobody_watches(capsys):
    with ProgressBar("grid", GRID.trials(), shown=None) as bar:
        bar.on_note("a note")
        bar.on_advance(GRID.trials()[0].id, 3)
    assert capsys.readouterr() == ("", "")

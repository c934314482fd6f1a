"""The README's table of all tables and figures: its lines, trials, times and values, from made-up rows."""

import pytest
from bench_helpers import row_of, store_rows

from bench.catalogue import catalogue
from bench.judging.results import Results
from bench.paper.artifacts import ARTIFACTS, UNLISTED
from bench.paper.pages.overview import ENTRIES
from bench.publishing.overview import OverviewEntry, list_trials, render_overview
from bench.publishing.quotes import TrialQuote

DRIFT = OverviewEntry(["drift"], "a curve", TrialQuote("ML, nats", "ML", "test_log_likelihood", 1, -7.0))
SHARING = OverviewEntry(["table3", "stability"], "classifiers"), OverviewEntry(["table5"], "outliers")


@pytest.fixture
def stored(tmp_path):
    """Half an hour of each seed of the first trial of `drift`, at `laptop`."""
    trial = next(trial for trial in catalogue.artifact("drift").trials("laptop") if trial.label == "ML")
    store_rows(
        tmp_path,
        [
            row_of(trial, seed, -2.0, metric="test_log_likelihood", sweep="drift", seconds=1800.0, cpus=1.0)
            for seed in catalogue.artifact("drift").seeds["laptop"]
        ],
    )
    return Results.open_profiles(tmp_path, ("laptop", "paper"))


def read_lines(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]


def test_every_artifact_of_the_paper_has_one_line():
    names = [name for entry in ENTRIES for name in entry.names]
    assert len(names) == len(set(names))
    assert set(names) == set(ARTIFACTS) - set(UNLISTED)


@pytest.mark.parametrize("name", ["table2", "table10", "drift"])
def test_trials_are_those_of_the_sweep(name):
    trials = {trial.id for trial in catalogue.sweep(name).trials("laptop")}
    assert len(list_trials(OverviewEntry([name], ""), "laptop")) == len(trials)


def test_line_has_trials_minutes_a_value_and_that_of_the_paper(stored):
    ((name, shows, laptop, value, paper, at_paper, in_paper),) = read_lines(render_overview([DRIFT], *stored))
    assert (name, shows) == ("`drift`", "a curve")
    seeds = len(catalogue.artifact("drift").seeds["laptop"])
    assert laptop == f"{len(list_trials(DRIFT, 'laptop'))}, {30 * seeds} min"
    assert value == "ML, nats: −2.0 ± 0.0"
    assert (paper, at_paper, in_paper) == ("", "", "−7")


def test_trials_of_an_earlier_line_are_shared_and_a_line_without_rows_has_its_gpu_time(stored):
    first, second = read_lines(render_overview(SHARING, *stored))
    own, shared = (list_trials(entry, "laptop") for entry in SHARING)
    assert set(shared) <= set(own)
    assert (first[2], second[2]) == (str(len(own)), f"{len(shared)} shared")
    assert "GPU-hours" in first[4]

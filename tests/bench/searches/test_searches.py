"""Searches read off a store: what each found and cost, against the grid; rows made up, and no torch."""

import argparse
import json
import shutil
from dataclasses import replace

import pytest
from bench_helpers import stored, terminal_text
from search_helpers import BEST, fresh_rows, grid_rows, named, rows_at, tpe_rows

import bench.searches.search_figure  # noqa: F401 (registers the figures)
from bench.catalogue import catalogue
from bench.cli.verbs import search as searching
from bench.judging.claims import Finding
from bench.report.scorecard import coverage
from bench.searches.problems import TASKS
from bench.searches.search_table import Searches, at_least_as_good, cheap_and_good
from bench.searches.stored_searches import Grid, declared, search_rows, searched
from sweeps.trial.canonical_json import canonical_json
from vera.errors import VeraError

PAIR = ("moons", "vera")


def lines_of(results):
    return {line["search"]: line for line in Searches().render(results).lines}


def judged(results, name="tpe"):
    runs = searched(results)[PAIR]
    return at_least_as_good(
        next(run for run in runs if run.name == name), Grid.of(runs, results.profile), results
    )


@pytest.fixture
def both(tmp_path):
    return stored(tmp_path, [*grid_rows(), *tpe_rows()])


def test_every_declared_method_is_that_of_its_trials_and_every_axis_has_a_grid():
    for task in TASKS.values():
        for method, search in task.searches.items():
            for profile in ("smoke", "laptop", "paper"):
                assert search.base(profile).spec.method["name"] == method
            assert all(axis.grid for axis in search.space.axes), search.name


@pytest.mark.parametrize(("sweep", "method", "pair"), [
    ("search-moons-vera-grid", "vera", ("moons", "vera")),
    ("search-moons-vera", "vera", ("moons", "vera")),
    ("search-flow-vera-hmc-tpe", "vera-hmc", ("flow", "vera-hmc")),
    ("search-flow-vera-hmc-tpe", "vera", ("flow", "vera")),
    ("search-moons-veracity-grid", "vera", None),
    ("search-own-vera-grid", "vera", None),
    ("search-moons-vera-grid", "ml", None),
])  # fmt: skip
def test_a_row_says_which_search_it_is_of(tmp_path, sweep, method, pair):
    (row,) = rows_at(named("tpe", (100,)), BEST, -3.0, 0)
    assert declared(replace(row, sweep=sweep, method=method)) == pair


def test_each_search_has_a_line_with_what_it_found_and_cost(both):
    lines = lines_of(both)
    assert list(lines) == ["grid", "tpe"]
    grid, tpe = lines["grid"], lines["tpe"]
    assert (grid["configurations"], grid["steps"], grid["share"]) == (36, 36 * 2 * 2_000, 100)
    steps = (11 * 2) * 2_000 + 2 * 100 + 2 * 50
    assert (tpe["configurations"], tpe["stopped"], tpe["diverged"], tpe["steps"]) == (14, 2, 1, steps)
    assert tpe["share"] == pytest.approx(100 * steps / 144_000)
    assert tpe["seconds"] == 2.0 * 26
    assert tpe["score"] == pytest.approx(-3.005)
    assert tpe["point"] == "lr 0.002, generator_lr 0.004, entropy_weight 0.5"
    (best,) = [row for row in both.rows if tpe["command"] == f"vera run trial:{row.trial_id[:8]} --seeds 3"]
    assert (best.sweep, best.seed) == ("search-moons-vera-tpe", 100)


def test_a_search_without_a_grid_is_measured_against_what_that_would_take(tmp_path):
    results = stored(tmp_path, list(tpe_rows()))
    assert lines_of(results)["tpe"]["share"] == pytest.approx(100 * 44_300 / 144_000)
    text = terminal_text(Searches().render(results))
    assert "the grid of 36 would take 144,000 steps; it was not run to its end here" in text
    assert judged(results).judgement == "undetermined"


def test_a_grid_that_was_interrupted_is_not_taken_for_the_grid(tmp_path):
    results = stored(tmp_path, [*list(grid_rows())[:8], *tpe_rows()])
    assert Grid.of(searched(results)[PAIR], "laptop").run is None
    assert judged(results).judgement == "undetermined"


def test_the_grid_has_the_declared_values_and_no_trial_was_stopped(tmp_path):
    search = named("grid")
    space = search.space.with_grid("lr", ["1e-3", "1e-2"])
    own = [row for number, point in enumerate(space.grid()) for row in rows_at(search, point, -3.0, number)]
    *most, last = search.space.grid()
    stopped = [*list(grid_rows())[:-2], *rows_at(search, last, -9.0, 40, "stopped_early")]
    for name, rows in (("own", own), ("stopped", stopped)):
        assert Grid.of(searched(stored(tmp_path / name, rows))[PAIR], "laptop").run is None
    assert len(most) == 35


def test_the_grid_costs_what_its_trials_cost_whoever_ran_them(tmp_path):
    rows = [
        row if number % 3 else replace(row, sweep="search-moons-vera-other")
        for number, row in enumerate(grid_rows())
    ]
    grid = Grid.of(searched(stored(tmp_path, rows))[PAIR], "laptop")
    assert (grid.points, grid.steps, grid.run is not None) == (36, 144_000, True)


def test_a_search_that_may_have_known_the_grid_is_not_compared_with_it(tmp_path):
    finding = judged(stored(tmp_path, [*grid_rows(), *tpe_rows(hour=2)]))
    assert finding.judgement == "undetermined"
    assert finding.evidence.startswith("72 of the grid's trials ended before tpe was through")


@pytest.mark.parametrize(
    ("value", "judgement"), [(-3.0, "supported"), (-4.03, "undetermined"), (-5.0, "refuted")]
)
def test_at_least_as_good_as_the_grid_by_the_seeds_that_there_are(tmp_path, value, judgement):
    finding = judged(stored(tmp_path, [*grid_rows(), *tpe_rows(value)]))
    assert finding.judgement == judgement
    assert finding.evidence.endswith("(n=2 and 2), tolerance 0.05, of the seeds that chose them")


def test_fresh_seeds_decide_where_both_have_them(tmp_path):
    first = next(iter(named("grid").space.grid()))
    rows = [*grid_rows(), *tpe_rows(), *fresh_rows(BEST, -4.5), *fresh_rows(first, -4.0)]
    finding = judged(stored(tmp_path, rows))
    assert finding == Finding(
        "refuted", "grid − tpe = 0.5 ± 0.023 (n=3 and 3), tolerance 0.05, of fresh seeds"
    )


def test_a_diverged_fresh_seed_counts_as_the_worst(tmp_path):
    first = next(iter(named("grid").space.grid()))
    lost = [replace(row, outcome="diverged") for row in fresh_rows(BEST, -3.0)]
    finding = judged(stored(tmp_path, [*grid_rows(), *tpe_rows(), *lost, *fresh_rows(first, -4.0)]))
    assert finding.judgement == "refuted"
    assert "= 16 " in finding.evidence


def test_a_search_that_took_as_long_as_the_grid_is_refuted_and_one_of_half_of_it_is_not_cheap(tmp_path, both):
    slow = [replace(row, outcome_step=20_000) for row in tpe_rows()]
    finding = judged(stored(tmp_path / "slow", [*grid_rows(), *slow]))
    assert finding.judgement == "refuted"
    assert "the grid 144,000" in finding.evidence
    half = [replace(row, outcome_step=2 * row.outcome_step) for row in tpe_rows()]
    results = stored(tmp_path / "half", [*grid_rows(), *half])
    assert judged(results).judgement == "supported"
    assert cheap_and_good(results).judgement == "refuted"
    assert "took 62 % of the grid's steps" in cheap_and_good(results).evidence
    assert cheap_and_good(both).judgement == "supported"


def test_a_trial_of_another_sweep_scores_and_does_not_cost(tmp_path):
    search = named("second")
    shared = [
        row if row.seed == 101 else replace(row, sweep="search-moons-vera-first")
        for row in rows_at(search, BEST, -3.0, 0)
    ]
    line = lines_of(stored(tmp_path, shared))["second"]
    assert line["steps"] == 2_000
    assert line["configurations"] == 1


def gathered(search, rows):
    return search.gathered(rows, "laptop", search.fixed(json.loads(rows[0].spec)))


def test_what_failed_in_another_search_is_no_failure_of_this_one(tmp_path):
    rows = [
        *rows_at(named("first"), BEST, -3.0, 0, "error"),
        *rows_at(named("second"), BEST | {"method.lr": 1e-3}, -4.0, 1),
    ]
    found = {name: gathered(named(name), rows) for name in ("first", "second")}
    arguments = argparse.Namespace(results_dir="results/local")
    assert searching.failures(found["second"], arguments) == []
    (line,) = searching.failures(found["first"], arguments)
    assert line.startswith("vera: 2 of 2 trials ended as error; see: vera show ")


def test_the_best_is_written_whole_or_the_reason_is_told(tmp_path):
    (entry,) = gathered(named("any"), list(rows_at(named("any"), BEST, -3.0, 0)))
    arguments = argparse.Namespace(results_dir=str(tmp_path), profile="laptop")
    assert json.loads(searching.spec_file(entry, arguments).read_text())["profile"] == "laptop"
    shutil.rmtree(tmp_path / "searches")
    (tmp_path / "searches").touch()
    with pytest.raises(VeraError, match="searches"):
        searching.spec_file(entry, arguments)


def test_of_two_variants_the_later_one_is_shown_and_a_note_says_so(tmp_path):
    def other(row):
        return canonical_json({**json.loads(row.spec), "batch_size": 7})

    ago = "2025-01-01T00:00:00+00:00"
    older = [
        replace(row, spec=other(row), trial_id=f"old{i}", finished_at=ago)
        for i, row in enumerate(tpe_rows(-1.0))
    ]
    sheet = Searches().render(stored(tmp_path, [*older, *tpe_rows()]))
    assert sheet.lines[0]["score"] == pytest.approx(-3.005)
    assert any("2 variants of its trials" in note for note in sheet.notes)


def test_nothing_but_stopped_or_failed_trials_is_said_in_words(tmp_path):
    search = named("tpe")
    failed = rows_at(search, BEST | {"method.lr": 1e-3}, -3.0, 1, "error")
    results = stored(tmp_path, [*rows_at(search, BEST, -3.0, 0, "stopped_early"), *failed])
    assert lines_of(results)["tpe"]["score"] == "none ran to its end"


def test_a_store_without_searches_has_none(tmp_path):
    results = stored(tmp_path, list(fresh_rows(BEST, -3.0)))
    assert search_rows(results) == []
    for name in ("searches", "search-figures"):
        artifact = catalogue.artifact(name)
        assert not artifact.is_in(results)
        assert coverage(artifact, results).status == "no rows"


def test_the_scorecard_counts_trials_of_searches(both):
    found = coverage(Searches(), both)
    assert (found.status, found.progress, found.losses) == ("open-ended", "98 trials", "2 diverged")

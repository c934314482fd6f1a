"""Stored searches: what each found and cost, and how it compares with the grid."""

import json
from dataclasses import replace

import pytest
from bench_helpers import print_to_text, store_rows
from search_helpers import BEST, make_fresh_rows, make_grid_rows, make_rows, make_search, make_tpe_rows

from bench.catalogue import catalogue
from bench.report.scorecard import measure_coverage
from bench.searches.problems import PROBLEMS
from bench.searches.search_judging import check_at_least_as_good, check_cheap_and_good
from bench.searches.search_table import SearchTable
from bench.searches.stored_searches import GridReference, find_search_rows, find_searches, identify_search
from sweeps.trial.canonical_json import canonical_json

KEY = ("moons", "vera")


def lines_of(results):
    return {line["search"]: line for line in SearchTable().render(results).lines}


def judge(results, name="tpe"):
    runs = find_searches(results)[KEY]
    return check_at_least_as_good(
        next(run for run in runs if run.name == name), GridReference.choose(runs, results.profile), results
    )


@pytest.fixture
def both(tmp_path):
    return store_rows(tmp_path, [*make_grid_rows(), *make_tpe_rows()])


def test_every_search_varies_its_own_method_and_every_axis_has_a_grid():
    for problem in PROBLEMS.values():
        for method, search in problem.searches.items():
            for profile in ("smoke", "laptop", "paper"):
                assert search.base(profile).spec.method["name"] == method
            assert all(axis.grid for axis in search.space.axes), search.name


@pytest.mark.parametrize(("sweep", "method", "key"), [
    ("search-moons-vera-grid", "vera", ("moons", "vera")),
    ("search-moons-vera", "vera", ("moons", "vera")),
    ("search-flow-vera-hmc-tpe", "vera-hmc", ("flow", "vera-hmc")),
    ("search-flow-vera-hmc-tpe", "vera", ("flow", "vera")),
    ("search-moons-veracity-grid", "vera", None),
    ("search-own-vera-grid", "vera", None),
    ("search-moons-vera-grid", "ml", None),
])  # fmt: skip
def test_a_row_identifies_its_search(tmp_path, sweep, method, key):
    (row,) = make_rows(make_search("tpe", (100,)), BEST, -3.0, 0)
    assert identify_search(replace(row, sweep=sweep, method=method)) == key


def test_each_search_has_a_line_with_its_best_and_its_cost(both):
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


def test_without_a_stored_grid_the_declared_one_is_the_reference(tmp_path):
    results = store_rows(tmp_path, list(make_tpe_rows()))
    assert lines_of(results)["tpe"]["share"] == pytest.approx(100 * 44_300 / 144_000)
    text = print_to_text(SearchTable().render(results))
    assert "the grid of 36 would take 144,000 steps; it was not run to its end here" in text
    assert judge(results).judgement == "undetermined"


def test_an_interrupted_grid_is_not_a_reference(tmp_path):
    results = store_rows(tmp_path, [*list(make_grid_rows())[:8], *make_tpe_rows()])
    assert GridReference.choose(find_searches(results)[KEY], "laptop").run is None
    assert judge(results).judgement == "undetermined"


def test_a_grid_of_other_values_or_with_stopped_trials_is_not_a_reference(tmp_path):
    search = make_search("grid")
    space = search.space.with_grid("lr", ["1e-3", "1e-2"])
    own = [
        row
        for number, point in enumerate(space.iterate_grid())
        for row in make_rows(search, point, -3.0, number)
    ]
    *most, last = search.space.iterate_grid()
    stopped = [*list(make_grid_rows())[:-2], *make_rows(search, last, -9.0, 40, "stopped_early")]
    for name, rows in (("own", own), ("stopped", stopped)):
        assert (
            GridReference.choose(find_searches(store_rows(tmp_path / name, rows))[KEY], "laptop").run is None
        )
    assert len(most) == 35


def test_the_cost_of_the_grid_includes_trials_of_other_sweeps(tmp_path):
    rows = [
        row if number % 3 else replace(row, sweep="search-moons-vera-other")
        for number, row in enumerate(make_grid_rows())
    ]
    grid = GridReference.choose(find_searches(store_rows(tmp_path, rows))[KEY], "laptop")
    assert (grid.points, grid.steps, grid.run is not None) == (36, 144_000, True)


def test_a_search_that_could_learn_from_the_grid_is_not_compared(tmp_path):
    finding = judge(store_rows(tmp_path, [*make_grid_rows(), *make_tpe_rows(hour=2)]))
    assert finding.judgement == "undetermined"
    assert finding.evidence.startswith("72 of the grid's trials ended before tpe")


@pytest.mark.parametrize(
    ("value", "judgement"), [(-3.0, "supported"), (-4.03, "undetermined"), (-5.0, "refuted")]
)
def test_without_fresh_seeds_the_selecting_seeds_decide(tmp_path, value, judgement):
    finding = judge(store_rows(tmp_path, [*make_grid_rows(), *make_tpe_rows(value)]))
    assert finding.judgement == judgement
    assert "(n=2 and 2, " in finding.evidence
    assert finding.evidence.endswith(", tolerance 0.05, of the seeds that chose them")


def test_fresh_seeds_decide_if_both_have_them(tmp_path):
    first = next(iter(make_search("grid").space.iterate_grid()))
    rows = [*make_grid_rows(), *make_tpe_rows(), *make_fresh_rows(BEST, -4.5), *make_fresh_rows(first, -4.0)]
    finding = judge(store_rows(tmp_path, rows))
    assert finding.judgement == "refuted"
    assert finding.evidence.startswith("grid − tpe = 0.5 ± 0.023 (n=3 and 3, ")
    assert finding.evidence.endswith("tolerance 0.05, of fresh seeds")


def test_a_diverged_fresh_seed_counts_as_the_worst(tmp_path):
    first = next(iter(make_search("grid").space.iterate_grid()))
    diverged = [replace(row, outcome="diverged") for row in make_fresh_rows(BEST, -3.0)]
    finding = judge(
        store_rows(tmp_path, [*make_grid_rows(), *make_tpe_rows(), *diverged, *make_fresh_rows(first, -4.0)])
    )
    assert finding.judgement == "refuted"
    assert "= 16 " in finding.evidence


def test_a_search_must_take_fewer_steps_than_the_grid_and_at_most_a_third_to_be_cheap(tmp_path, both):
    slow = [replace(row, outcome_step=20_000) for row in make_tpe_rows()]
    finding = judge(store_rows(tmp_path / "slow", [*make_grid_rows(), *slow]))
    assert finding.judgement == "refuted"
    assert "the grid 144,000" in finding.evidence
    half = [replace(row, outcome_step=2 * row.outcome_step) for row in make_tpe_rows()]
    results = store_rows(tmp_path / "half", [*make_grid_rows(), *half])
    assert judge(results).judgement == "supported"
    assert check_cheap_and_good(results).judgement == "refuted"
    assert "took 62 % of the grid's steps" in check_cheap_and_good(results).evidence
    assert check_cheap_and_good(both).judgement == "supported"


def test_a_trial_of_another_sweep_counts_for_the_score_and_not_for_the_cost(tmp_path):
    search = make_search("second")
    shared = [
        row if row.seed == 101 else replace(row, sweep="search-moons-vera-first")
        for row in make_rows(search, BEST, -3.0, 0)
    ]
    line = lines_of(store_rows(tmp_path, shared))["second"]
    assert line["steps"] == 2_000
    assert line["configurations"] == 1


def test_the_later_of_two_variants_is_shown_with_a_note(tmp_path):
    def other(row):
        return canonical_json({**json.loads(row.spec), "batch_size": 7})

    ago = "2025-01-01T00:00:00+00:00"
    older = [
        replace(row, spec=other(row), trial_id=f"old{i}", finished_at=ago)
        for i, row in enumerate(make_tpe_rows(-1.0))
    ]
    sheet = SearchTable().render(store_rows(tmp_path, [*older, *make_tpe_rows()]))
    assert sheet.lines[0]["score"] == pytest.approx(-3.005)
    assert any("2 variants of its trials" in note for note in sheet.notes)


def test_a_search_without_a_finished_configuration_has_no_best(tmp_path):
    search = make_search("tpe")
    failed = make_rows(search, BEST | {"method.lr": 1e-3}, -3.0, 1, "error")
    results = store_rows(tmp_path, [*make_rows(search, BEST, -3.0, 0, "stopped_early"), *failed])
    assert lines_of(results)["tpe"]["score"] == "none ran to its end"


def test_a_store_without_searches_has_nothing_to_show(tmp_path):
    results = store_rows(tmp_path, list(make_fresh_rows(BEST, -3.0)))
    assert find_search_rows(results) == []
    for name in ("searches", "search-figures"):
        artifact = catalogue.artifact(name)
        assert not artifact.is_in(results)
        assert measure_coverage(artifact, results).status == "not run"


def test_the_scorecard_counts_trials_of_searches(both):
    found = measure_coverage(SearchTable(), both)
    assert (found.status, found.progress, found.failures) == ("open-ended", "98 trials", "2 diverged")

"""The store benchmark: made-up trials are valid and found by their table, and its figures are complete."""

import pytest

from bench.catalogue import catalogue
from bench.judging.results import Results
from bench.perf import store as benchmark
from bench.perf.store import SIZES, StoreScaling, StoreTimes, make_records, measure_store, write_files
from sweeps.errors import EngineError
from sweeps.store.store import Store


def test_made_up_trials_are_read_without_problems_and_matched(tmp_path, monkeypatch):
    monkeypatch.setattr(benchmark, "IN_A_FILE", 40)
    ids = [record.row.trial_id for record in make_records(100)]
    write_files(tmp_path / "trials", make_records(100))
    store = Store(tmp_path / "trials")
    assert sorted(ids) == [row.trial_id for row in store.read_rows()]
    assert len(set(ids)) == 100
    assert len(store.folder.list_names("rows")) == 3
    assert store.problems == []
    declared = catalogue.sweep("table2").trials("laptop")
    assert {trial.id for trial in declared} <= set(ids)
    results = Results(store, "laptop")
    assert [row.seed for row in results.find_rows(declared[0])] == [0, 1, 2]
    assert len(results.read_curves(results.rows[0])) == len(next(make_records(1)).curves)


def test_every_quantity_is_measured(monkeypatch):
    monkeypatch.setattr(benchmark, "COMMANDS", {"status": ("status",), "show": ("show",)})
    monkeypatch.setattr(benchmark, "_run", lambda words: "1.5 200")
    monkeypatch.setattr(
        benchmark, "_time_command", lambda words, folder: (folder / "report.html").write_text("page")
    )
    (times,) = measure_store([7]).times
    assert times.found == {"compact": 1.5, "peak": 200.0, "status": 4, "show": 4, "page": 4e-6}


def test_a_command_that_fails_is_an_error(tmp_path):
    with pytest.raises(EngineError, match="exit code 2"):
        benchmark._time_command(("show", "nothing"), tmp_path)


def test_bars_are_stated_for_an_empty_and_for_the_largest_store():
    slow = {"list": 6.0, "plan": 2.0, "peak": 600.0}
    times = [StoreTimes(size, slow) for size in (0, 1_000, SIZES[-1])]
    assert [each.list_missed() for each in times] == [["list", "plan"], [], ["list", "peak"]]
    found = StoreScaling(times)
    assert not found.is_met
    assert {(value.subject, value.quantity) for value in found.list_values()} >= {("100,000", "peak")}
    assert sum(line.count("*") for line in found.format_lines()[1:-1]) == 4

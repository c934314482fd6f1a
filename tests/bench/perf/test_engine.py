"""The engine's benchmark, at reduced size: it runs both ways and counts right. The bar itself is for 1,000
trials and no test."""

import re

import pytest

from bench.perf.engine import Overhead, SearchOverhead, main, trivial_trials
from vera.spec.registry import tasks


def test_the_bar_and_the_overhead_are_computed_from_the_times():
    overhead = Overhead(trials=1_000, engine=50.0, tasks=10.0, driver_megabytes=450.0, read=0.1)
    assert overhead.milliseconds == pytest.approx(40.0)
    assert overhead.bar == pytest.approx(72.0)


def test_it_runs(capsys, monkeypatch):
    monkeypatch.setattr(tasks, "_known", dict(tasks._entries))
    monkeypatch.setattr("bench.perf.engine.ROWS_TO_READ", 20)
    assert main(["--trials", "6", "--cpus", "2"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"6 trivial trials   engine \d+\.\d s   plain Ray tasks \d+\.\d s", out)
    assert "20 rows after compaction" in out


def test_a_search_is_measured_as_well(capsys, monkeypatch):
    assert SearchOverhead(trials=500, search=40.0, tasks=5.0).milliseconds == pytest.approx(70.0)
    monkeypatch.setattr(tasks, "_known", dict(tasks._entries))
    assert main(["--search", "6", "--cpus", "2"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"6 trivial trials of a search   engine \d+\.\d s   plain Ray tasks \d+\.\d s", out)
    assert "ms a trial" in out


def test_no_two_of_the_trials_are_one(monkeypatch):
    monkeypatch.setattr(tasks, "_known", dict(tasks._entries))
    from bench.perf.engine import PLUGIN
    from vera.spec.registry import load_plugin

    load_plugin(PLUGIN)
    assert len({trial.id for trial in trivial_trials(10)}) == 10

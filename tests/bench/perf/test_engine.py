"""The engine benchmark at reduced size. Its bar is stated for 1,000 trials and is not tested."""

import re

import pytest

from bench.cli.main import main
from bench.perf.engine import PLUGIN, EngineOverhead, SearchOverhead, make_trivial_trials
from vera.spec.registry import load_plugin, tasks


def test_bar_and_overhead_follow_from_the_times():
    overhead = EngineOverhead(trials=1_000, engine=50.0, tasks=10.0, driver_megabytes=450.0, read=0.1)
    assert overhead.milliseconds == pytest.approx(40.0)
    assert overhead.bar == pytest.approx(72.0)


def test_engine_is_measured(capsys, monkeypatch):
    monkeypatch.setattr(tasks, "_known", dict(tasks._entries))
    monkeypatch.setattr("bench.perf.engine.ROWS_TO_READ", 20)
    assert main(["perf", "engine", "--trials", "6", "--cpus", "2"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"6 trivial trials   engine \d+\.\d s   plain Ray tasks \d+\.\d s", out)
    assert "20 rows after compaction" in out


def test_search_is_measured(capsys, monkeypatch):
    assert SearchOverhead(trials=500, search=40.0, tasks=5.0).milliseconds == pytest.approx(70.0)
    monkeypatch.setattr(tasks, "_known", dict(tasks._entries))
    assert main(["perf", "engine", "--search", "6", "--cpus", "2"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"6 trivial trials of a search   engine \d+\.\d s   plain Ray tasks \d+\.\d s", out)
    assert "ms a trial" in out


def test_trials_are_distinct(monkeypatch):
    monkeypatch.setattr(tasks, "_known", dict(tasks._entries))
    load_plugin(PLUGIN)
    assert len({trial.id for trial in make_trivial_trials(10)}) == 10

"""Benchmark numbers: stored with their provenance, and shown as tables."""

from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from bench.cli.main import main
from bench.perf.engine import EngineOverhead, SearchOverhead
from bench.perf.measurements import BenchmarkValue, read_values
from bench.perf.step_report import MemoryRow, RivalRow, StepResults, StepRow
from bench.perf.stored_measurements import store_values
from bench.perf.timing import TimeComparison
from bench.publishing.benchmark_tables import render_benchmarks

TIMING = TimeComparison(6.0, 2.0, 3.0, (2.5, 3.5), 9)
STEP = BenchmarkValue("step", "toy", "vera", "ms", 6.0)
ENGINE = BenchmarkValue("engine", "1,000", "", "seconds", 60.0)


def test_values_are_stored_with_their_provenance(tmp_path):
    store_values(tmp_path, [STEP, ENGINE], threads=2)
    (found,) = read_values(tmp_path, "step")
    assert (found.subject, found.method, found.quantity, found.value) == ("toy", "vera", "ms", 6.0)
    assert found.threads == 2
    assert found.processor
    assert found.measured_at.endswith("+00:00")
    assert str(Path.home()) not in str(pq.read_table(tmp_path / "benchmarks" / "step.parquet").to_pylist())
    assert [value.value for value in read_values(tmp_path, "engine")] == [60.0]


def test_measuring_again_replaces_that_benchmark_alone(tmp_path):
    store_values(tmp_path, [STEP, ENGINE])
    store_values(tmp_path, [BenchmarkValue("step", "nice", "ml", "ms", 1.0)])
    assert [(value.subject, value.value) for value in read_values(tmp_path, "step")] == [("nice", 1.0)]
    assert read_values(tmp_path, "engine")


def test_benchmark_without_values_has_no_table(tmp_path):
    assert read_values(tmp_path, "step") == []
    assert render_benchmarks(tmp_path) == ""


def test_steps_rivals_and_memory_have_a_table_each(tmp_path):
    steps = [StepRow("toy", "vera", 6.0, 0.15, 12, TIMING), StepRow("toy", "cp-sm", reason="needs curvature")]
    rivals = [RivalRow("wrn-28-2", TIMING, vera_gflop=10.0, jem_gflop=25.0, paper=2.8)]
    store_values(tmp_path, StepResults(steps, rivals, [MemoryRow("toy", 1_000_000, 4_000_000)]).list_values())
    text = render_benchmarks(tmp_path)
    assert "| toy | vera | 6.00 | 0.150 | 2.00 | 3.00 | 2.50 | 3.50 | 9 |" in text
    assert "| wrn-28-2 | 2 | 6 | 3.00 | 2.50 | 3.50 | 9 | 2.50 | 2.8 |" in text
    assert text.count(" cores), 1 thread:") == 2
    assert "| toy | entropy block | 1.00 | 4.00 | 0.250 |" in text
    assert "cp-sm" not in text
    assert text.count("`vera perf step`, 20") == 3


@pytest.mark.parametrize(("time_of_step", "command"), [("2020-01-02", "step"), ("2020-01-01", "memory")])
def test_memory_has_the_command_that_measured_it(monkeypatch, time_of_step, command):
    memory = BenchmarkValue("memory", "toy", "entropy block", "bytes", 1e6, measured_at="2020-01-02")
    stored = {"step": [replace(STEP, measured_at=time_of_step)], "memory": [memory]}
    monkeypatch.setattr(
        "bench.publishing.benchmark_tables.read_values", lambda location, name: stored.get(name, [])
    )
    assert f"`vera perf {command}`, 2020-01-02" in render_benchmarks("")


@pytest.mark.parametrize(
    ("found", "line", "flags"),
    [
        (EngineOverhead(1_000, 62.0, 4.0, 511.0, 0.1), "| 1,000 | 62.0 | 4.0 | 58.0 | 511 | 0.10 |", ""),
        (SearchOverhead(2_000, 49.0, 9.0), "| 2,000 | 49.0 | 9.0 | 20.0 |", " --search 2000"),
    ],
)
def test_overhead_of_the_engine_has_a_table(tmp_path, found, line, flags):
    store_values(tmp_path, found.list_values())
    first, *rest = render_benchmarks(tmp_path).splitlines()
    assert first.startswith(f"`vera perf engine{flags}`, 20")
    assert line in rest


@pytest.mark.parametrize(
    ("benchmark", "flags"),
    [
        ("step", ["--quick"]),
        ("step", ["--shapes", "toy"]),
        ("step", ["--methods", "ml"]),
        ("memory", ["--shapes", "toy"]),
    ],
)
def test_part_of_a_measurement_never_replaces_published_values(
    monkeypatch, tmp_path, capsys, benchmark, flags
):
    monkeypatch.chdir(tmp_path)
    assert main(["perf", benchmark, "--keep", "results/published", *flags]) == 2
    err = capsys.readouterr().err
    assert all(fact in err for fact in ("--keep results/published", flags[0]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("engine", "read", "met"), [(64.0, 2.0, True), (65.0, 2.0, False), (64.0, 2.1, False)]
)
def test_bar_is_met_or_missed(engine, read, met):
    assert EngineOverhead(1_000, engine, 4.0, 500.0, read).is_met is met

"""Measurements of the code itself: kept with where they came from, shown as tables, and the page is held to
them."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from locations import ROOT

from bench.perf import engine as overhead
from bench.perf import measurements as measured
from bench.perf import step
from bench.perf.measurements import Number, keep, kept
from bench.perf.step_report import Found, MemoryRow, RivalRow, StepRow
from bench.perf.timing import Comparison

TIMING = Comparison(6.0, 2.0, 3.0, (2.5, 3.5), 9)


def test_the_page_is_that_of_what_was_measured(monkeypatch, capsys):
    """If the change is meant: python -m bench.perf.measurements."""
    monkeypatch.chdir(ROOT)
    assert measured.main(["--check"]) == 0, capsys.readouterr().err


def test_what_is_kept_is_what_was_measured_with_its_provenance(tmp_path):
    numbers = [Number("step", "toy", "vera", "ms", 6.0), Number("engine", "1,000", "", "seconds", 60.0)]
    keep(tmp_path, numbers, threads=2)
    (found,) = kept(tmp_path, "step")
    assert (found.subject, found.method, found.quantity, found.value, found.threads) == (
        "toy",
        "vera",
        "ms",
        6.0,
        2,
    )
    assert found.processor
    assert found.measured_at.endswith("+00:00")
    assert str(Path.home()) not in str(pq.read_table(tmp_path / "benchmarks" / "step.parquet").to_pylist())
    assert [number.value for number in kept(tmp_path, "engine")] == [60.0]


def test_measuring_again_replaces_that_benchmark_alone(tmp_path):
    keep(tmp_path, [Number("step", "toy", "vera", "ms", 6.0), Number("engine", "1,000", "", "seconds", 60.0)])
    keep(tmp_path, [Number("step", "nice", "ml", "ms", 1.0)])
    assert [(number.subject, number.value) for number in kept(tmp_path, "step")] == [("nice", 1.0)]
    assert kept(tmp_path, "engine")


def test_nothing_is_shown_of_what_was_not_measured(tmp_path):
    assert kept(tmp_path, "step") == []
    assert list(measured.lines(tmp_path)) == []


def test_steps_rivals_and_memory_have_a_table_each(tmp_path):
    steps = [StepRow("toy", "vera", 6.0, 0.15, 12, TIMING), StepRow("toy", "cp-sm", reason="needs curvature")]
    rivals = [RivalRow("wrn-28-2", TIMING, vera_gflop=10.0, jem_gflop=25.0, paper=2.8)]
    keep(tmp_path, Found(steps, rivals, [MemoryRow("toy", 1_000_000, 4_000_000)]).numbers())
    text = "\n".join(measured.lines(tmp_path))
    assert "| toy | vera | 6.00 | 0.150 | 2.00 | 3.00 | 2.50 | 3.50 | 9 |" in text
    assert "| wrn-28-2 | 2 | 6 | 3.00 | 2.50 | 3.50 | 9 | 2.50 | 2.8 |" in text
    assert text.count(" cores), 1 thread:") == 2
    assert "| toy | entropy block | 1.00 | 4.00 | 0.250 |" in text
    assert "cp-sm" not in text
    assert text.count("`python -m bench.perf.step`, 20") == 3


@pytest.mark.parametrize(
    ("found", "line", "flags"),
    [
        (overhead.Overhead(1_000, 62.0, 4.0, 511.0, 0.1), "| 1,000 | 62.0 | 4.0 | 58.0 | 511 | 0.10 |", ""),
        (overhead.SearchOverhead(2_000, 49.0, 9.0), "| 2,000 | 49.0 | 9.0 | 20.0 |", " --search 2000"),
    ],
)
def test_the_engines_overhead_has_a_line(tmp_path, found, line, flags):
    keep(tmp_path, found.numbers())
    first, *rest = measured.lines(tmp_path)
    assert first.startswith(f"`python -m bench.perf.engine{flags}`, 20")
    assert line in rest


@pytest.mark.parametrize("part", [["--quick"], ["--memory-only"], ["--shapes", "toy"], ["--methods", "ml"]])
def test_a_part_never_takes_the_place_of_what_ships(monkeypatch, tmp_path, capsys, part):
    monkeypatch.chdir(tmp_path)
    assert step.main(["--keep", "results/published", *part]) == 2
    assert f"takes the place of all that was measured before: leave out {part[0]}." in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("engine", "read", "met"), [(64.0, 2.0, True), (65.0, 2.0, False), (64.0, 2.1, False)]
)
def test_a_bar_is_met_or_missed(engine, read, met):
    assert overhead.Overhead(1_000, engine, 4.0, 500.0, read).met is met

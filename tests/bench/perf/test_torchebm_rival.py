"""The comparison with torchebm: both libraries do the same work, and the numbers are kept."""

import pytest
import torch
from facts import raises_with

from bench.cli.main import main
from bench.perf.measurements import read_values
from bench.perf.stored_measurements import store_values
from bench.perf.timing import TimeComparison
from bench.perf.torchebm_rival import (
    SHAPES,
    ChainPair,
    ChainShape,
    RivalTiming,
    format_report,
    list_values,
    require_torchebm,
)
from bench.publishing.benchmark_tables import render_benchmarks
from vera.errors import MissingExtra

SLOW, FAST = TimeComparison(10.0, 20.0, 0.5, (0.4, 0.6), 7), TimeComparison(40.0, 20.0, 2.0, (1.9, 2.2), 7)


def test_rates_are_steps_per_second():
    found = RivalTiming(SHAPES[0], "Langevin", FAST, steps=10).quantities
    assert found["ours_per_second"] == pytest.approx(500)
    assert found["torchebm_per_second"] == pytest.approx(250)
    assert found["ours_ms"] == pytest.approx(2.0)


def test_ours_has_to_be_as_fast():
    timings = [RivalTiming(SHAPES[0], "Langevin", FAST, 10), RivalTiming(SHAPES[0], "CD", SLOW, 1)]
    assert [each.is_met for each in timings] == [True, False]
    _, first, second = format_report(timings).splitlines()
    assert first.endswith("as fast or faster")
    assert second.endswith("slower")


def test_values_are_kept_and_shown(tmp_path):
    store_values(tmp_path, list_values([RivalTiming(SHAPES[0], "Langevin", FAST, 10)]))
    assert {value.quantity for value in read_values(tmp_path, "torchebm")} >= {"ours_per_second", "ratio"}
    page = render_benchmarks(tmp_path)
    assert "vera perf torchebm" in page
    assert "500" in page


def test_without_torchebm_there_is_one_clear_error(monkeypatch, capsys):
    monkeypatch.setattr("bench.perf.torchebm_rival.find_spec", lambda name: None)
    with raises_with(MissingExtra, "torchebm", "pip install torchebm"):
        require_torchebm()
    assert main(["perf", "torchebm"]) == 2
    assert "pip install torchebm" in capsys.readouterr().err


def test_both_libraries_run_the_same_chains():
    pytest.importorskip("torchebm")
    pair = ChainPair(ChainShape(5, 3, (8,)))
    x, ends = pair.make_points(), []
    for run in pair.make_samplers():
        torch.manual_seed(3)
        ends.append(run(x.clone()))
    assert torch.allclose(*ends, atol=1e-6)
    assert not torch.allclose(ends[0], x, atol=1e-2)


def test_both_libraries_take_the_same_step_of_contrastive_divergence():
    pytest.importorskip("torchebm")
    gradients = []
    for place in range(2):
        works, networks = ChainPair(ChainShape(5, 3, (8,))).make_trainers_with_networks()
        torch.manual_seed(3)
        works[place]()
        gradients.append([weight.grad for weight in networks[place].parameters()])
    for ours, rival in zip(*gradients, strict=True):
        assert torch.allclose(ours, rival, atol=1e-6)
    assert gradients[0][0].abs().max() > 1e-3

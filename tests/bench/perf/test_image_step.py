"""The image part of the step benchmark on tiny networks: memory, operations and output. No test uses a
clock."""

import json

import torch

from bench.cli.main import main
from bench.perf.matrix_products import count_flops, record_products
from bench.perf.memory import compute_direction_with_graph, measure_step_memory
from bench.perf.shapes import IMAGE_SHAPES, ImageShape
from bench.perf.step import measure_image_memory, measure_rivals
from bench.perf.step_report import BLOCK, MemoryRow, RivalRow, StepResults, format_report, judge_bars
from bench.perf.timing import TimeComparison
from bench.perf.workloads import prepare_images
from vera.entropy import ImportanceEntropy
from vera.models.sngan import sngan_generator

TINY = ImageShape(
    "tiny networks",
    {"name": "wrn", "depth": 10, "width": 1},
    {"name": "sngan-generator", "width": 16, "latent_dim": 4},
    batch_size=4,
    timed=True,
    side=8,
)


def test_both_forms_of_the_entropy_block_give_the_same_direction_on_images():
    torch.manual_seed(0)
    generator = sngan_generator(latent_dim=3, side=8, width=4, sigma=0.2).double()
    entropy = ImportanceEntropy(3, k=5, chunks=1, like=generator.log_sigma)
    z0, x = generator.sample_with_latent(6)
    directions = []
    for form in (entropy.direction, lambda *args: compute_direction_with_graph(entropy, *args)):
        torch.manual_seed(1)
        directions.append(form(generator, z0, x.detach()))
    torch.testing.assert_close(directions[0], directions[1])
    assert directions[1].shape == x.shape
    assert not directions[1].requires_grad


def test_entropy_block_is_lean_and_the_step_needs_at_least_its_memory():
    block, step = measure_image_memory("tiny", TINY)
    assert (block.shape, block.what, step.what) == ("tiny", BLOCK, "whole step")
    assert 0 < block.ratio <= 1 / 3
    assert step.bytes >= block.bytes
    assert step.bytes_with_graph >= block.bytes_with_graph
    assert step.ratio < 1


def test_only_the_second_form_of_the_step_has_a_graph(monkeypatch):
    calls = []
    monkeypatch.setattr(
        "bench.perf.memory.compute_direction_with_graph",
        lambda *args: calls.append("graph") or compute_direction_with_graph(*args),
    )
    monkeypatch.setattr(
        "bench.perf.memory.measure_peak_bytes", lambda work: calls.append("meter") or work() or 1
    )
    measure_step_memory(prepare_images(TINY, "vera"))
    assert calls == ["meter", "meter", "graph"]


def test_jem_does_the_work_of_twenty_langevin_steps():
    """Each is a forward pass and a backward pass to x, together not quite two forward passes; the update
    takes a few passes more."""
    row = measure_rivals("tiny", TINY, 0, 1)
    workload = prepare_images(TINY, "jem")
    forward = count_flops(record_products(lambda: workload.method.energy(workload.batches[0].x))) / 1e9
    assert 20 * 1.9 * forward < row.jem_gflop < 20 * 2 * forward + 8 * forward
    assert row.vera_gflop > 0
    assert (row.timing.rounds, row.paper) == (1, 2.8)


def test_row_has_both_ratios_and_the_papers():
    timing = TimeComparison(work_ms=3000.0, yardstick_ms=1500.0, ratio=2.1, spread=(1.9, 2.2), rounds=3)
    row = RivalRow("wrn", timing, 100.0, 250.0, 2.8)
    assert row.format_cells() == [
        "wrn",
        "1500",
        "3000",
        "2.10",
        "1.90–2.20",
        "3",
        "100.0",
        "250.0",
        "2.50",
        "2.8",
    ]
    memory = [MemoryRow("wrn", 10**6, 4 * 10**6, "whole step")]
    page = format_report(StepResults([], [row], memory), [], {"wrn": "a net"}.get)
    assert page.startswith("wrn: a net\n\nshape  VERA ms")
    assert page.endswith("wrn    whole step      1.00             4.00  0.250")


def test_only_the_entropy_block_has_a_bar():
    rows = [MemoryRow("wrn", 1, 10), MemoryRow("wrn", 9, 10, "whole step")]
    assert [bar.measured for bar in judge_bars([], rows)] == [0.1]


def test_command_measures_image_shapes(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(IMAGE_SHAPES, "wrn-28-2", TINY)
    monkeypatch.setitem(IMAGE_SHAPES, "wrn-28-10", ImageShape(**vars(TINY) | {"timed": False}))
    shapes = ["--shapes", "wrn-28-2", "wrn-28-10"]
    assert main(["perf", "step", "--quick", *shapes, "--json", str(tmp_path / "step.json")]) == 0
    found = json.loads((tmp_path / "step.json").read_text())
    assert found["steps"] == []
    assert [row["shape"] for row in found["rivals"]] == ["wrn-28-2"]
    assert [(row["shape"], row["what"]) for row in found["memory"]] == [
        (name, what) for name in ("wrn-28-2", "wrn-28-10") for what in (BLOCK, "whole step")
    ]
    assert "JEM ms" in capsys.readouterr().out
    assert main(["perf", "memory", *shapes]) == 0
    assert "JEM ms" not in capsys.readouterr().out

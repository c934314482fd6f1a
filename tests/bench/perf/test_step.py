"""The step benchmark: operations and memory against closed forms. No test uses a clock."""

import json

import pytest
import torch
from torch import nn

from bench.cli.main import main
from bench.perf.matrix_products import ProductReplay, count_flops, record_products
from bench.perf.memory import compute_direction_with_graph, measure_peak_bytes
from bench.perf.shapes import SHAPES
from bench.perf.step import measure_entropy_block, measure_step
from bench.perf.step_report import MemoryRow, PerformanceBar, StepRow, align_table, judge_bars
from bench.perf.timing import TimeComparison, compare, compute_quartiles
from bench.perf.workloads import prepare
from vera.entropy import ImportanceEntropy
from vera.models import mlp_generator
from vera.models.generator import Generator
from vera.spec.registry import methods

MB = 2**20


@pytest.fixture
def net():
    return nn.Sequential(nn.Linear(3, 5), nn.Softplus(), nn.Linear(5, 2))


def test_forward_and_backward_count_every_product_of_a_known_network(net):
    x = torch.randn(7, 3)
    products = record_products(lambda: net(x).sum().backward())
    first, second = 2 * 7 * 3 * 5, 2 * 7 * 5 * 2
    # Forward: both layers. Backward: both weights and the input of the second layer; x needs no gradient.
    assert count_flops(products) == 2 * first + 3 * second
    assert len(products) == 5


def test_double_backward_is_counted(net):
    x = torch.randn(7, 3, requires_grad=True)

    def penalty() -> None:
        (slope,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
        slope.square().sum().backward(inputs=[net[0].weight])

    forward_and_gradient = record_products(lambda: torch.autograd.grad(net(x).sum(), x))
    assert len(record_products(penalty)) > len(forward_and_gradient)


def test_batched_and_contracted_products_are_counted():
    a, b = torch.randn(4, 5, 6), torch.randn(4, 6, 7)
    assert count_flops(record_products(lambda: a @ b)) == 2 * 4 * 5 * 6 * 7
    assert count_flops(record_products(lambda: torch.einsum("bij,bjk->bik", a, b))) == 2 * 4 * 5 * 6 * 7


def test_work_without_products_records_nothing():
    assert record_products(lambda: torch.randn(3).exp().sum()) == []


def test_replay_runs_the_same_products_in_the_same_layout(net):
    x = torch.randn(7, 6)[:, ::2]  # a strided operand, as the halves of a flow are
    products = record_products(lambda: net(x).sum().backward())
    again = record_products(ProductReplay(products))
    assert [(p.operator, p.flops) for p in again] == [(p.operator, p.flops) for p in products]
    layouts = [
        [(o.shape, o.strides, o.offset, o.dtype) for p in run for o in p.operands()]
        for run in (products, again)
    ]
    assert layouts[0] == layouts[1]


def test_replay_keeps_distinct_storages_distinct_and_shared_ones_shared(net):
    x = torch.randn(7, 3)
    replay = ProductReplay(record_products(lambda: (net(x), net(x + 1))))
    first, second = replay.calls[0][1], replay.calls[2][1]
    assert first[2].data_ptr() == second[2].data_ptr(), "the weight is one tensor in both passes"
    assert first[1].data_ptr() != second[1].data_ptr(), "the inputs are two"


def test_meter_counts_what_is_live_at_once():
    def two_of_three() -> tuple[torch.Tensor, torch.Tensor]:
        first, second = torch.empty(MB, dtype=torch.uint8), torch.empty(MB, dtype=torch.uint8)
        del first
        return second, torch.empty(MB, dtype=torch.uint8)

    def all_three() -> list[torch.Tensor]:
        return [torch.empty(MB, dtype=torch.uint8) for _ in range(3)]

    held = torch.empty(5 * MB, dtype=torch.uint8)
    assert measure_peak_bytes(two_of_three) == 2 * MB
    assert measure_peak_bytes(all_three) == 3 * MB
    assert measure_peak_bytes(lambda: held.view(-1)) == 0, "what was there before is free"


def test_meter_sees_temporaries():
    x = torch.zeros(MB // 4)
    assert measure_peak_bytes(lambda: (x + 1).exp().sum()) >= 2 * MB


@pytest.mark.parametrize("shape", ["toy", "nice", "tabular"])
def test_entropy_block_needs_a_third_of_the_memory_of_its_graph(shape):
    block = measure_entropy_block(shape)
    assert 0 < block.ratio <= 1 / 3


def test_both_forms_of_the_entropy_block_give_the_same_direction():
    torch.manual_seed(0)
    generator: Generator = mlp_generator(data_dim=5, latent_dim=3, sigma=0.2).double()
    entropy = ImportanceEntropy(3, k=20, chunks=1, like=generator.log_sigma)
    z0, x = generator.sample_with_latent(16)
    directions = []
    for form in (entropy.direction, lambda *args: compute_direction_with_graph(entropy, *args)):
        torch.manual_seed(1)
        directions.append(form(generator, z0, x.detach()))
    torch.testing.assert_close(directions[0], directions[1])
    assert not any(c.requires_grad for c in directions)


def test_comparison_alternates_and_counts_rounds():
    order: list[str] = []
    result = compare(lambda: order.append("a"), lambda: order.append("b"), seconds=0, min_rounds=3)
    assert result.rounds == 3
    # One call each to find how many make a round, then three rounds of both.
    assert [side for i, side in enumerate(order) if i == 0 or order[i - 1] != side] == ["a", "b"] * 4
    assert result.spread[0] <= result.ratio <= result.spread[1]


def test_quartiles():
    assert compute_quartiles([1.0, 2.0, 3.0, 4.0, 5.0]) == (2.0, 4.0)
    assert compute_quartiles([7.0]) == (7.0, 7.0)


@pytest.mark.parametrize("method", ["ml", "cp-sm", "ssm"])
def test_incompatible_pair_has_a_reason(method):
    row = measure_step("toy", method, 0, 1)
    assert row.timing is None
    assert row.reason
    assert row.format_cells()[2:9] == ["—"] * 7


def test_step_without_a_product_has_a_time_but_no_ratio():
    row = measure_step("mixture", "ml", 0, 1)
    assert row.ms is not None
    assert row.gflop == 0
    assert row.timing is None


def test_table_is_aligned():
    text = align_table(["name", "value", ""], [["a", "1.00", "why"], ["long name", "—", ""]], left=1)
    assert text.splitlines() == ["name       value", "a           1.00  why", "long name      —"]


def test_bars_apply_to_vera_alone():
    timing = TimeComparison(work_ms=4.0, yardstick_ms=1.0, ratio=4.0, spread=(3.9, 4.1), rounds=3)
    steps = [StepRow("toy", "vera", 4.0, 1.0, 9, timing), StepRow("toy", "pcd", 4.0, 1.0, 9, timing)]
    judged = judge_bars(steps, [MemoryRow("nice", 10, 20)])
    assert [(bar.limit, bar.measured, bar.is_met) for bar in judged] == [
        (5.0, 4.0, True),
        (1 / 3, 0.5, False),
    ]
    assert "NOT MET" in str(judged[1])
    assert PerformanceBar("exactly", 1.0, 1.0).is_met


def test_command_measures_every_method_on_a_shape(capsys, tmp_path):
    threads = torch.get_num_threads()
    file = tmp_path / "new" / "step.json"
    assert main(["perf", "step", "--quick", "--shapes", "toy", "--json", str(file)]) == 0
    printed = capsys.readouterr().out
    found = json.loads(file.read_text())
    assert [row["method"] for row in found["steps"]] == list(methods)
    assert all(row["method"] in printed for row in found["steps"])
    assert all((row["timing"] is None) == bool(row["reason"]) for row in found["steps"])
    assert torch.get_num_threads() == threads


def test_enforce_fails_on_a_missed_bar(monkeypatch):
    words = ["perf", "memory", "--shapes", "tabular", "--enforce"]
    assert main(words) == 0
    monkeypatch.setattr("bench.perf.step_report.MEMORY_BAR", 1e-6)
    assert main(words) == 1
    assert main(words[:-1]) == 0


def test_every_shape_has_every_network_of_the_methods():
    roles = {role for name in methods for role in methods.get(name).network_names()}
    assert all(roles <= shape.networks.keys() for shape in SHAPES.values())


def test_settings_of_the_paper_reach_the_method():
    assert prepare(SHAPES["nice"], "pcd").method.settings()["sampler_steps"] == 40
    assert prepare(SHAPES["tabular"], "pcd").method.settings()["sampler_steps"] == 20

"""Odd networks, plug-ins and arguments train, or are refused in one sentence that names them."""

from dataclasses import dataclass, field

import numpy as np
import pytest
import torch
from conformance import expect_refusal
from torch import nn

from vera.errors import IncompatibleModel, PluginError, SettingError, VeraError
from vera.evaluation import LikelihoodEvaluation
from vera.methods import DSM, MEG, PCD, SSM, VERA, CoopNet
from vera.models import MLP, StatisticsNetwork, mlp_generator
from vera.models.mlp import MLPGenerator
from vera.spec.registry import datasets, load_plugin, methods
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_dataset, build_method, build_trainer
from vera.training.trainer import Trainer

POINTS = torch.randn(64, 2, generator=torch.Generator().manual_seed(0))


def plain(**options):
    return Trainer(DSM(MLP(2)), POINTS, steps=2, batch_size=8, **options)


@pytest.mark.parametrize("method", [VERA, CoopNet])
def test_float64_networks_train_on_any_data(method):
    run = Trainer(method(MLP(2).double(), mlp_generator(2).double()), POINTS.double(), steps=3, batch_size=16)
    assert run.run().outcome == "ok"
    assert run.method.energy_weights[0].dtype == torch.float64


class ReLUEnergy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


@pytest.mark.parametrize(
    "energy",
    [ReLUEnergy(), nn.Sequential(nn.Linear(2, 1), nn.Flatten(0)), MLP(2, (), "softplus")],
    ids=lambda value: type(value).__name__,
)
def test_score_matching_refuses_any_energy_without_curvature(energy):
    with pytest.raises(IncompatibleModel, match="second derivatives"):
        Trainer(SSM(energy), POINTS, steps=1, batch_size=16)


@pytest.mark.parametrize(
    "statistics",
    [StatisticsNetwork(3, 2), nn.Linear(2, 1), nn.Bilinear(2, 2, 1)],
    ids=lambda value: type(value).__name__,
)
def test_a_statistics_network_that_does_not_fit_is_refused(statistics):
    with pytest.raises(IncompatibleModel, match="meg"):
        Trainer(MEG(MLP(2), mlp_generator(2), statistics), POINTS, steps=1, batch_size=16)


@pytest.mark.parametrize("method", [VERA, CoopNet])
def test_frozen_layers_stay_frozen_and_a_frozen_generator_is_refused(method):
    generator = mlp_generator(2)
    first = generator.net.net[0].weight.requires_grad_(False)
    before = first.clone()
    assert Trainer(method(MLP(2), generator), POINTS, steps=3, batch_size=16).run().outcome == "ok"
    assert torch.equal(first, before)
    with pytest.raises(IncompatibleModel, match="generator"):
        method(MLP(2), mlp_generator(2).requires_grad_(False))


@pytest.mark.parametrize(
    ("build", "named"),
    [
        (lambda: Trainer(MLP(2), POINTS, steps=1), "method must be a Method"),
        (lambda: Trainer(VERA, POINTS, steps=1), "the class VERA itself"),
        (lambda: plain(evaluate=3), "evaluate must be a function"),
        (lambda: plain(device="meta"), "device 'meta' cannot be used"),
        (lambda: plain().run(until="2"), "until must be a whole number"),
        (lambda: plain().run(until=-1), "until must be at least 0"),
        (lambda: Trainer(DSM(MLP(2)), POINTS.to_sparse(), steps=1), "dense"),
        (lambda: Trainer(DSM(MLP(2)), np.ma.masked_less(POINTS.numpy(), 0), steps=1), "without a mask"),
        (lambda: Trainer(DSM(MLP(2)), torch.empty(0, 2), steps=1), "at least one point"),
        (
            lambda: Trainer(PCD(MLP(2), capacity=10), POINTS, steps=1, batch_size=16),
            "capacity must be at least the batch size",
        ),
        (lambda: mlp_generator(2).sample(-1), "n must be at least 1"),
        (lambda: LikelihoodEvaluation(POINTS), "no test points"),
        (lambda: build_trainer({"steps": 3}), "TrialSpec needs dataset, networks, method"),
        (lambda: TrialSpec.from_dict([1]), "needs a mapping"),
    ],
)
def test_a_mistake_is_one_sentence(build, named):
    with pytest.raises(VeraError, match=named) as caught:
        build()
    assert "\n" not in str(caught.value)


def test_a_generator_starts_at_its_lower_bound():
    assert float(mlp_generator(2, sigma_min=0.05).sigma.detach()) == pytest.approx(0.05)


def test_a_method_without_the_decorator_is_told_so():
    class Bare(DSM):
        knob: float = 1.0

    with pytest.raises(SettingError, match="@dataclass"):
        Bare(MLP(2))


def test_what_is_no_method_or_data_set_is_named(registries):
    methods.register("odd")(dict)
    datasets.register("odd")(lambda: 3)
    spec = TrialSpec({"name": "moons"}, {"energy": {"name": "mlp"}}, {"name": "odd"}, steps=1)
    with pytest.raises(PluginError, match="'odd' must be a subclass"):
        build_method(spec, build_dataset({"name": "moons"}))
    with pytest.raises(PluginError, match="'odd' must be a vera"):
        build_dataset({"name": "odd"})
    with pytest.raises(VeraError, match="needs a name"):
        methods.register(3)


def test_a_plugin_that_exits_does_not_end_the_process(tmp_path):
    (tmp_path / "quit.py").write_text("import sys\nsys.exit(3)\n")
    with pytest.raises(PluginError, match="SystemExit"):
        load_plugin(tmp_path / "quit.py")


def test_a_bare_network_in_place_of_a_generator_is_told_how_to_become_one():
    with expect_refusal(
        "vera: generator must be a Generator, got MLPGenerator; wrap it: vera.Generator(net)"
    ):
        VERA(MLP(2), MLPGenerator(3, 2))


def test_the_data_s_width_is_told_apart_from_a_batch_s_shape():
    with expect_refusal("MLP takes 2 dimensions, the data have 3 (a batch is (16, 3))"):
        Trainer(PCD(MLP(2)), torch.randn(64, 3), steps=1, batch_size=16)


def test_a_setting_that_nothing_can_check_is_refused_when_the_method_is_made():
    @dataclass(eq=False)
    class Loose(PCD):
        table: dict[str, set] = field(default_factory=dict, kw_only=True)

    with expect_refusal(
        "Loose annotates its setting 'table' with dict[str, set], which cannot be checked: take bool, int"
    ):
        Loose(MLP(2))

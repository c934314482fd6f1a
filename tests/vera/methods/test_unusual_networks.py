"""Unusual networks, plug-ins and arguments either train or are rejected by an error that names them."""

from dataclasses import dataclass, field

import numpy as np
import pytest
import torch
from facts import raises_with
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


def make_trainer(**options):
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
def test_score_matching_rejects_every_energy_without_curvature(energy):
    with raises_with(IncompatibleModel, "ssm", type(energy).__name__, "second derivatives"):
        Trainer(SSM(energy), POINTS, steps=1, batch_size=16)


@pytest.mark.parametrize(
    "statistics",
    [StatisticsNetwork(3, 2), nn.Linear(2, 1), nn.Bilinear(2, 2, 1)],
    ids=lambda value: type(value).__name__,
)
def test_a_statistics_network_that_does_not_fit_is_rejected(statistics):
    with raises_with(IncompatibleModel, "meg"):
        Trainer(MEG(MLP(2), mlp_generator(2), statistics), POINTS, steps=1, batch_size=16)


@pytest.mark.parametrize("method", [VERA, CoopNet])
def test_frozen_layers_stay_frozen_and_a_frozen_generator_is_rejected(method):
    generator = mlp_generator(2)
    first = generator.net.net[0].weight.requires_grad_(False)
    before = first.clone()
    assert Trainer(method(MLP(2), generator), POINTS, steps=3, batch_size=16).run().outcome == "ok"
    assert torch.equal(first, before)
    with raises_with(IncompatibleModel, method.label(), "generator"):
        method(MLP(2), mlp_generator(2).requires_grad_(False))


@pytest.mark.parametrize(
    ("build", "facts"),
    [
        (lambda: Trainer(MLP(2), POINTS, steps=1), ["method", "MLP"]),
        (lambda: Trainer(VERA, POINTS, steps=1), ["class VERA"]),
        (lambda: make_trainer(evaluate=3), ["evaluate", "got int"]),
        (lambda: make_trainer(device="meta"), ["device", "'meta'"]),
        (lambda: make_trainer().run(until="2"), ["until", "'2'"]),
        (lambda: make_trainer().run(until=-1), ["until", "got -1"]),
        (lambda: Trainer(DSM(MLP(2)), POINTS.to_sparse(), steps=1), ["dense"]),
        (lambda: Trainer(DSM(MLP(2)), np.ma.masked_less(POINTS.numpy(), 0), steps=1), ["mask"]),
        (lambda: Trainer(DSM(MLP(2)), torch.empty(0, 2), steps=1), ["point", "(0, 2)"]),
        (
            lambda: Trainer(PCD(MLP(2), capacity=10), POINTS, steps=1, batch_size=16),
            ["capacity", "batch size of 16", "got 10"],
        ),
        (lambda: mlp_generator(2).sample(-1), ["Generator.sample: n ", "got -1"]),
        (lambda: LikelihoodEvaluation(POINTS), ["test"]),
        (lambda: build_trainer({"steps": 3}), ["TrialSpec", "dataset", "networks", "method"]),
        (lambda: TrialSpec.from_dict([1]), ["TrialSpec", "mapping"]),
    ],
)
def test_invalid_arguments_are_named(build, facts):
    with raises_with(VeraError, *facts):
        build()


def test_a_generator_starts_at_its_lower_bound():
    assert float(mlp_generator(2, sigma_min=0.05).sigma.detach()) == pytest.approx(0.05)


def test_a_method_without_the_dataclass_decorator_is_rejected():
    class Bare(DSM):
        knob: float = 1.0

    with raises_with(SettingError, "Bare", "@dataclass(eq=False)"):
        Bare(MLP(2))


def test_registered_objects_of_the_wrong_type_are_named():
    methods.register("odd")(dict)
    datasets.register("odd")(lambda: 3)
    spec = TrialSpec({"name": "moons"}, {"energy": {"name": "mlp"}}, {"name": "odd"}, steps=1)
    with raises_with(PluginError, "method 'odd'", "vera.methods.Method"):
        build_method(spec, build_dataset({"name": "moons"}))
    with raises_with(PluginError, "data set 'odd'", "vera.data."):
        build_dataset({"name": "odd"})
    with raises_with(VeraError, "method", "name", "got 3"):
        methods.register(3)


def test_a_plugin_that_exits_does_not_end_the_process(tmp_path):
    (tmp_path / "quit.py").write_text("import sys\nsys.exit(3)\n")
    with raises_with(PluginError, "quit.py", "SystemExit"):
        load_plugin(tmp_path / "quit.py")


def test_a_bare_network_as_generator_is_rejected_with_a_hint():
    with raises_with(SettingError, "generator", "got MLPGenerator", "vera.Generator(net)"):
        VERA(MLP(2), MLPGenerator(3, 2))


def test_the_error_names_data_width_and_batch_shape():
    with raises_with(IncompatibleModel, "MLP takes 2 dimensions", "data have 3", "(16, 3)"):
        Trainer(PCD(MLP(2)), torch.randn(64, 3), steps=1, batch_size=16)


def test_a_setting_that_cannot_be_checked_is_rejected_at_construction():
    @dataclass(eq=False)
    class Loose(PCD):
        table: dict[str, set] = field(default_factory=dict, kw_only=True)

    with raises_with(SettingError, "Loose", "'table'", "dict[str, set]", "bool, int"):
        Loose(MLP(2))

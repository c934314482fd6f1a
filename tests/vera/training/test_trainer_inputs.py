"""The inputs of a Trainer: data, options, devices and user-defined networks."""

import math

import numpy as np
import pytest
import torch
from conformance import find_differences, get_state
from facts import raises_with
from torch import nn
from trainer_helpers import POINTS, Bowl, make_mixture, make_scripted_trainer

from vera.data import TensorData
from vera.errors import IncompatibleModel, SettingError, VeraError
from vera.methods import DSM, PCD, VERA, MaximumLikelihood
from vera.models import MLP, GaussianMixture, mlp_generator
from vera.models.generator import Generator
from vera.training.trainer import Trainer


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_array_trains_like_a_tensor_with_the_same_values(dtype):
    runs = [
        Trainer(MaximumLikelihood(make_mixture()), data, steps=4, batch_size=5)
        for data in (POINTS, POINTS.numpy().astype(dtype))
    ]
    for trainer in runs:
        trainer.run()
    assert isinstance(runs[1].data, TensorData)
    assert find_differences(get_state(runs[0]), get_state(runs[1])) == []


@pytest.mark.parametrize(
    ("data", "facts"),
    [
        ([[1.0, 2.0]], ["DataSet", "list"]),
        (np.ones((20, 2), dtype=np.int64), ["floats", "int64"]),
        (torch.ones(20), ["(points, dimensions)", "(20,)"]),
        (torch.ones(3, 2), ["batch_size 5", "3 points"]),
    ],
)
def test_unsuitable_data_is_refused(data, facts):
    with raises_with(SettingError, *facts):
        Trainer(MaximumLikelihood(make_mixture()), data, steps=4, batch_size=5)


WRONG_OPTIONS = {
    "steps": [0, -1, 1.5, True],
    "batch_size": [0],
    "seed": [-1, 0.0],
    "log_every": [0],
    "evaluate_every": [0],
    "max_loss": [0, math.nan],
    "device": [0],
}


@pytest.mark.parametrize(
    ("option", "value"), [(option, value) for option, values in WRONG_OPTIONS.items() for value in values]
)
def test_an_invalid_option_is_refused(option, value):
    with raises_with(SettingError, "Trainer", option):
        make_scripted_trainer(**{option: value})


def test_the_device_is_an_argument():
    assert make_scripted_trainer(device="cpu").device == torch.device("cpu")


@pytest.mark.parametrize("device", ["gpu", "cuda:99"])
def test_an_unavailable_device_is_refused(device):
    with raises_with(VeraError, device):
        make_scripted_trainer(device=device)


class Restless(nn.Module):
    """A user-defined energy with dropout, batch norm and a counter of its calls."""

    def __init__(self):
        super().__init__()
        self.data_dim = 2
        self.net = nn.Sequential(
            nn.Linear(2, 8), nn.BatchNorm1d(8), nn.Softplus(), nn.Dropout(0.3), nn.Linear(8, 1)
        )
        self.register_buffer("calls", torch.tensor(0))

    def forward(self, x):
        self.calls += 1
        return self.net(x).squeeze(1)


class Wrapped(nn.Module):
    """An energy that is a function of a network's output."""

    def __init__(self, net, function):
        super().__init__()
        self.net, self.function = net, function

    def forward(self, x):
        return self.function(self.net(x))


@pytest.mark.parametrize(
    "energy",
    [Bowl, Restless, lambda: Wrapped(nn.Linear(2, 4), lambda y: -y.square().sum(1))],
    ids=["plain module", "dropout and batch norm", "wrapped lambda"],
)
@pytest.mark.parametrize(
    "method", [DSM, PCD, lambda energy: VERA(energy, mlp_generator(2))], ids=["dsm", "pcd", "vera"]
)
def test_a_user_defined_energy_trains_and_resumes_bit_identically(method, energy, tmp_path):
    def make():
        torch.manual_seed(0)
        return Trainer(method(energy()), POINTS, steps=6, batch_size=8)

    straight, paused, resumed = make(), make(), make()
    assert straight.run().outcome == "ok"
    paused.run(until=3)
    paused.save(tmp_path / "run.pt")
    resumed.restore(tmp_path / "run.pt")
    resumed.run()
    assert find_differences(get_state(straight), get_state(resumed)) == []


@pytest.mark.parametrize(
    ("energy", "facts"),
    [
        (nn.Linear(2, 1), ["one number per point", "(2,)", "(2, 1)"]),
        (nn.Linear(2, 3), ["one number per point", "(2, 3)"]),
        (Wrapped(nn.Linear(2, 1), torch.sum), ["one number per point", "got ()"]),
        (Wrapped(nn.Linear(2, 1), lambda y: (y, y)), ["one number per point", "tuple"]),
        (MLP(3), ["MLP", "(5, 2)"]),
        (GaussianMixture(1, 3), ["GaussianMixture", "(5, 2)"]),
    ],
    ids=["column", "matrix", "scalar", "tuple", "other dimension", "mixture of other dimension"],
)
def test_an_energy_that_does_not_fit_the_data_is_refused_before_the_first_step(energy, facts):
    with raises_with(IncompatibleModel, "dsm", *facts):
        Trainer(DSM(energy), POINTS, steps=1, batch_size=5)


def test_an_energy_without_weights_is_refused():
    with raises_with(IncompatibleModel, "dsm", "Softplus", "weights"):
        DSM(nn.Softplus())


def test_an_energy_that_is_not_a_module_is_refused():
    with raises_with(SettingError, "dsm", "energy", "torch.nn.Module", "function"):
        DSM(lambda x: x.sum(1))


def test_a_generator_of_the_wrong_width_is_refused():
    with raises_with(IncompatibleModel, "vera", "generator", "(3,)", "(2,)"):
        Trainer(VERA(MLP(2), mlp_generator(3)), POINTS, steps=1, batch_size=5)


@pytest.mark.parametrize("network", [MLP(2), nn.Linear(2, 2)])
def test_a_network_that_is_not_a_generator_is_refused_as_one(network):
    with raises_with(VeraError, "vera", "generator", "Generator", type(network).__name__):
        VERA(MLP(2), network)


def test_a_generator_of_another_latent_width_is_refused():
    with raises_with(IncompatibleModel, "vera", "Generator"):
        Trainer(VERA(MLP(2), Generator(nn.Linear(3, 2), latent_dim=4)), POINTS, steps=1, batch_size=5)


def test_batch_norm_on_batches_of_one_point_is_refused():
    with raises_with(VeraError, "batch"):
        Trainer(VERA(MLP(2), mlp_generator(2)), POINTS, steps=1, batch_size=1).run()

"""`sample_langevin`: the public function for Langevin dynamics on any energy."""

import numpy as np
import pytest
import torch
from facts import raises_with
from trainer_helpers import Bowl

import vera
from vera.errors import SettingError
from vera.training.state.random_state import use_seed


def test_it_takes_the_steps_of_sgld():
    x0 = torch.randn(6, 2)
    with use_seed(3):
        expected = vera.samplers.sgld(Bowl(), x0, steps=5, noise=0.1)
    assert torch.equal(vera.sample_langevin(Bowl(), x0, 5, noise=0.1, seed=3), expected)


def test_it_samples_a_standard_normal():
    x = vera.sample_langevin(Bowl(), torch.full((4000, 2), 3.0), 600, noise=0.2, seed=0)
    assert torch.allclose(x.mean(0), torch.zeros(2), atol=0.1)
    assert torch.allclose(x.var(0), torch.ones(2), atol=0.1)


def test_arrays_give_arrays_and_the_start_is_not_changed():
    x0 = np.ones((3, 2))
    x = vera.sample_langevin(Bowl(), x0, 4, noise=0.5, seed=1)
    assert isinstance(x, np.ndarray)
    assert x.dtype == np.float64
    assert (x0 == 1).all()
    assert not (x == 1).any()
    assert np.array_equal(vera.sample_langevin(Bowl(), x0, 0), x0)
    swapped = x0.astype(">f8")
    swapped.setflags(write=False)
    assert np.array_equal(vera.sample_langevin(Bowl(), swapped, 4, noise=0.5, seed=1), x)


def test_the_network_is_in_evaluation_mode_and_gets_its_mode_back():
    network = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout(0.99), torch.nn.Flatten(0))
    runs = [vera.sample_langevin(network, torch.ones(3, 2), 2, seed=0, step_size=0.5) for _ in range(2)]
    assert torch.equal(*runs)
    assert network.training
    assert all(weight.grad is None for weight in network.parameters())


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        ((3, torch.zeros(1, 2)), ["energy"]),
        ((Bowl, torch.zeros(1, 2)), ["energy", "Bowl"]),
        ((Bowl(), [[0.0, 0.0]]), ["list"]),
        ((Bowl(), torch.zeros(2)), ["(2,)"]),
        ((Bowl(), torch.zeros(1, 2, dtype=torch.int64)), ["int64"]),
        ((Bowl(), torch.zeros(1, 2), -1), ["steps", "got -1"]),
    ],
)
def test_wrong_arguments_are_refused(arguments, facts):
    with raises_with(SettingError, *facts):
        vera.sample_langevin(*arguments)

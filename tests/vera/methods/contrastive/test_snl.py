"""Self-normalised likelihood on Gaussian data: its closed form, where it is tight, and what it learns.

For f = −x²/(2v) and data of variance s the loss is s/(2v) + b + e^{−b} √(2πv) − 1.
"""

import math

import pytest
import torch
from oracles import GaussianEnergy, assert_mean

import vera
from vera.methods import SNL
from vera.models import FittedGaussian, GaussianMixture

S = 1.5


def make_points(n, dtype=torch.float32):
    x = torch.randn(n, 1, dtype=dtype, generator=torch.Generator().manual_seed(0))
    return x / x.square().mean().sqrt() * math.sqrt(S)


def make_method(v, b, x):
    method = SNL(GaussianEnergy(variance=v).double())
    method.noise = FittedGaussian(x.shape[1:]).to(x)
    method.noise.add(x)
    method.log_normaliser.data.fill_(b)
    return method


@pytest.mark.parametrize(("v", "b"), [(1.0, 0.5), (1.4, 2.0), (0.5, -0.5)])
def test_the_loss_has_its_closed_form(v, b):
    torch.manual_seed(1)
    x = make_points(2_000, torch.float64)
    method = make_method(v, b, x)
    draws = torch.stack([method.loss(x, method.noise.sample(2_000))[0].detach() for _ in range(60)])
    assert_mean(draws, S / (2 * v) + b + math.exp(-b) * math.sqrt(2 * math.pi * v) - 1, sigmas=4)


def test_it_bounds_the_negative_log_likelihood_and_is_tight_at_log_z():
    torch.manual_seed(2)
    x, log_z = make_points(2_000, torch.float64), 0.5 * math.log(2 * math.pi * 1.2)
    exact = S / 2.4 + log_z
    found = {}
    for b in (log_z - 1, log_z, log_z + 1):
        method = make_method(1.2, b, x)
        found[b] = float(method.loss(x, method.noise.sample(100_000))[0].detach())
    assert found[log_z] == pytest.approx(exact, abs=0.01)
    assert min(found[log_z - 1], found[log_z + 1]) > exact + 0.2


def test_training_recovers_the_variance_and_log_z():
    method = SNL(GaussianEnergy(), lr=1e-2)
    trainer = vera.Trainer(method, make_points(20_000), steps=700, batch_size=128, seed=1)
    late = [
        trainer.run(until) or (method.energy.variance, float(method.estimate_log_normaliser()))
        for until in range(400, 700, 10)
    ]
    variance, log_z = (sum(values) / len(late) for values in zip(*late, strict=True))
    assert variance == pytest.approx(S, rel=0.06)
    assert log_z == pytest.approx(0.5 * math.log(2 * math.pi * variance), abs=0.05)


def test_b_of_a_normalised_model_stays_zero():
    torch.manual_seed(3)
    method = SNL(GaussianMixture(2, components=2))
    vera.Trainer(method, torch.randn(100, 2), steps=5, batch_size=20).run()
    assert float(method.log_normaliser.detach()) == 0.0
    assert method.estimate_log_normaliser() is None

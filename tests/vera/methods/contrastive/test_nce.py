"""Noise-contrastive estimation: loss and gradient against closed forms, and what training recovers."""

import math

import numpy as np
import pytest
import torch
from facts import raises_with
from oracles import GaussianEnergy, flat_gradient
from torch import nn

import vera
from vera.data import TensorData
from vera.errors import IncompatibleModel
from vera.evaluation import grid_log_normaliser, log_likelihood
from vera.methods import NCE, MaximumLikelihood
from vera.models import MLP, FittedGaussian, GaussianMixture
from vera.saved import SavedModel


def draw(n, dim=2, scale=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, dim, generator=generator, dtype=torch.float64) * scale


def make_method(energy=None, points=None, **settings):
    """A method in double precision whose noise density is fitted to the points."""
    torch.manual_seed(0)
    method = NCE((energy or MLP(2, hidden=(8, 8), activation="softplus")).double(), **settings)
    points = draw(500) if points is None else points
    method.setup_for(points)
    method.noise.add(points)
    return method


class FittedEnergy(nn.Module):
    """The log-density of a fitted Gaussian plus a constant."""

    def __init__(self, gaussian, shift):
        super().__init__()
        self.gaussian, self.shift = gaussian, nn.Parameter(torch.tensor(shift))

    def forward(self, x):
        return self.gaussian.log_prob(x) + self.shift


@pytest.mark.parametrize("ratio", [1, 10])
def test_the_loss_has_its_known_value_where_model_and_noise_agree(ratio):
    """All log-odds are then −log ν, so the loss is log(1 + ν) + ν log(1 + 1/ν)."""
    noise = FittedGaussian(torch.Size([2])).double()
    noise.add(draw(500))
    method = make_method(FittedEnergy(noise, 3.0), noise_ratio=ratio)
    assert method.log_normaliser.item() == pytest.approx(3.0), "c starts at the mean of f − log q"
    loss, _ = method.loss(draw(50), method.noise.sample(50 * ratio))
    assert loss.item() == pytest.approx(math.log(1 + ratio) + ratio * math.log(1 + 1 / ratio))


def test_the_gradient_weighs_each_point_by_the_probability_of_the_wrong_class():
    method = make_method(noise_ratio=3)
    x, noise = draw(40, seed=1), method.noise.sample(120)
    with torch.no_grad():
        method.log_normaliser += 0.7
        data_odds = method.log_odds(method.energy(x), x)
        noise_odds = method.log_odds(method.energy(noise), noise)
    loss, _ = method.loss(x, noise)
    (of_normaliser,) = torch.autograd.grad(loss, [method.log_normaliser], retain_graph=True)
    wrong_data, wrong_noise = torch.sigmoid(-data_odds), torch.sigmoid(noise_odds)
    assert of_normaliser.item() == pytest.approx((wrong_data.mean() - 3 * wrong_noise.mean()).item())
    oracle = 3 * (wrong_noise * method.energy(noise)).mean() - (wrong_data * method.energy(x)).mean()
    assert torch.allclose(flat_gradient(loss, method.energy), flat_gradient(oracle, method.energy))


def test_many_noise_points_give_the_gradient_of_maximum_likelihood():
    """As ν grows, data have weight 1 and noise has the importance weight e^(f − c) / q."""
    x, noise = draw(200, seed=1), draw(4_000, seed=2)

    def find_gap(ratio):
        method = make_method(GaussianEnergy(0.7, data_dim=2), noise_ratio=ratio)
        log_weights = (method.energy(noise) - method.noise.log_prob(noise)).detach()
        with torch.no_grad():
            method.log_normaliser.copy_(log_weights.logsumexp(0) - math.log(len(noise)))
        exact = (log_weights.softmax(0) * method.energy(noise)).sum() - method.energy(x).mean()
        exact = flat_gradient(exact, method.energy)
        found = flat_gradient(method.loss(x, noise)[0], method.energy)
        return float((found - exact).norm() / exact.norm())

    gaps = [find_gap(ratio) for ratio in (1, 100, 10_000)]
    assert gaps[0] > 0.1
    assert gaps[1] < 0.05 * gaps[0]
    assert gaps[2] < 0.05 * gaps[1]


@pytest.mark.parametrize("ratio", [1, 20])
def test_training_recovers_variance_and_normaliser(ratio):
    x = draw(20_000, dim=1).float()
    x *= math.sqrt(1.5) / x.square().mean().sqrt()
    method = NCE(GaussianEnergy(), lr=5e-3, normaliser_lr=5e-3, noise_ratio=ratio)
    trainer = vera.Trainer(method, x, steps=1_200, batch_size=256, seed=1)
    late = []
    while trainer.result is None:
        trainer.run(until=trainer.step + 50)
        late.append((method.energy.variance, float(method.estimate_log_normaliser())))
    variance, log_z = np.mean(late[len(late) // 2 :], axis=0)
    assert variance == pytest.approx(1.5, rel=0.05)
    assert log_z == pytest.approx(0.5 * math.log(2 * math.pi * 1.5), abs=0.03)


def test_the_normaliser_of_a_network_is_that_of_the_grid():
    """On two clusters, which the Gaussian noise does not resemble."""
    x = (draw(4_000, scale=0.5) + torch.tensor([[1.5, 0.0], [-1.5, 0.0]]).repeat(2_000, 1)).float()
    torch.manual_seed(1)
    method = NCE(MLP(2, hidden=(32, 32)), lr=5e-3)
    assert vera.Trainer(method, x, steps=600, batch_size=200).run().outcome == "ok"
    exact = grid_log_normaliser(method.energy)
    assert exact.rim_share < 0.01
    assert float(method.estimate_log_normaliser()) == pytest.approx(exact.log_z, abs=0.1)


def test_a_normalised_model_keeps_c_at_zero_and_comes_near_maximum_likelihood():
    x, test = draw(10_000, scale=0.6).float(), draw(10_000, scale=0.6, seed=1).float()
    data, found = TensorData(x, test=test), {}
    for cls in (MaximumLikelihood, NCE):
        torch.manual_seed(2)
        method = cls(GaussianMixture(2, components=3), lr=1e-2)
        vera.Trainer(method, data, steps=500, batch_size=200).run()
        found[cls] = log_likelihood(method.energy, test).mean
    assert isinstance(method, NCE)
    assert method.log_normaliser.item() == 0
    assert method.estimate_log_normaliser() is None
    assert found[NCE] == pytest.approx(found[MaximumLikelihood], abs=0.03)


def test_the_noise_is_fitted_to_the_first_points_only():
    x = draw(300).float()
    method = NCE(MLP(2, hidden=(8,)), fit_points=100)
    vera.Trainer(method, x, steps=9, batch_size=60, seed=3).run()
    assert int(method.noise.count) == 120


def test_a_saved_model_has_the_estimated_likelihood(tmp_path):
    x = draw(400).numpy() * [10.0, 0.1]
    model = vera.train(x, method="nce", steps=30, batch_size=50, progress=False)
    path = tmp_path / "m.safetensors"
    model.save(path)
    loaded = vera.load_model(path)
    log_volume = float(model.tensors["data.width"].log().sum())
    expected = model.score(x) - model.log_normaliser - log_volume
    assert np.allclose(model.log_likelihood(x), expected)
    assert np.array_equal(loaded.log_likelihood(x), model.log_likelihood(x))
    assert math.isfinite(model.metrics["estimated_log_likelihood"])


def test_models_without_an_estimate_have_no_likelihood():
    trainer = vera.Trainer(vera.methods.DSM(MLP(2, hidden=(8,))), draw(50).float(), steps=1, batch_size=20)
    trainer.run()
    model = SavedModel.from_trainer(trainer)
    assert model.log_normaliser is None
    with raises_with(IncompatibleModel, "MLP"):
        model.log_likelihood(draw(3))


def test_one_point_is_too_few_for_the_noise():
    with raises_with(IncompatibleModel, "nce", "batch_size"):
        vera.Trainer(NCE(MLP(2, hidden=(8,))), draw(50).float(), steps=1, batch_size=1)

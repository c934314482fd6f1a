"""The AR-DAE entropy gradient where the exact score is known: the linear-Gaussian generator."""

import math

import pytest
import torch
from oracles import GaussianEnergy, assert_mean, make_linear_generator
from torch import nn

import vera
from vera.entropy import DenoisingEntropy
from vera.evaluation import score_error
from vera.methods import VERAARDAE
from vera.models import conv_generator, mlp_generator

WEIGHT = torch.tensor([[0.8, 0.1], [-0.5, 0.6], [0.3, 0.4]], dtype=torch.float64)
BIAS = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)


class ExactScore(nn.Module):
    """factor · −(Σ + s²I)⁻¹ (x − μ), the closed form for factor 1."""

    def __init__(self, generator, factor=1.0):
        super().__init__()
        self.covariance, self.mean = generator.covariance().detach(), generator.net.bias.detach()
        self.factor = factor

    def forward(self, x, s):
        noised = self.covariance + s.unsqueeze(2).square() * torch.eye(3, dtype=x.dtype)
        return -self.factor * torch.linalg.solve(noised, (x - self.mean).unsqueeze(2)).squeeze(2)


def make_entropy(factor, scale=0.5):
    generator = make_linear_generator(WEIGHT, sigma=0.4, bias=BIAS)
    entropy = DenoisingEntropy(3, scale=scale, like=generator.log_sigma)
    entropy.network = ExactScore(generator, factor)
    return generator, entropy


def test_the_loss_at_the_exact_score_has_its_closed_form():
    torch.manual_seed(0)
    generator, entropy = make_entropy(1.0)
    draws = torch.stack([entropy.loss(generator.sample(500)) for _ in range(60)])
    s2 = (0.5 * torch.randn(200_000, dtype=torch.float64)).square()
    spectrum = torch.linalg.eigvalsh(generator.covariance().detach())
    expected = 3 - (s2.unsqueeze(1) / (spectrum + s2.unsqueeze(1))).sum(1).mean()
    assert_mean(draws, expected, sigmas=4)


@pytest.mark.parametrize("factor", [0.8, 1.2])
def test_the_exact_score_has_the_smallest_loss(factor):
    losses = []
    for each in (1.0, factor):
        torch.manual_seed(1)
        generator, entropy = make_entropy(each)
        losses.append(float(entropy.loss(generator.sample(20_000))))
    assert losses[0] < losses[1]


def test_tuning_learns_the_score_up_to_the_smoothing_by_its_noise():
    """Noise of δ = .1 weighs s² by s², so the smallest variance, .16, looks larger by about 3 δ² = .03."""
    torch.manual_seed(2)
    generator = make_linear_generator(WEIGHT, sigma=0.4, bias=BIAS)
    with torch.no_grad():
        pairs = generator.sample_pair(200)
    entropy = DenoisingEntropy(3, lr=1e-3, scale=0.1, hidden=(16,), like=generator.log_sigma)
    size = float(generator.exact_score(pairs[1]).detach().square().mean().sqrt())
    before = score_error(entropy, generator, pairs, repeats=2).rms_bias
    for _ in range(300):
        entropy.tune(generator, *generator.sample_pair(256))
    after = score_error(entropy, generator, pairs, repeats=2)
    assert before > 0.9 * size
    assert after.rms_bias < 0.27 * size
    assert after.deviation < 1e-6


def test_tuning_computes_no_gradient_for_the_generator():
    generator, entropy = mlp_generator(2), DenoisingEntropy(2, updates=2)
    z0, x = generator.sample_pair(10)
    entropy.tune(generator, z0, x)
    assert all(p.grad is None for p in generator.parameters())
    direction = entropy.direction(generator, z0, x)
    assert direction.shape == x.shape
    assert not direction.requires_grad


def test_images_keep_their_shape():
    entropy = DenoisingEntropy(64, updates=1)
    generator = conv_generator(channels=1, height=8, width=8)
    z0, x = generator.sample_pair(4)
    entropy.tune(generator, z0, x)
    assert entropy.direction(generator, z0, x).shape == x.shape == (4, 1, 8, 8)


def test_training_recovers_maximum_likelihood():
    """Unlike twenty importance samples, the denoiser leaves no part of the entropy gradient out."""
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(20_000, 1, generator=rng)
    x = x / x.square().mean().sqrt() * math.sqrt(1.5)
    generator = make_linear_generator(torch.tensor([[0.8]]), sigma=0.2, sigma_min=0.01, sigma_max=0.3)
    settings = {"lr": 1e-2, "generator_lr": 1e-2, "dae_lr": 1e-2, "dae_hidden": (8,), "gamma": 0.0}
    method = VERAARDAE(GaussianEnergy(), generator, **settings)
    trainer = vera.Trainer(method, x, steps=700, batch_size=256, seed=1)
    late = [trainer.run(until) or method.energy.variance for until in range(350, 700, 10)]
    assert sum(late) / len(late) == pytest.approx(1.5, rel=0.08)

"""HMC on the posterior of z given x: frozen batch norm, the exact posterior, step size, cost, force."""

import pytest
import torch
from oracles import assert_mean, make_linear_generator
from torch.distributions import Normal

from vera.entropy import HMCEntropy
from vera.entropy.hmc import Posterior
from vera.gradients import value_and_gradient
from vera.models import mlp_generator
from vera.models.generator import Generator
from vera.models.network_modes import freeze_batch_statistics

WEIGHT = torch.tensor([[0.8, 0.1], [-0.5, 0.6], [0.3, 0.4]], dtype=torch.float64)


def test_posterior_sampling_uses_the_generator_that_produced_x():
    """With batch norm frozen at z0, the mean of x is reproduced for the batch and for single rows, and all
    state is restored afterwards."""
    torch.manual_seed(11)
    generator = mlp_generator(3, latent_dim=2).double()
    z0 = generator.sample_latent(16)
    before = {name: value.clone() for name, value in generator.state_dict().items()}
    expected = generator.mean(z0)
    with freeze_batch_statistics(generator.net, z0):
        torch.testing.assert_close(generator(z0), expected)
        torch.testing.assert_close(generator(z0[:1]), expected[:1])
    torch.testing.assert_close(generator.mean(z0), expected)
    assert all(torch.equal(value, before[name]) for name, value in generator.state_dict().items())
    assert all(module.training for module in generator.modules())


@pytest.mark.long
@pytest.mark.parametrize("force", ["full", "prior_only"])
def test_hmc_with_batch_norm_draws_from_the_exact_posterior(force):
    """For d = 1 a grid integrates the posterior under frozen statistics."""
    torch.manual_seed(12)
    generator = mlp_generator(2, latent_dim=1, sigma=0.3).double()
    z0, x = generator.sample_pair(8)
    grid = torch.linspace(-6, 6, 4_001, dtype=torch.float64).unsqueeze(1)
    with freeze_batch_statistics(generator.net, z0), torch.no_grad():
        means = generator(grid)
        log_joint = -0.5 * grid.square().T - 0.5 * torch.cdist(x, means).square() / 0.3**2
    expected = (x - log_joint.softmax(1) @ means) / 0.3**2
    entropy = HMCEntropy(
        1, force=force, burn_in=100, kept=2, step_size=0.25, adaptation=1e-9, like=generator.log_sigma
    )
    draws = torch.stack([entropy.direction(generator, z0, x).flatten() for _ in range(200)])
    assert_mean(draws, expected.flatten())


def test_hmc_adapts_its_step_size_during_burn_in_only():
    generator = make_linear_generator(WEIGHT, sigma=0.4)
    with torch.no_grad():
        z0, x = generator.sample_with_latent(16)
    still = HMCEntropy(2, burn_in=0, kept=3, like=generator.log_sigma)
    moving = HMCEntropy(2, burn_in=3, kept=1, like=generator.log_sigma)
    for entropy in (still, moving):
        entropy.direction(generator, z0, x)
    assert float(still.step.value) == 0.5
    assert float(moving.step.value) != 0.5


@pytest.mark.parametrize(("force", "gradients"), [("full", 1 + 4 * 5), ("prior_only", 0)])
def test_hmc_computes_the_minimum_number_of_gradients(force, gradients):
    """One at the start, then five per transition. The published code computes six, and the paper counts
    seven."""
    generator = make_linear_generator(WEIGHT, sigma=0.4)
    with torch.no_grad():
        z0, x = generator.sample_with_latent(4)
    calls = []
    generator.net.register_forward_hook(lambda *_: calls.append(torch.is_grad_enabled()))
    HMCEntropy(2, force=force, like=generator.log_sigma).direction(generator, z0, x)
    assert sum(calls) == gradients


@pytest.mark.parametrize("shape", [(6,), (2, 3)], ids=["flat", "image"])
def test_the_posterior_force_is_the_gradient_of_the_log_density(shape):
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(3, 8), torch.nn.Softplus(), torch.nn.Linear(8, 6), torch.nn.Unflatten(1, shape)
    )
    generator = Generator(net, 3, sigma=0.2).double()
    z, x = generator.sample_pair(5)
    posterior, elsewhere = Posterior(generator, x), z + 0.5 * torch.randn_like(z)
    value, force = posterior.value_and_force(elsewhere)
    expected = value_and_gradient(posterior.log_density, elsewhere)
    torch.testing.assert_close((value, force), expected)
    torch.testing.assert_close(posterior.force(elsewhere), force)
    assert not force.requires_grad
    prior, likelihood = Normal(0, 1), Normal(generator.mean(elsewhere), generator.sigma)
    exact = prior.log_prob(elsewhere).sum(1) + likelihood.log_prob(x).flatten(1).sum(1)
    torch.testing.assert_close(value - value[0], (exact - exact[0]).detach())

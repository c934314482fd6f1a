"""Samplers: invariance of the density, acceptance of tuned steps, the distribution of Langevin chains."""

import math

import pytest
import torch
from oracles import GaussianEnergy, make_linear_generator
from scipy import stats
from torch.nn.functional import softplus

from vera.gradients import value_and_gradient
from vera.models import mlp_generator
from vera.samplers import (
    Chain,
    ExactForce,
    LatentRefiner,
    PriorForce,
    ReplayBuffer,
    StepSize,
    hmc_transition,
    mala,
    sgld,
)
from vera.samplers.metropolis import accept

CHAINS = 20_000


def logistic_log_density(x):
    """Return the log-density of independent standard logistic coordinates, with tails like e^{-|x|}."""
    return (-x - 2 * softplus(-x)).sum(1)


def draw_logistic():
    u = torch.rand(CHAINS, 2, dtype=torch.float64).clamp(1e-12, 1 - 1e-12)
    return u.log() - (-u).log1p()


def assert_logistic(x):
    """Check each coordinate by a Kolmogorov-Smirnov test, and the first moments, of independent chains."""
    for j in range(2):
        assert stats.kstest(x[:, j].numpy(), "logistic").pvalue > 1e-4
    variance = math.pi**2 / 3
    assert abs(float(x.mean())) < 5 * math.sqrt(variance / (2 * CHAINS))
    fourth = 7 * math.pi**4 / 15
    assert abs(float(x.square().mean()) - variance) < 5 * math.sqrt((fourth - variance**2) / (2 * CHAINS))
    assert abs(float((x[:, 0] * x[:, 1]).mean())) < 5 * variance / math.sqrt(CHAINS)


@pytest.mark.parametrize(("force", "step"), [(ExactForce, 1.8), (PriorForce, 0.5)])
def test_hmc_leaves_the_density_invariant(force, step):
    torch.manual_seed(0)
    target = force(logistic_log_density)
    chain = Chain.start(draw_logistic(), target)
    acceptances = []
    for _ in range(30):
        chain, acceptance = hmc_transition(chain, target, step, leapfrog_steps=5)
        acceptances.append(float(acceptance))
    # The accept test must reject some proposals, or a sampler without one would pass as well.
    assert 0.3 < sum(acceptances) / 30 < 0.95
    assert_logistic(chain.z)


def test_hmc_converges_from_a_wrong_start():
    torch.manual_seed(1)
    target = ExactForce(logistic_log_density)
    chain = Chain.start(torch.full((CHAINS, 2), 3.0, dtype=torch.float64), target)
    for _ in range(60):
        chain, _ = hmc_transition(chain, target, 0.3, leapfrog_steps=5)
    assert_logistic(chain.z)


def test_hmc_carries_the_value_and_force_of_its_position():
    torch.manual_seed(2)
    target = ExactForce(logistic_log_density)
    chain, _ = hmc_transition(Chain.start(draw_logistic()[:50], target), target, 1.0, leapfrog_steps=3)
    value, force = value_and_gradient(logistic_log_density, chain.z)
    torch.testing.assert_close(chain.value, value)
    torch.testing.assert_close(chain.force, force)


def test_mala_leaves_the_density_invariant():
    torch.manual_seed(3)
    step = StepSize(1.5, target=0.57, rate=0.02, like=torch.empty((), dtype=torch.float64))
    x, acceptance = mala(logistic_log_density, draw_logistic(), steps=60, step=step)
    assert 0.3 < float(acceptance) < 0.95
    assert_logistic(x)


def test_mala_converges_from_a_wrong_start():
    torch.manual_seed(4)
    step = StepSize(1.0, target=0.57, rate=0.02, like=torch.empty((), dtype=torch.float64))
    x, _ = mala(logistic_log_density, torch.full((CHAINS, 2), 3.0, dtype=torch.float64), steps=300, step=step)
    assert_logistic(x)


def test_langevin_without_an_accept_test_is_not_exact():
    """The test above has power: it detects the same chain without the accept test."""
    torch.manual_seed(5)
    x = sgld(logistic_log_density, draw_logistic(), steps=60, noise=math.sqrt(2 * 1.5))
    assert stats.kstest(x[:, 0].numpy(), "logistic").pvalue < 1e-6


@pytest.mark.parametrize(("variance", "noise"), [(1.0, 0.2), (1.0, 1.0), (0.5, 0.7)])
def test_sgld_has_its_known_stationary_variance(variance, noise):
    """x <- x(1 − τ/v) + √(2τ) ε has variance v / (1 − τ/(2v)), with τ = noise²/2."""
    torch.manual_seed(6)
    tau = noise**2 / 2
    expected = variance / (1 - tau / (2 * variance))
    start = torch.randn(CHAINS, 1) * math.sqrt(expected)
    x = sgld(GaussianEnergy(variance), start, steps=200, noise=noise)
    assert float(x.square().mean()) == pytest.approx(expected, rel=5 * math.sqrt(2 / CHAINS))


def test_sgld_uses_the_given_step_size():
    torch.manual_seed(7)
    x = sgld(GaussianEnergy(1.0), torch.ones(5, 1), steps=1, noise=1e-9, step_size=0.25)
    torch.testing.assert_close(x, torch.full((5, 1), 0.75))


def test_a_nan_ratio_rejects():
    taken, acceptance = accept(torch.tensor([math.nan, math.inf, -math.inf, 0.0]))
    assert taken.tolist() == [False, True, False, True]
    assert float(acceptance) == 0.5


@pytest.mark.parametrize("initial", [1e-3, 20.0])
def test_mala_step_size_is_tuned_to_its_acceptance(initial):
    torch.manual_seed(8)
    step = StepSize(initial, target=0.57, rate=0.02)
    x, _ = mala(GaussianEnergy(1.0), torch.randn(500, 10), steps=600, step=step, adapt=True)
    _, acceptance = mala(GaussianEnergy(1.0), x, steps=100, step=step)
    assert float(acceptance) == pytest.approx(0.57, abs=0.03)


@pytest.mark.parametrize("batch_norm", ["running", "batch"])
def test_refiner_tunes_to_acceptance_57_and_raises_f(batch_norm):
    torch.manual_seed(9)
    energy, generator = GaussianEnergy(0.002, data_dim=2), mlp_generator(2)
    for _ in range(20):
        generator.sample_with_latent(100)
    refiner = LatentRefiner(energy, generator, batch_norm=batch_norm)
    acceptance = refiner.tune(n=200, steps=800)
    if (
        batch_norm == "running"
    ):  # chains that share batch statistics interact, so their acceptance varies more
        assert acceptance == pytest.approx(0.57, abs=0.05)
    v = refiner.start(500)
    before = {name: value.clone() for name, value in generator.state_dict().items()}
    refined, _ = refiner.refine(v, steps=100)
    with torch.no_grad():
        assert energy(refiner.decode(refined)).mean() > energy(refiner.decode(v)).mean()
    assert all(torch.equal(value, before[name]) for name, value in generator.state_dict().items())
    assert generator.net.training
    assert energy.training


class Bump(torch.nn.Module):
    """A hill in the plane with a flat surrounding: chains that leave it do not return."""

    def forward(self, x):
        return 6 * torch.exp(-x.square().sum(1) / 2)


def test_a_refiner_is_tuned_on_fresh_samples_when_long_chains_drift_away():
    torch.manual_seed(3)
    generator = make_linear_generator(torch.eye(2), sigma=0.1)
    refiner = LatentRefiner(Bump(), generator, step_size=10.0)
    acceptance = refiner.tune(n=200, steps=500, length=20)
    _, again = refiner.refine(refiner.start(400), steps=20)
    assert (acceptance, float(again)) == (pytest.approx(0.57, abs=0.05), pytest.approx(0.57, abs=0.05))
    lost, naive = refiner.start(200), StepSize(10.0, target=0.57, rate=0.02)
    lost, _ = mala(refiner.potential, lost, steps=500, step=naive, adapt=True)
    assert float(naive.value) > 3 * float(refiner.step.value)


def test_refiner_uses_the_potential_of_the_paper():
    """The potential is f(g(z) + σε) over (z, ε) jointly, without their priors."""
    torch.manual_seed(10)
    generator = make_linear_generator(torch.tensor([[1.0, 0.5], [0.0, 1.0]], dtype=torch.float64), sigma=0.7)
    energy = GaussianEnergy(1.0, data_dim=2).double()
    refiner = LatentRefiner(energy, generator)
    v = torch.randn(7, 4, dtype=torch.float64)
    x = v[:, :2] @ generator.weight.detach().T + 0.7 * v[:, 2:]
    torch.testing.assert_close(refiner.decode(v), x)
    torch.testing.assert_close(refiner.potential(v), -0.5 * x.square().sum(1))


def test_a_refiner_samples_at_its_temperature():
    """With f(x) = −‖x‖²/2 and x = ε the chains have the target N(0, T)."""
    torch.manual_seed(12)
    generator = make_linear_generator(torch.zeros(2, 1), sigma=1.0)
    refiner = LatentRefiner(GaussianEnergy(1.0, data_dim=2), generator, temperature=0.04)
    refiner.tune(n=500, steps=200, length=50)
    v, _ = refiner.refine(refiner.start(4_000), steps=100)
    assert refiner.decode(v).std(0).tolist() == pytest.approx([0.2, 0.2], rel=0.05)


def test_replay_buffer_draws_distinct_chains_restarts_some_and_stores():
    torch.manual_seed(11)
    buffer = ReplayBuffer(500, (3,), restart=0.25, like=torch.empty(()))
    assert float(buffer.chains.min()) >= -1
    assert float(buffer.chains.max()) <= 1
    restarted = 0
    for _ in range(100):
        indices, states = buffer.draw(100)
        assert len(indices.unique()) == 100
        changed = (states != buffer.chains[indices]).any(1)
        assert (states[changed].abs() <= 1).all()
        restarted += int(changed.sum())
    assert restarted / 10_000 == pytest.approx(0.25, abs=0.03)
    buffer.store(indices, torch.full((100, 3), 5.0))
    assert (buffer.chains == 5).all(1).sum() == 100


def test_a_replay_buffer_smaller_than_the_batch_returns_all_chains():
    indices, states = ReplayBuffer(10, (2,), restart=0.0, like=torch.empty(())).draw(64)
    assert len(indices) == len(states) == 10

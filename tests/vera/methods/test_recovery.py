"""Full training runs with known answers: each method finds the variance that its theory predicts."""

import math

import pytest
import torch
from oracles import GaussianEnergy, make_linear_generator

import vera
from vera.data import TensorData
from vera.evaluation import log_likelihood
from vera.methods import CPSM, DSM, PCD, SSM, VERA, VERAHMC, CoopNet, MaximumLikelihood
from vera.models import NICE, GaussianMixture, LinearGenerator

VARIANCE = 1.5


def make_gaussian_data(n=20_000, variance=VARIANCE, dim=1):
    """Return Gaussian points scaled so that their empirical second moment is exactly the variance."""
    x = torch.randn(n, dim, generator=torch.Generator().manual_seed(0))
    return x / x.square().mean(0).sqrt() * math.sqrt(variance)


def fit_variance(method, steps, average=0.5):
    """Train on Gaussian data and return the mean learned variance over the last share of the run."""
    trainer = vera.Trainer(method, make_gaussian_data(), steps=steps, batch_size=256, seed=1)
    trainer.run(until=int(steps * (1 - average)))
    late = []
    while trainer.result is None:
        trainer.run(until=min(trainer.step + 20, steps))
        late.append(method.energy.variance)
    assert trainer.result.outcome == "ok"
    return sum(late) / len(late)


def test_ssm_recovers_the_variance():
    assert fit_variance(SSM(GaussianEnergy(), lr=5e-3), 1_500) == pytest.approx(VARIANCE, rel=0.03)


def test_dsm_recovers_the_variance_of_the_noised_data():
    method = DSM(GaussianEnergy(), lr=5e-3, noise=0.8)
    assert fit_variance(method, 2_000) == pytest.approx(VARIANCE + 0.64, rel=0.03)


def test_pcd_recovers_the_variance():
    method = PCD(GaussianEnergy(), lr=5e-3, noise=0.3, capacity=1_000)
    tau = 0.3**2 / 2
    assert fit_variance(method, 2_000) == pytest.approx(VARIANCE, rel=0.05)
    assert tau / (2 * VARIANCE) < 0.02


def test_pcd_with_a_large_step_finds_the_variance_of_the_discrete_chain():
    """The variance of the chain, v / (1 − τ/(2v)), matches the data, so v is smaller: by a fifth here."""
    tau = 0.5
    method = PCD(GaussianEnergy(), lr=5e-3, noise=math.sqrt(2 * tau), capacity=1_000, restart=0.0)
    expected = (VARIANCE + math.sqrt(VARIANCE**2 - 2 * tau * VARIANCE)) / 2
    assert expected < 0.8 * VARIANCE
    assert fit_variance(method, 1_500) == pytest.approx(expected, rel=0.05)


def shrinkage(k, dim=1, repeats=20_000):
    """Return κ, the mean share of the true entropy gradient that k self-normalised draws around z0 give.

    In units of posterior deviations z0 = u0 and log w_i = −u0·ξ_i, and the share is
    1 − E[u0·Σ w_i (u0 + ξ_i)] / dim. It is simulated.
    """
    rng = torch.Generator().manual_seed(0)
    u0, noise = torch.randn(repeats, dim, generator=rng), torch.randn(k, repeats, dim, generator=rng)
    weights = (-(u0 * noise).sum(-1)).softmax(0)
    return 1 - float((u0 * (u0 + (weights.unsqueeze(-1) * noise).sum(0))).mean())


def make_scalar_generator():
    return make_linear_generator(torch.tensor([[0.8]]), sigma=0.2, sigma_min=0.01, sigma_max=0.3)


@pytest.mark.parametrize(("dim", "share"), [(1, 0.78), (2, 0.74)])
def test_twenty_draws_give_three_quarters_of_the_entropy_gradient(dim, share):
    assert shrinkage(20, dim) == pytest.approx(share, abs=0.015)


RATES = {"lr": 5e-3, "generator_lr": 5e-3, "gamma": 0.0}


@pytest.mark.parametrize("weight", [0.5, 1.0, 2.0])
def test_vera_fits_the_tempered_density(weight):
    """The optimal generator is e^{f/λ}, so the moments match at λ v = variance.

    With k = 20 the entropy gradient is too small by the factor κ, which acts like a smaller λ: the fixed
    point is λ κ v = variance. κ = .78 is a property of the estimator alone.
    """
    method = VERA(
        GaussianEnergy(), make_scalar_generator(), posterior_lr=5e-3, entropy_weight=weight, **RATES
    )
    assert fit_variance(method, 2_000) == pytest.approx(VARIANCE / weight / shrinkage(20), rel=0.06)


def test_vera_with_many_draws_recovers_maximum_likelihood():
    method = VERA(GaussianEnergy(), make_scalar_generator(), posterior_lr=5e-3, k=500, **RATES)
    assert fit_variance(method, 1_500) == pytest.approx(VARIANCE, rel=0.07)


@pytest.mark.long
def test_vera_hmc_recovers_maximum_likelihood():
    method = VERAHMC(GaussianEnergy(), make_scalar_generator(), burn_in=30, **RATES)
    assert fit_variance(method, 800) == pytest.approx(VARIANCE, rel=0.08)


def test_coopnet_fits_its_own_short_chain():
    """Regression of x̃ on z keeps only the part of x̃ that z explains, so g shrinks to the mode.

    The energy then gives L Langevin steps from the mode the variance of the data:
    2τ (1 − ρ^{2L}) / (1 − ρ²) with ρ = 1 − τ/v.
    """
    noise, length = 0.6, 5
    method = CoopNet(
        GaussianEnergy(),
        make_scalar_generator(),
        lr=5e-3,
        generator_lr=1e-2,
        noise=noise,
        sampler_steps=length,
    )
    fitted = fit_variance(method, 2_000)
    rho = 1 - noise**2 / 2 / fitted
    assert noise**2 * (1 - rho ** (2 * length)) / (1 - rho**2) == pytest.approx(VARIANCE, rel=0.03)
    assert fitted > 1.1 * VARIANCE
    assert abs(float(method.generator.weight.detach())) < 0.1


@pytest.fixture(scope="module")
def planar():
    """Two-dimensional isotropic Gaussian data and the test likelihood of maximum likelihood.

    Isotropic, because a proposal with diagonal η matches only a posterior with uncorrelated latents.
    """
    generator = torch.Generator().manual_seed(3)
    scale, shift = 0.6, torch.tensor([0.5, -0.3])
    train, test = (torch.randn(n, 2, generator=generator) * scale + shift for n in (20_000, 20_000))
    data = TensorData(train, test=test)
    ceiling = log_likelihood(
        train_planar(MaximumLikelihood(make_one_component(), lr=1e-2), data, 800), test
    ).mean
    return data, test, ceiling


def make_one_component():
    torch.manual_seed(4)
    return GaussianMixture(2, components=1)


def train_planar(method, data, steps):
    result = vera.Trainer(method, data, steps=steps, batch_size=200, seed=2).run()
    assert result.outcome == "ok"
    return method.energy


def make_planar_vera(weight):
    torch.manual_seed(5)
    generator = LinearGenerator(2, 2, sigma=0.2, sigma_min=0.01, sigma_max=0.3)
    return VERA(
        make_one_component(),
        generator,
        entropy_weight=weight,
        lr=2e-3,
        generator_lr=4e-3,
        posterior_lr=5e-3,
        gamma=0.0,
        k=100,
    )


def test_maximum_likelihood_reaches_the_negative_entropy_of_the_data(planar):
    _, _, ceiling = planar
    entropy = math.log(2 * math.pi * math.e) + 2 * math.log(0.6)
    assert ceiling == pytest.approx(-entropy, abs=0.03)


def test_vera_with_weight_one_recovers_maximum_likelihood_and_weight_zero_is_worse(planar):
    data, test, ceiling = planar
    with_entropy = log_likelihood(train_planar(make_planar_vera(1.0), data, 2_500), test).mean
    without = log_likelihood(train_planar(make_planar_vera(0.0), data, 2_500), test).mean
    assert with_entropy > ceiling - 0.05
    assert without < with_entropy - 0.2


@pytest.mark.parametrize("method_class", [SSM, CPSM])
def test_score_matching_trains_a_flow_towards_maximum_likelihood(planar, method_class):
    data, test, ceiling = planar
    torch.manual_seed(6)
    method = method_class(NICE(2, hidden=16, hidden_layers=1, couplings=2), lr=1e-2)
    before = log_likelihood(method.energy, test).mean
    after = log_likelihood(train_planar(method, data, 600), test).mean
    assert after > before + 0.2
    assert after > ceiling - 0.1

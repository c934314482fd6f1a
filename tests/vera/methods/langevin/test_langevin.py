"""PCD, CD and short-run training on Gaussian data. They differ in where their chains start, and so in what
they find.

One Langevin step with τ = noise²/2 on f = −x²/(2v) maps a variance a to ρ² a + 2τ, with ρ = 1 − τ/v.
Training matches the variance of the chains' ends to that of the data.
"""

import math

import pytest
import torch
from oracles import GaussianEnergy

import vera
from vera.methods import CD, PCD, ShortRun

VARIANCE = 1.5


def make_points():
    x = torch.randn(20_000, 1, generator=torch.Generator().manual_seed(0))
    return x / x.square().mean().sqrt() * math.sqrt(VARIANCE)


def fit_variance(method, steps):
    """Train and return the mean learned variance over the second half."""
    trainer = vera.Trainer(method, make_points(), steps=steps, batch_size=256, seed=1)
    trainer.run(until=steps // 2)
    late = []
    while trainer.result is None:
        trainer.run(until=min(trainer.step + 20, steps))
        late.append(method.energy.variance)
    assert trainer.result.outcome == "ok"
    return sum(late) / len(late)


def end_variance(start, v, tau, steps):
    """The variance of the chains after some steps."""
    rho2 = (1 - tau / v) ** 2
    return rho2**steps * start + 2 * tau * (1 - rho2**steps) / (1 - rho2)


@pytest.mark.parametrize("steps", [1, 5])
def test_cd_finds_the_variance_at_which_the_chain_leaves_the_data_unchanged_for_every_k(steps):
    """The stationary variance of the chain is v / (1 − τ/(2v)), so v is smaller than that of the data."""
    tau = 0.5
    method = CD(GaussianEnergy(), lr=1e-2, noise=math.sqrt(2 * tau), sampler_steps=steps)
    expected = (VARIANCE + math.sqrt(VARIANCE**2 - 2 * tau * VARIANCE)) / 2
    assert end_variance(VARIANCE, expected, tau, steps) == pytest.approx(VARIANCE)
    assert fit_variance(method, 600) == pytest.approx(expected, rel=0.05)


def test_cd_with_small_steps_recovers_the_variance_of_the_data():
    assert fit_variance(CD(GaussianEnergy(), lr=1e-2, noise=0.3), 600) == pytest.approx(VARIANCE, rel=0.05)


def test_short_runs_learn_a_sampler_and_a_wrong_density():
    """From uniform noise of variance 1/3, ten steps reach that of the data only if v is far larger."""
    noise, steps, start = 0.4, 10, 1 / 3
    method = ShortRun(GaussianEnergy(), lr=1e-2, noise=noise, sampler_steps=steps, start="uniform")
    found = fit_variance(method, 1_000)
    assert end_variance(start, found, noise**2 / 2, steps) == pytest.approx(VARIANCE, rel=0.05)
    assert float(method.training_samples(20_000).var()) == pytest.approx(VARIANCE, rel=0.1)
    assert found > 2 * VARIANCE


def test_long_runs_from_noise_recover_the_variance_of_the_data():
    method = ShortRun(GaussianEnergy(), lr=1e-2, noise=0.5, sampler_steps=40, start="uniform")
    tau = 0.5**2 / 2
    expected = (VARIANCE + math.sqrt(VARIANCE**2 - 2 * tau * VARIANCE)) / 2
    assert fit_variance(method, 400) == pytest.approx(expected, rel=0.05)


def test_chains_start_where_the_method_says(monkeypatch):
    x = torch.randn(64, 1) * 0.1 + 5.0
    starts = {}
    for cls, settings in (
        (PCD, {"capacity": 64}),
        (CD, {}),
        (ShortRun, {}),
        (ShortRun, {"start": "uniform"}),
    ):
        method = cls(GaussianEnergy(), **settings)
        method.begin(x)
        monkeypatch.setattr(method, "run_chains", lambda start: start)
        starts[cls, settings.get("start")] = method.draw_chains(x)
    assert starts[PCD, None].abs().max() <= 1
    assert torch.equal(starts[CD, None], x)
    assert float(starts[ShortRun, None].mean()) == pytest.approx(5.0, abs=0.1)
    assert float(starts[ShortRun, None].std()) == pytest.approx(0.1, rel=0.4)
    assert starts[ShortRun, "uniform"].abs().max() <= 1


@pytest.mark.parametrize("cls", [CD, ShortRun])
def test_any_number_of_training_samples_can_be_drawn(cls):
    method = cls(GaussianEnergy(), sampler_steps=2)
    method.begin(torch.randn(8, 1))
    assert method.training_samples(100).shape == (100, 1)

"""Annealed importance sampling where log Z is known: Gaussians, a mixture, NICE (log Z = 0) and a grid."""

import math

import pytest
import torch

from sweeps.trial.identity import Trial
from vera.data import TensorData
from vera.evaluation import annealed_log_likelihood, annealed_log_normaliser, grid_log_normaliser
from vera.evaluation.annealed import AnnealedEstimate, Whitened
from vera.models import MLP, NICE, FittedGaussian, GaussianMixture
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_task


def fit(x):
    gaussian = FittedGaussian(x.shape[1:]).to(x)
    gaussian.add(x)
    return gaussian


def assert_close(found, exact, sigmas=4.0):
    assert abs(found.log_z - exact) < sigmas * found.standard_error + 1e-9
    assert 0.3 < found.acceptance <= 1
    assert found.effective_points > 10


@pytest.mark.parametrize("dim", [1, 10])
def test_log_z_of_a_gaussian(dim):
    torch.manual_seed(dim)
    deviation = torch.linspace(0.5, 2.0, dim, dtype=torch.float64)
    gaussian = fit(3 + 1.5 * torch.randn(1_000, dim, dtype=torch.float64))

    def f(x):
        return -0.5 * ((x - 2.5) / deviation).square().sum(1) + 7

    exact = 7 + float(deviation.log().sum()) + 0.5 * dim * math.log(2 * math.pi)
    found = annealed_log_normaliser(f, gaussian, points=200, temperatures=100)
    assert_close(found, exact)
    assert found.standard_error < 0.1


def test_log_z_of_nice_is_zero():
    torch.manual_seed(0)
    flow = NICE(6, hidden=16, hidden_layers=1)
    with torch.no_grad():
        flow.log_scale.normal_(0, 0.5)
        for weight in flow.shifts.parameters():
            weight.mul_(2)
    found = annealed_log_normaliser(flow, fit(flow.sample(5_000)), points=300, temperatures=150)
    assert_close(found, 0.0)
    assert found.standard_error < 0.1


def test_log_z_of_an_mlp_equals_quadrature():
    torch.manual_seed(1)
    net = MLP(2, hidden=(16,), activation="softplus")

    def f(x):
        return 5 * net(x) - 0.5 * x.square().sum(1)

    found = annealed_log_normaliser(f, fit(torch.randn(2_000, 2)), points=300, temperatures=100)
    assert_close(found, grid_log_normaliser(f).log_z)


def test_the_standard_error_is_that_of_repeated_estimates():
    torch.manual_seed(2)
    gaussian = fit(torch.randn(2_000, 3, dtype=torch.float64))

    def f(x):
        return -0.5 * (x / 0.4).square().sum(1)

    runs = [annealed_log_normaliser(f, gaussian, points=100, temperatures=15) for _ in range(40)]
    spread = float(torch.tensor([run.log_z for run in runs]).std())
    claimed = sum(run.standard_error for run in runs) / len(runs)
    assert spread == pytest.approx(claimed, rel=0.4)


def test_more_temperatures_make_the_weights_more_even():
    torch.manual_seed(3)
    gaussian = fit(torch.randn(2_000, 8, dtype=torch.float64))

    def f(x):
        return -0.5 * (x / 0.3).square().sum(1)

    few, many = (annealed_log_normaliser(f, gaussian, 100, k).effective_points for k in (3, 60))
    assert few < 0.5 * many


def test_weights_of_one_temperature_are_importance_weights():
    log_weights = torch.tensor([0.0, 1.0, 2.0])
    found = AnnealedEstimate.from_log_weights(log_weights, 1.0)
    weights = log_weights.double().exp()
    assert found.log_z == pytest.approx(float(weights.mean().log()))
    assert found.standard_error == pytest.approx(float(weights.std() / weights.mean() / math.sqrt(3)))
    assert found.effective_points == pytest.approx(float(weights.sum() ** 2 / weights.square().sum()))


def test_the_density_of_the_whitened_space_is_that_of_the_points():
    torch.manual_seed(4)
    gaussian = fit(torch.randn(500, 3, dtype=torch.float64) @ torch.randn(3, 3, dtype=torch.float64))
    space = Whitened(gaussian.log_prob, gaussian)
    v = torch.randn(5, 3, dtype=torch.float64)
    torch.testing.assert_close(space.log_target(v), space.log_start(v))


def test_the_likelihood_of_a_mixture_is_its_own():
    torch.manual_seed(5)
    mixture = GaussianMixture(2, components=3)
    data = TensorData(mixture.sample(2_000), test=mixture.sample(3_000))
    estimate, normaliser = annealed_log_likelihood(mixture, data, seed=0, temperatures=60)
    with torch.no_grad():
        exact = float(mixture.log_prob(data.test).double().mean())
    assert_close(normaliser, 0.0)
    assert estimate.mean == pytest.approx(exact - normaliser.log_z, abs=1e-4)


def make_spec(task, energy="mlp"):
    return TrialSpec(
        {"name": "moons"}, {"energy": {"name": energy}}, {"name": "dsm"}, steps=2, batch_size=8, task=task
    )


def measure(spec):
    task = build_task(spec)
    trainer = task.build(spec, progress=False)
    trainer.run()
    return task.measure(trainer).metrics


def test_a_trial_may_ask_for_it():
    metrics = measure(make_spec({"name": "density", "annealed_temperatures": 5}))
    names = {"annealed_log_likelihood", "annealed_log_likelihood_se", "annealed_log_normaliser"}
    assert {*names, "annealed_log_normaliser_se", "annealed_effective_points"} <= metrics.keys()
    assert all(map(math.isfinite, metrics.values()))
    plain = make_spec({"name": "density", "annealed_temperatures": 0})
    assert Trial(plain).id == Trial(make_spec("density")).id
    assert not [name for name in measure(make_spec("density")) if name.startswith("annealed")]

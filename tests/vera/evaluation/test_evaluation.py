"""Evaluation of distributions whose likelihood, normaliser and samples are known."""

import math

import pytest
import torch
from facts import raises_with
from oracles import GaussianEnergy, make_linear_generator

from vera.data import Circles, Moons, Rings, TensorData
from vera.entropy import ImportanceEntropy
from vera.errors import IncompatibleModel, SettingError, VeraError
from vera.evaluation import (
    Estimate,
    LikelihoodEvaluation,
    PlaneGrid,
    best_of_batches,
    density_image,
    draw_exact_samples,
    draw_training_samples,
    grid_log_likelihood,
    grid_log_normaliser,
    log_likelihood,
    posterior_ess,
    prior_ess,
    score_error,
)
from vera.methods import MEG, PCD, SSM, VERA, CoopNet
from vera.models import MLP, GaussianMixture, StatisticsNetwork, mlp_generator


def test_likelihood_of_a_gaussian_and_its_standard_error():
    torch.manual_seed(0)
    model = GaussianMixture(2, components=1)
    with torch.no_grad():
        model.means.zero_()
    estimate = log_likelihood(model, torch.randn(100_000, 2))
    assert estimate.n == 100_000
    assert estimate.standard_error == pytest.approx(1 / math.sqrt(100_000), rel=0.02)
    assert abs(estimate.mean + math.log(2 * math.pi * math.e)) < 5 * estimate.standard_error


def test_estimate_of_one_point_has_no_standard_error():
    assert math.isnan(Estimate.from_values(torch.tensor([1.0])).standard_error)


def test_likelihood_of_an_unnormalised_model_is_rejected():
    with raises_with(IncompatibleModel, "MLP", "normalised", "grid_log_likelihood"):
        log_likelihood(MLP(2), torch.randn(5, 2))


@pytest.mark.parametrize("dataset", [Moons(), Circles(), Rings()])
def test_toys_are_evaluated_on_100_000_fresh_points(dataset):
    torch.manual_seed(1)
    evaluation = LikelihoodEvaluation(dataset)
    method = SSM(GaussianMixture(2, components=3))
    torch.manual_seed(2)
    first, other = evaluation(method), evaluation(method)
    torch.manual_seed(2)
    assert evaluation(method) == first
    deviation = log_likelihood(method.energy, dataset.test_points(9)).standard_error
    assert first["test_log_likelihood_se"] == pytest.approx(deviation, rel=0.05)
    assert first["test_log_likelihood"] != other["test_log_likelihood"]
    gap = first["test_log_likelihood"] - other["test_log_likelihood"]
    assert abs(gap) < 5 * math.hypot(first["test_log_likelihood_se"], other["test_log_likelihood_se"])


def test_the_best_of_ten_small_batches_is_biased_upwards():
    """For independent points, as of rings, the highest of ten means is 1.54 standard errors above their mean.

    Moons and circles are evenly spaced in angle, so their batches vary less and the bias is smaller.
    """
    torch.manual_seed(2)
    model, data = GaussianMixture(2, components=20), Rings()
    honest = log_likelihood(model, data.test_points(0, 100_000))
    single = honest.standard_error * math.sqrt(honest.n / 200)
    best = [best_of_batches(model, data, seed) for seed in range(40)]
    excess = (sum(best) / 40 - honest.mean) / single
    assert excess == pytest.approx(1.539, abs=0.45)


def test_a_nan_in_one_batch_gives_nan():
    class NaNInThirdBatch(GaussianMixture):
        calls = 0

        def log_prob(self, x):
            self.calls += 1
            return super().log_prob(x) * (math.nan if self.calls == 3 else 1.0)

    assert math.isnan(best_of_batches(NaNInThirdBatch(), Moons(), seed=0))


def test_a_standard_error_needs_two_points():
    with raises_with(SettingError, "LikelihoodEvaluation: n ", "at least 2", "got 1"):
        LikelihoodEvaluation(Moons(), n=1)
    with raises_with(SettingError, "score_error", "repeats", "at least 2", "got 1"):
        score_error(
            BiasedEstimator(),
            make_linear_generator(torch.ones(2, 1), sigma=0.5),
            (torch.zeros(1, 1), torch.zeros(1, 2)),
            repeats=1,
        )


@pytest.mark.parametrize(
    "measure", [lambda g: posterior_ess(ImportanceEntropy(2), g, 10), lambda g: prior_ess(g, 10)]
)
def test_measuring_does_not_change_the_generator(measure):
    generator = mlp_generator(2)
    before = {name: value.clone() for name, value in generator.state_dict().items()}
    measure(generator)
    assert all(torch.equal(value, before[name]) for name, value in generator.state_dict().items())


def test_evaluation_needs_test_points():
    with pytest.raises(VeraError):
        LikelihoodEvaluation(TensorData(torch.randn(10, 2)))


def test_density_image_is_normalised_and_oriented():
    def f(x):
        return -5 * ((x[:, 0] - 2).square() + (x[:, 1] - 3).square())

    image = density_image(f)
    assert image.shape == (100, 100)
    assert float(image.sum()) == pytest.approx(1)
    row, column = divmod(int(image.argmax()), 100)
    assert (row, column) == pytest.approx((12, 74), abs=1)


@pytest.mark.parametrize("variance", [0.2, 1.0, 3.0])
def test_grid_normaliser_of_a_gaussian(variance):
    normaliser = grid_log_normaliser(GaussianEnergy(variance, data_dim=2))
    assert normaliser.log_z == pytest.approx(math.log(2 * math.pi * variance), abs=1e-3)
    assert normaliser.rim_share < 1e-4


def test_grid_normaliser_reports_mass_at_the_rim():
    assert grid_log_normaliser(GaussianEnergy(1e6, data_dim=2)).rim_share > 1e-3


def test_grid_likelihood_equals_the_exact_one():
    torch.manual_seed(3)
    model = GaussianMixture(2, components=10)
    x = torch.randn(5_000, 2)
    estimate, normaliser = grid_log_likelihood(model, x)
    assert normaliser.log_z == pytest.approx(0, abs=1e-3)
    assert estimate.mean == pytest.approx(log_likelihood(model, x).mean, abs=1e-3)


def test_exact_samples_have_the_expected_likelihood():
    """E_p[log p] = −H(p), here of one Gaussian."""
    torch.manual_seed(4)
    model = GaussianMixture(2, components=1)
    samples = draw_exact_samples(model, 50_000)
    assert log_likelihood(model, samples).mean == pytest.approx(-math.log(2 * math.pi * math.e), abs=0.03)
    with pytest.raises(IncompatibleModel):
        draw_exact_samples(MLP(2), 10)


def test_training_samples_of_methods_with_samples():
    torch.manual_seed(5)
    generator = mlp_generator(2)
    methods = [
        VERA(MLP(2), generator),
        MEG(MLP(2), generator, StatisticsNetwork(2, 2)),
        CoopNet(MLP(2), generator),
        PCD(MLP(2)),
    ]
    for method in methods:
        method.begin(torch.randn(4, 2))
        before = {name: value.clone() for name, value in generator.state_dict().items()}
        samples = draw_training_samples(method, 50)
        assert samples.shape == (50, 2)
        assert not samples.requires_grad
        assert all(torch.equal(value, before[name]) for name, value in generator.state_dict().items())
    with raises_with(IncompatibleModel, "'ssm'", "samples"):
        draw_training_samples(SSM(GaussianMixture(2)), 5)


class BiasedEstimator:
    """An estimator with known bias and deviation."""

    def direction(self, generator, z0, x):
        return -(generator.exact_score(x) + torch.tensor([0.3, -0.3]) + 0.5 * torch.randn_like(x))


def test_score_error_measures_a_known_bias_and_deviation():
    torch.manual_seed(6)
    generator = make_linear_generator(torch.tensor([[1.0], [0.5]]), sigma=0.5)
    with torch.no_grad():
        pairs = generator.sample_with_latent(20)
    error = score_error(BiasedEstimator(), generator, pairs, repeats=4_000, chunk=1_000)
    assert error.signed_bias == pytest.approx(0, abs=0.01)
    assert error.absolute_bias == pytest.approx(0.3, abs=0.01)
    assert error.rms_bias == pytest.approx(0.3, abs=0.01)
    assert error.deviation == pytest.approx(0.5, rel=0.01)
    assert error.rms_noise == pytest.approx(0.5 / math.sqrt(4_000), rel=0.01)
    assert (error.pairs, error.repeats) == (20, 4_000)


def test_grid_points_cover_the_square():
    points = PlaneGrid(side=3, limit=2.0).points()
    assert points[0].tolist() == [-2, 2]
    assert points[-1].tolist() == [2, -2]

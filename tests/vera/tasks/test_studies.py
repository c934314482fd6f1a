"""The estimators under study: closed forms of the linear generator, the principal axes, and tuning."""

import pytest
import torch
from facts import raises_with
from oracles import make_linear_generator
from torch.distributions import MultivariateNormal

from vera.data import EmbeddedMNISTPixels, Gaussian
from vera.entropy import EntropyGradient, HMCEntropy, ImportanceEntropy
from vera.errors import IncompatibleModel
from vera.evaluation import posterior_ess, score_error
from vera.samplers.metropolis import StepSize
from vera.spec.registry import models
from vera.tasks.studies import HMCStudy, ImportanceStudy, LatentStudy, PrincipalAxes
from vera.tasks.studies.axes import AxisEntropy
from vera.tasks.studies.estimators import LatentEntropy


def make_orthogonal(lengths, data_dim=12, sigma=0.3, seed=0):
    """A generator like that of PCA: orthogonal columns of these lengths, and a mean."""
    rng = torch.Generator().manual_seed(seed)
    basis, _ = torch.linalg.qr(torch.randn(data_dim, len(lengths), generator=rng, dtype=torch.float64))
    bias = torch.randn(data_dim, generator=rng, dtype=torch.float64)
    return make_linear_generator(basis * torch.tensor(lengths, dtype=torch.float64), sigma=sigma, bias=bias)


LENGTHS = (3.0, 1.5, 0.8, 0.2)


@pytest.mark.parametrize("noise", ["deviation", "variance"])
def test_the_score_of_the_pca_generator_is_the_gradient_of_its_gaussian_log_density(noise):
    torch.manual_seed(0)
    points = (
        torch.randn(500, 6, dtype=torch.float64)
        @ torch.diag(torch.tensor([3.0, 2, 1, 0.5, 0.4, 0.3]).double())
        + 1
    )
    generator = models.create("pca-generator", x=points, latent_dim=3, noise=noise)
    discarded = torch.linalg.eigvalsh(torch.cov(points.T))[:3].mean()
    assert float(generator.sigma.detach()) == pytest.approx(
        float(discarded if noise == "variance" else discarded.sqrt()), rel=1e-6
    )
    x = generator.sample(7).requires_grad_(True)
    with torch.no_grad():
        density = MultivariateNormal(points.mean(0), generator.covariance())
    (by_autograd,) = torch.autograd.grad(density.log_prob(x).sum(), x)
    torch.testing.assert_close(generator.exact_score(x).detach(), by_autograd)


def test_pca_with_the_deviation_reproduces_the_leading_variances_of_the_data():
    points = EmbeddedMNISTPixels(side=14).read_training_points().double()
    generator = models.create("pca-generator", x=points, latent_dim=20)
    ours, theirs = (
        torch.linalg.eigvalsh(matrix)[-20:]
        for matrix in (generator.covariance().detach(), torch.cov(points.T))
    )
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=0)


def test_the_axes_split_x_into_coordinates_and_a_rest_independent_of_z():
    generator = make_orthogonal(LENGTHS)
    axes = PrincipalAxes(generator)
    z, x = generator.sample_pair(50)
    a, rest = axes.split(x)
    torch.testing.assert_close(axes.centre + a @ axes.directions.T + rest, x)
    assert (rest @ axes.directions).abs().max() < 1e-12
    mean, _ = axes.split(generator.mean(z))
    torch.testing.assert_close(axes.generator.mean(z), mean.detach())


def make_importance(generator, k=20):
    entropy = ImportanceEntropy(generator.latent_dim, k, like=generator.log_sigma)
    with torch.no_grad():
        entropy.log_eta.copy_(-0.5 * generator.precision().diagonal().log())
    return entropy


@pytest.mark.parametrize(
    "make",
    [
        make_importance,
        lambda g: HMCEntropy(g.latent_dim, burn_in=5, step_size=0.1, like=g.log_sigma),
        lambda g: HMCEntropy(g.latent_dim, force="prior_only", burn_in=5, step_size=0.1, like=g.log_sigma),
        lambda g: LatentEntropy(),
    ],
    ids=["importance", "full", "prior_only", "latent"],
)
def test_an_estimator_along_the_axes_gives_the_same_direction_as_at_x(make):
    generator = make_orthogonal((*LENGTHS, 0.0))
    z0, x = generator.sample_pair(30)
    torch.manual_seed(1)
    at_x = make(generator).direction(generator, z0, x)
    torch.manual_seed(1)
    along = AxisEntropy(make(generator), PrincipalAxes(generator)).direction(generator, z0, x)
    torch.testing.assert_close(along, at_x.detach())


def test_columns_that_are_not_orthogonal_are_refused():
    with raises_with(IncompatibleModel, "PrincipalAxes", "orthogonal"):
        PrincipalAxes(make_linear_generator(torch.tensor([[1.0, 0.1], [0.0, 1.0], [0.0, 0.0]]), sigma=0.5))


class ExactEntropy(EntropyGradient):
    """−score of the one-dimensional marginals a_j ~ N(0, s_j² + σ²)."""

    def direction(self, generator, z0, x):
        return x / (generator.net.scale.square() + generator.sigma.square())


def test_an_exact_estimator_has_no_error():
    generator = make_orthogonal(LENGTHS)
    error = score_error(
        AxisEntropy(ExactEntropy(), PrincipalAxes(generator)), generator, generator.sample_pair(40), repeats=2
    )
    assert max(abs(error.signed_bias), error.absolute_bias, error.rms_bias, error.deviation) < 1e-6


def test_the_bias_of_z0_has_a_closed_form():
    """z0 − E[z|x] has the covariance 1/(1 + s²/σ²) of the posterior, so E‖bias‖² = Σ s²/σ⁴ / (1 + s²/σ²)."""
    torch.manual_seed(2)
    generator = make_orthogonal(LENGTHS)
    error = score_error(
        AxisEntropy(LatentEntropy(), PrincipalAxes(generator)),
        generator,
        generator.sample_pair(20_000),
        repeats=2,
    )
    squares = torch.tensor(LENGTHS, dtype=torch.float64).square()
    expected = float((squares / 0.3**4 / (1 + squares / 0.3**2)).sum() / 12) ** 0.5
    assert error.rms_bias == pytest.approx(expected, rel=0.02)
    assert error.deviation < 1e-6


def run_steps(study, steps, batch=200):
    torch.manual_seed(3)
    stream = Gaussian(2 * study.energy.latent_dim).stream(batch, seed=3)
    return [study.step(stream.next_batch().double()) for _ in range(steps)]


def test_importance_sampling_is_tuned_to_the_posterior_and_its_loss_falls():
    generator = make_orthogonal((3.0, 2.5, 2.0, 1.8, 1.5, 1.2, 1.0, 0.8, 0.7, 0.5))
    study = ImportanceStudy(generator)
    losses = [float(metrics["loss"]) for metrics in run_steps(study, 500)]
    torch.testing.assert_close(
        study.entropy.eta, generator.precision().diagonal().detach().rsqrt(), rtol=0.1, atol=0
    )
    assert sum(losses[-50:]) < sum(losses[:50])
    assert float(posterior_ess(study.entropy, study.axes.generator, 20_000).mean()) == pytest.approx(
        3.01, rel=0.03
    )


@pytest.mark.parametrize("force", ["full", "prior_only"])
def test_hmc_is_tuned_to_its_target_and_reports_its_acceptance(force, monkeypatch):
    seen = []
    adapt = StepSize.adapt

    def record_call(self, acceptance, boost=1.0):
        seen.append(float(acceptance))
        adapt(self, acceptance, boost)

    monkeypatch.setattr(StepSize, "adapt", record_call)
    reports = run_steps(HMCStudy(make_orthogonal(LENGTHS), force=force, adaptation=0.05), 400)
    assert len(seen) == 800
    for report, pair in zip(reports, zip(seen[::2], seen[1::2], strict=True), strict=True):
        assert float(report["acceptance"]) == pytest.approx(sum(pair) / 2, abs=2e-3)
        assert float(report["loss"]) == pytest.approx((float(report["acceptance"]) - 0.67) ** 2, abs=1e-9)
    assert sum(seen[-100:]) / 100 == pytest.approx(0.67, abs=0.03)


def test_hmc_is_measured_with_the_burn_in_under_study_and_a_fixed_step_size():
    study = HMCStudy(make_orthogonal(LENGTHS), burn_in=7)
    run_steps(study, 3)
    tuned, step = study.make_tuned_entropy(), float(study.entropy.step.value)
    assert (tuned.burn_in, study.entropy.burn_in) == (7, 2)
    tuned.direction(study.axes.generator, *study.make_pairs(torch.randn(10, 8, dtype=torch.float64)))
    assert float(tuned.step.value) == step == float(study.entropy.step.value)
    assert step != 1 / 4


def test_the_tuning_pairs_are_samples_of_the_generator():
    study = LatentStudy(make_orthogonal(LENGTHS))
    _, a = study.make_pairs(torch.randn(100_000, 8, dtype=torch.float64))
    expected = torch.tensor(LENGTHS, dtype=torch.float64).square() + 0.3**2
    torch.testing.assert_close(a.var(0), expected, rtol=0.03, atol=0)
    assert not a.requires_grad

"""Entropy-gradient estimators on the linear-Gaussian generator, where all targets have closed forms."""

import math

import pytest
import torch
from oracles import assert_mean, fit_digits_ppca, make_linear_generator, tune_estimator

from vera.entropy import HMCEntropy, ImportanceEntropy
from vera.evaluation import (
    matched_gaussian_ess,
    posterior_ess,
    prior_ess,
    score_error,
    shifted_gaussian_ess,
)
from vera.models import mlp_generator

WEIGHTS = {
    1: torch.tensor([[0.8], [-0.5], [0.3]], dtype=torch.float64),
    2: torch.tensor([[0.8, 0.1], [-0.5, 0.6], [0.3, 0.4]], dtype=torch.float64),
}


def make_importance_entropy(generator, k, width=1.0):
    """Return an estimator whose η is `width` times the deviation of the posterior."""
    entropy = ImportanceEntropy(generator.latent_dim, k, like=generator.log_sigma)
    with torch.no_grad():
        entropy.log_eta.copy_(math.log(width) - 0.5 * generator.precision().diagonal().log())
    return entropy


@pytest.mark.parametrize("d", [1, 2])
def test_importance_score_converges_to_the_exact_score_as_k_grows(d):
    torch.manual_seed(d)
    generator = make_linear_generator(WEIGHTS[d], sigma=0.4)
    with torch.no_grad():
        pairs = generator.sample_with_latent(8)
    errors = [
        score_error(make_importance_entropy(generator, k, width=2.0), generator, pairs, repeats=400)
        for k in (2, 20, 2_000)
    ]
    assert errors[0].rms_bias > 3 * errors[1].rms_bias > 9 * errors[2].rms_bias
    assert errors[2].rms_bias < 2 * errors[2].rms_noise


@pytest.mark.parametrize("d", [1, 2])
def test_importance_score_of_each_pair_is_in_its_confidence_interval(d):
    torch.manual_seed(10 + d)
    generator = make_linear_generator(
        WEIGHTS[d], sigma=0.4, bias=torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    )
    entropy = make_importance_entropy(generator, 5_000, width=2.0)
    with torch.no_grad():
        z0, x = generator.sample_with_latent(6)
    scores = torch.stack([-entropy.direction(generator, z0, x) for _ in range(300)])
    assert_mean(scores.flatten(1), generator.exact_score(x).detach().flatten())


def draw_entropy_gradients(generator, entropy, repeats, batch):
    """Return independent estimates of the gradient of H for W and log σ, through the graph of training."""
    draws = []
    for _ in range(repeats):
        z0, x = generator.sample_with_latent(batch)
        surrogate = (entropy.direction(generator, z0, x.detach()) * x).sum() / batch
        weight, log_sigma = torch.autograd.grad(surrogate, [generator.weight, generator.log_sigma])
        draws.append(torch.cat([weight.flatten(), log_sigma.view(1)]))
    return torch.stack(draws)


@pytest.mark.parametrize("d", [1, 2])
def test_entropy_gradient_for_weight_and_log_sigma(d):
    torch.manual_seed(20 + d)
    generator = make_linear_generator(WEIGHTS[d], sigma=0.4)
    inverse = torch.linalg.inv(generator.covariance().detach())
    closed_form = torch.cat(
        [(inverse @ generator.weight.detach()).flatten(), (0.4**2 * inverse.trace()).view(1)]
    )
    by_autograd = torch.autograd.grad(generator.entropy(), [generator.weight, generator.log_sigma])
    torch.testing.assert_close(torch.cat([by_autograd[0].flatten(), by_autograd[1].view(1)]), closed_form)
    draws = draw_entropy_gradients(
        generator, make_importance_entropy(generator, 1_000, width=2.0), repeats=200, batch=200
    )
    assert_mean(draws, closed_form)


def test_entropy_gradient_by_hmc():
    torch.manual_seed(3)
    generator = make_linear_generator(WEIGHTS[2], sigma=0.4)
    inverse = torch.linalg.inv(generator.covariance().detach())
    closed_form = torch.cat(
        [(inverse @ generator.weight.detach()).flatten(), (0.4**2 * inverse.trace()).view(1)]
    )
    entropy = HMCEntropy(2, burn_in=20, kept=5, step_size=0.4, adaptation=1e-6, like=generator.log_sigma)
    assert_mean(draw_entropy_gradients(generator, entropy, repeats=100, batch=200), closed_form)


def test_without_spread_around_z0_only_the_noise_contributes():
    """With z_i = z0 the gradient for W has mean zero, and that for log σ has mean D."""
    torch.manual_seed(4)
    generator = make_linear_generator(WEIGHTS[2], sigma=0.4)
    draws = draw_entropy_gradients(
        generator, make_importance_entropy(generator, 5, width=1e-9), repeats=300, batch=100
    )
    assert_mean(draws, torch.tensor([0.0] * 6 + [3.0]))


@pytest.mark.parametrize("shared", [False, True])
def test_elbo_tunes_eta_to_the_posterior(shared):
    """η_j² = 1/P_jj; one shared η² is 1 / mean P_jj."""
    torch.manual_seed(5)
    generator = make_linear_generator(WEIGHTS[2], sigma=0.4)
    diagonal = generator.precision().diagonal().detach()
    expected = (diagonal.mean().view(1) if shared else diagonal).rsqrt()
    entropy = ImportanceEntropy(2, lr=0.01, shared_eta=shared, like=generator.log_sigma)
    tune_estimator(entropy, generator, steps=500, batch=500)
    late = []
    for _ in range(200):
        tune_estimator(entropy, generator, steps=1, batch=500)
        late.append(entropy.eta)
    torch.testing.assert_close(torch.stack(late).mean(0), expected, rtol=0.03, atol=0)


def test_elbo_gradient_vanishes_at_the_optimal_eta_only():
    torch.manual_seed(6)
    generator = make_linear_generator(WEIGHTS[2], sigma=0.4)

    def gradients(width):
        entropy = make_importance_entropy(generator, 20, width)
        with torch.no_grad():
            batches = [generator.sample_with_latent(200) for _ in range(200)]
        return torch.stack(
            [torch.autograd.grad(entropy.elbo(generator, *b).mean(), entropy.log_eta)[0] for b in batches]
        )

    assert_mean(gradients(1.0), 0.0)
    assert (gradients(0.8).mean(0) > 0).all()
    assert (gradients(1.2).mean(0) < 0).all()


def test_tuning_computes_no_gradient_for_the_generator():
    generator = mlp_generator(2)
    entropy = ImportanceEntropy(2)
    z0, x = generator.sample_with_latent(10)
    entropy.tune(generator, z0, x)
    assert all(p.grad is None for p in generator.parameters())
    assert not entropy.direction(generator, z0, x).requires_grad


def test_direction_is_the_weighted_posterior_mean_for_any_chunks(monkeypatch):
    """The same draws give the same direction for every number of chunks."""
    torch.manual_seed(7)
    generator = make_linear_generator(WEIGHTS[2], sigma=0.4)
    log_w, offsets = torch.randn(7, 4, dtype=torch.float64), torch.randn(7, 4, 3, dtype=torch.float64)
    expected = -(log_w.softmax(0).unsqueeze(-1) * offsets).sum(0) / 0.4**2
    for chunks in (1, 2, 3, 7, 50):
        entropy = ImportanceEntropy(2, 7, chunks=chunks, like=generator.log_sigma)
        at = iter(range(7))

        def draw(_g, _z0, _x, size, at=at):
            taken = [next(at) for _ in range(size)]
            return log_w[taken].clone(), offsets[taken].clone()

        monkeypatch.setattr(entropy, "_draw", draw)
        torch.testing.assert_close(
            entropy.direction(generator, torch.zeros(4, 2), torch.zeros(4, 3)), expected
        )


@pytest.mark.parametrize(
    ("d", "expected"), [(1, 13.2), (2, 9.43), (10, 3.01), (50, 1.57), (100, 1.364), (128, 1.314)]
)
def test_ess_of_a_matched_gaussian_proposal(d, expected):
    torch.manual_seed(d)
    assert float(matched_gaussian_ess(d, repeats=40_000).mean()) == pytest.approx(expected, rel=0.012)


def test_ess_of_the_estimator_itself_on_an_orthogonal_linear_generator():
    """Uses the weights of the estimator itself; W has orthogonal columns and η is the posterior deviation."""
    torch.manual_seed(8)
    basis, _ = torch.linalg.qr(torch.randn(12, 10, dtype=torch.float64))
    generator = make_linear_generator(basis * torch.linspace(0.5, 3, 10), sigma=0.3)
    ess = posterior_ess(make_importance_entropy(generator, 20), generator, 20_000)
    assert float(ess.mean()) == pytest.approx(3.01, rel=0.02)
    assert float(prior_ess(generator, 500).mean()) < 1.2


@pytest.mark.parametrize(
    ("offset", "expected"), [(0, 20), (0.1, 8.7), (0.25, 3.1), (0.5, 1.74), (1, 1.31), (2, 1.14), (5, 1.05)]
)
def test_ess_against_the_offset_of_the_proposal(offset, expected):
    torch.manual_seed(9)
    assert float(shifted_gaussian_ess(offset, repeats=20_000).mean()) == pytest.approx(expected, rel=0.02)


@pytest.fixture(scope="module")
def ppca_errors():
    torch.manual_seed(10)
    generator = fit_digits_ppca()
    with torch.no_grad():
        pairs = generator.sample_with_latent(10)
    errors = {}
    for force in ("full", "prior_only"):
        entropy = HMCEntropy(100, force=force)
        tune_estimator(entropy, generator, steps=400, batch=64)
        errors[force] = score_error(entropy, generator, pairs, repeats=200)
    errors["importance"] = score_error(make_importance_entropy(generator, 20), generator, pairs, repeats=500)
    errors["z0"] = score_error(make_importance_entropy(generator, 1, width=1e-9), generator, pairs, repeats=2)
    return errors


def test_full_force_is_far_less_biased_than_prior_force(ppca_errors):
    assert ppca_errors["prior_only"].rms_bias > 2.8 * ppca_errors["full"].rms_bias
    assert ppca_errors["full"].rms_bias < ppca_errors["z0"].rms_bias / 3


def test_prior_force_hardly_moves_from_z0(ppca_errors):
    assert ppca_errors["prior_only"].rms_bias > 0.9 * ppca_errors["z0"].rms_bias
    assert ppca_errors["prior_only"].deviation < 0.3 * ppca_errors["full"].deviation


def test_importance_sampling_removes_a_fifth_of_the_bias_in_100_dimensions(ppca_errors):
    kept = ppca_errors["importance"].rms_bias / ppca_errors["z0"].rms_bias
    assert 0.75 < kept < 0.87
    assert (
        ppca_errors["full"].rms_bias < ppca_errors["importance"].rms_bias < ppca_errors["prior_only"].rms_bias
    )

"""Virtual adversarial training with a known worst direction.

For logits W x + b the Hessian of KL(p(·|x) ‖ p(·|x + r)) at r = 0 is Wᵀ (diag p − p pᵀ) W. Its first
eigenvector is the adversarial direction, and a short step of length ε along it gives a divergence of half the
first eigenvalue times ε².
"""

import math

import numpy as np
import pytest
import torch
from joint_helpers import (
    CLASSES,
    DIM,
    LinearClassifier,
    make_classifier,
    make_labelled_batch,
    plain_class_entropy,
    plain_cross_entropy,
    stored_gradients,
    weight_gradients,
)

from vera.data.labelled import LabelledBatch
from vera.joint import VAT
from vera.joint.vat import adversarial_direction, kl_divergence, normalise

WEIGHT = torch.tensor(
    [[2.0, 0.3, -0.1], [-1.0, 0.8, 0.2], [0.4, -0.9, 0.5], [-0.7, 0.1, -0.6]], dtype=torch.float64
)
BIAS = torch.tensor([0.3, -0.2, 0.1, 0.0], dtype=torch.float64)


def linear():
    return LinearClassifier(WEIGHT, BIAS)


def points(n=12):
    return torch.randn(n, DIM, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 0.5


def direction_at(classifier, x, seed=0, **options):
    torch.manual_seed(seed)
    return adversarial_direction(classifier, x, classifier.logits(x).detach(), **options)


def worst_directions(x):
    """Return the largest eigenvalue and its eigenvector of the Hessian of each point, by numpy."""
    logits = x.numpy() @ WEIGHT.numpy().T + BIAS.numpy()
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    covariance = [np.diag(row) - np.outer(row, row) for row in p]
    values, vectors = zip(
        *(np.linalg.eigh(WEIGHT.numpy().T @ c @ WEIGHT.numpy()) for c in covariance), strict=True
    )
    return np.stack([v[-1] for v in values]), np.stack([v[:, -1] for v in vectors])


def divergence_after_step(classifier, x, direction, epsilon):
    return kl_divergence(classifier.logits(x), classifier.logits(x + epsilon * direction)).detach()


def test_kl_divergence_of_two_distributions():
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(CLASSES), 6), rng.dirichlet(np.ones(CLASSES), 6)
    found = kl_divergence(torch.from_numpy(np.log(p)) + 3.0, torch.from_numpy(np.log(q)) - 7.0)
    np.testing.assert_allclose(found.numpy(), (p * np.log(p / q)).sum(1), rtol=1e-12)
    assert kl_divergence(torch.from_numpy(np.log(p)), torch.from_numpy(np.log(p))).abs().max() == 0


def test_power_iteration_finds_the_worst_direction():
    x = points()
    eigenvalues, eigenvectors = worst_directions(x)
    found = direction_at(linear(), x, xi=1e-4, iterations=30)
    cosines = np.abs((found.numpy() * eigenvectors).sum(1))
    assert cosines.min() > 0.99
    np.testing.assert_allclose(found.norm(dim=1), 1.0, rtol=1e-12)
    epsilon = 1e-3
    np.testing.assert_allclose(
        divergence_after_step(linear(), x, found, epsilon), 0.5 * epsilon**2 * eigenvalues, rtol=0.01
    )


def test_one_iteration_turns_directions_towards_the_worst_one():
    """Multiplication by a positive semi-definite matrix never lowers a Rayleigh quotient."""
    x = points(200)
    eigenvalues, _ = worst_directions(x)
    start, once = (direction_at(linear(), x, xi=1e-4, iterations=n) for n in (0, 1))
    shares = [
        2 * divergence_after_step(linear(), x, d, 1e-3) / 1e-6 / torch.from_numpy(eigenvalues)
        for d in (start, once)
    ]
    assert (shares[1] > shares[0] - 1e-3).all()
    assert shares[0].mean() < 0.6
    assert shares[1].mean() > 0.75
    assert shares[1].max() < 1.01


def test_an_iteration_follows_the_gradient_at_the_probed_point():
    """∇_d KL(p ‖ q) at x + ξ d is ξ Wᵀ (q − p); for large ξ the KL is not even in d, so the sign matters."""
    x, classifier = points(), linear()
    start, once = (direction_at(classifier, x, xi=3.0, iterations=n) for n in (0, 1))
    with torch.no_grad():
        p, q = (torch.softmax(classifier.logits(at), dim=1) for at in (x, x + 3.0 * start))
    slope = (q - p) @ WEIGHT
    torch.testing.assert_close(once, slope / slope.norm(dim=1, keepdim=True))


def test_the_start_is_random_and_symmetric():
    x = points(4_000)
    start = direction_at(linear(), x, xi=1.0, iterations=0)
    assert not torch.equal(start, direction_at(linear(), x, seed=1, xi=1.0, iterations=0))
    assert start.mean(0).abs().max() < 5 * 0.6 / math.sqrt(len(x))
    assert (start.square().mean(0) - 1 / DIM).abs().max() < 0.03


@pytest.mark.parametrize("scale", [1e-40, 1e-30, 1e-20, 1.0, 1e20, 1e30])
def test_a_direction_has_length_one_for_any_gradient_length(scale):
    """In float32 the squares of a gradient below 1e-23 underflow, but its direction is still known."""
    found = normalise(torch.tensor([[3.0, 4.0, 0.0], [0.0, -2.0, 0.0]]) * scale)
    tolerance = 1e-4 if scale < 1e-38 else 1e-6  # subnormal floats have few digits
    torch.testing.assert_close(
        found, torch.tensor([[0.6, 0.8, 0.0], [0.0, -1.0, 0.0]]), atol=tolerance, rtol=0
    )
    assert found.norm(dim=1).tolist() == pytest.approx([1.0, 1.0], rel=1e-6)


def test_a_zero_gradient_stays_zero_and_non_finite_values_stay_non_finite():
    assert normalise(torch.zeros(2, 3)).tolist() == [[0.0] * 3] * 2
    assert not normalise(torch.tensor([[math.nan, 1.0]])).isfinite().all()
    assert not normalise(torch.tensor([[math.inf, 1.0]])).isfinite().all()
    flat = LinearClassifier(torch.zeros(2, 3))
    assert direction_at(flat, torch.ones(4, 3), xi=10.0, iterations=2).abs().max() == 0


def test_directions_of_a_certain_classifier_have_length_one():
    certain = LinearClassifier(torch.tensor([[30.0, 1.0, 0.0], [-30.0, 0.0, 1.0]]))
    found = direction_at(certain, torch.ones(6, 3), xi=0.1, iterations=1)
    assert found.norm(dim=1).tolist() == pytest.approx([1.0] * 6, rel=1e-5)


def make_vat(classifier, **settings):
    return VAT(classifier, **{"alpha": 0.0, "beta": 0.0, "epsilon": 0.7, "xi": 0.5, "lr": 1e-9} | settings)


def step_gradients(classifier, batch, **settings):
    """Return the gradients of one update, the direction that it used, and its metrics."""
    direction = direction_at(classifier, batch.x, xi=0.5, iterations=settings.get("power_iterations", 1))
    torch.manual_seed(0)
    metrics = make_vat(classifier, **settings).update(batch)
    return stored_gradients(classifier), direction, metrics


def plain_smoothness(classifier, x, others, p):
    log_q = classifier.logits(others) - classifier.logits(others).exp().sum(1, keepdim=True).log()
    return (p * (p.log() - log_q)).sum() / len(x)


@pytest.mark.parametrize("make", [linear, make_classifier], ids=["linear", "network"])
def test_predictions_at_the_point_itself_are_constants(make):
    batch, classifier, twin = make_labelled_batch(shared=False), make(), make()
    found, direction, metrics = step_gradients(classifier, batch)
    p = torch.softmax(twin.logits(batch.x), dim=1)
    others = batch.x + 0.7 * direction
    expected = plain_smoothness(twin, batch.x, others, p.detach())
    assert float(metrics["smoothness"]) == pytest.approx(float(expected.detach()), rel=1e-10)
    torch.testing.assert_close(found, weight_gradients(expected, twin), atol=1e-10, rtol=0)
    p = torch.softmax(twin.logits(batch.x), dim=1)
    through_both = weight_gradients(plain_smoothness(twin, batch.x, others, p), twin)
    assert (found - through_both).abs().max() > 1e-3


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.0), (0.0, 1.0), (0.3, 2.5)])
@pytest.mark.parametrize("power_iterations", [1, 3])
def test_the_loss_is_the_sum_of_its_three_terms(shared, alpha, beta, power_iterations):
    batch, classifier, twin = make_labelled_batch(shared), make_classifier(), make_classifier()
    found, direction, metrics = step_gradients(
        classifier, batch, alpha=alpha, beta=beta, power_iterations=power_iterations
    )
    p = torch.softmax(twin.logits(batch.x), dim=1).detach()
    loss = (
        alpha * plain_cross_entropy(twin, batch.labelled, batch.labels)
        + beta * plain_class_entropy(twin, batch.x)
        + plain_smoothness(twin, batch.x, batch.x + 0.7 * direction, p)
    )
    assert float(metrics["loss"]) == pytest.approx(float(loss.detach()), rel=1e-10)
    torch.testing.assert_close(found, weight_gradients(loss, twin), atol=1e-10, rtol=0)


def test_training_smooths_the_predictions():
    batch = make_labelled_batch(shared=True, n=40)
    classifier = make_classifier()
    torch.manual_seed(0)
    method = make_vat(classifier, lr=0.01)
    values = [float(method.update(batch)["smoothness"]) for _ in range(60)]
    assert sum(values[-5:]) < 0.2 * sum(values[:5])


def test_directions_of_images_cover_all_axes():
    flat, image = linear(), linear()
    image.logits = lambda x: LinearClassifier.logits(image, x.flatten(1))
    x = points(5)
    torch.testing.assert_close(
        direction_at(image, x.view(5, 1, 3), xi=0.1, iterations=2).flatten(1),
        direction_at(flat, x, xi=0.1, iterations=2),
    )


def test_the_batch_is_unchanged():
    batch = make_labelled_batch(shared=False)
    copy = LabelledBatch(batch.x.clone(), batch.labelled.clone(), batch.labels.clone())
    make_vat(make_classifier(), alpha=1.0, beta=1.0).update(batch)
    assert torch.equal(batch.x, copy.x)
    assert torch.equal(batch.labelled, copy.labelled)
    assert not batch.x.requires_grad

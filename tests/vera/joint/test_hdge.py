"""HDGE compared with a plain form: one point, one class and one stored row at a time, in float64."""

import math
from dataclasses import replace

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
    plain_joint_loss,
    stored_gradients,
    weight_gradients,
)

from vera.joint import HDGE
from vera.joint.hdge import LogitQueue, class_contrastive_loss

shared_or_not = pytest.mark.parametrize("shared", [False, True], ids=["apart", "shared"])


def hdge(classifier=None, **settings):
    torch.manual_seed(0)
    return HDGE(
        classifier or make_classifier(), **{"queue": 6, "capacity": 32, "sampler_steps": 2} | settings
    )


def plain_score(direction, label):
    """Return logsumexp_c(onehot(y)_c · f̂_c), term by term."""
    return sum((direction[c] if c == label else 0 * direction[c]).exp() for c in range(len(direction))).log()


def plain_contrast(logits, labels, queue, temperature):
    losses = []
    for row, label in zip(logits, labels.tolist(), strict=True):
        positive = (plain_score(row / (row**2).sum().sqrt(), label) / temperature).exp()
        negatives = sum((plain_score(stored, label) / temperature).exp() for stored in queue)
        losses.append(-(positive / (positive + negatives)).log())
    return sum(losses) / len(losses)


def plain_loss(classifier, batch, queue, *, temperature=0.1, alpha=1.0, beta=0.0):
    contrast = plain_contrast(classifier.logits(batch.labelled), batch.labels, queue, temperature)
    loss = alpha * plain_cross_entropy(classifier, batch.labelled, batch.labels) + contrast
    return loss + (beta * plain_class_entropy(classifier, batch.x) if beta else 0.0)


@shared_or_not
@pytest.mark.parametrize("temperature", [0.1, 0.7])
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.0), (0.3, 0.2)])
def test_a_step_minimises_the_plain_form_of_the_loss(shared, temperature, alpha, beta):
    method, batch = hdge(temperature=temperature, alpha=alpha, beta=beta), make_labelled_batch(shared)
    method.begin(batch)
    expected = plain_loss(
        method.energy, batch, method.negatives.rows, temperature=temperature, alpha=alpha, beta=beta
    )
    slope = weight_gradients(expected, method.energy)
    metrics = method.step(batch)
    torch.testing.assert_close(metrics["loss"], expected.detach())
    torch.testing.assert_close(stored_gradients(method.energy), slope)


def test_the_loss_is_a_softmax_over_all_scores_with_the_positive_first():
    torch.manual_seed(1)
    directions = torch.nn.functional.normalize(torch.randn(5, CLASSES, dtype=torch.float64))
    queue = torch.nn.functional.normalize(torch.randn(7, CLASSES, dtype=torch.float64))
    labels = torch.tensor([0, 3, 1, 1, 2])
    onehot = torch.nn.functional.one_hot(labels, CLASSES)
    positive = torch.logsumexp(onehot * directions, dim=1, keepdim=True)
    negative = torch.logsumexp(onehot.unsqueeze(1) * queue.unsqueeze(0), dim=2)
    scores = torch.cat([positive, negative], dim=1) / 0.1
    expected = torch.nn.functional.cross_entropy(scores, torch.zeros(5, dtype=torch.int64), reduction="none")
    torch.testing.assert_close(class_contrastive_loss(directions, labels, queue, 0.1), expected)


def test_equal_scores_give_the_log_of_the_number_of_rows():
    rows = torch.full((10, 4), 0.5, dtype=torch.float64)
    assert class_contrastive_loss(rows[:3], torch.tensor([0, 1, 2]), rows, 0.1).tolist() == pytest.approx(
        [math.log(11)] * 3
    )


@pytest.mark.parametrize("temperature", [0.1, 0.05])
def test_the_temperature_divides_the_scores(temperature):
    """With one negative, opposite to the positive, the odds are e^{(s⁺ − s⁻)/τ}."""
    rows = torch.tensor([[1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64)
    loss = class_contrastive_loss(rows[:1], torch.tensor([0]), rows[1:], temperature)
    gap = math.log(math.e + 1) - math.log(1 / math.e + 1)
    assert float(loss) == pytest.approx(math.log1p(math.exp(-gap / temperature)), rel=1e-12)


@shared_or_not
def test_density_weight_adds_jems_loss(shared):
    """γ and the samples belong to JEM's term; α and β count once."""
    settings = {"alpha": 0.3, "beta": 0.2, "gamma": 0.1, "penalty": "half"}
    method, batch = hdge(density_weight=0.4, **settings), make_labelled_batch(shared)
    method.begin(batch)
    samples = torch.randn(9, DIM, dtype=torch.float64)
    labels_only = plain_loss(method.energy, batch, method.negatives.rows, alpha=0.3, beta=0.2)
    expected = labels_only + 0.4 * plain_joint_loss(
        method.energy, batch, samples, **settings | {"alpha": 0.0, "beta": 0.0}
    )
    loss, metrics = method.energy_loss(batch, samples)
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(
        weight_gradients(loss, method.energy), weight_gradients(expected, method.energy)
    )
    assert {
        "loss",
        "cross_entropy",
        "contrast",
        "class_entropy",
        "f_data",
        "f_samples",
        "penalty",
    } == metrics.keys()


def test_density_weight_uses_jems_chains():
    slope = torch.tensor([0.3, -0.2, 0.1], dtype=torch.float64)
    method = hdge(
        LinearClassifier(slope.expand(CLASSES, DIM)),
        density_weight=1.0,
        noise=1e-9,
        restart=0.0,
        sampler_steps=20,
    )
    batch = make_labelled_batch(shared=True)
    method.begin(batch)
    before = method.buffer.chains.clone()
    method.step(batch)
    moved = (method.buffer.chains - before)[(method.buffer.chains != before).any(1)]
    assert len(moved) == len(batch)
    torch.testing.assert_close(moved, (20 * slope).expand_as(moved), rtol=0, atol=1e-6)
    assert method.training_samples(3).shape == (3, DIM)


def test_without_density_weight_there_are_no_chains():
    method, batch = hdge(), make_labelled_batch(shared=True)
    method.begin(batch)
    method.step(batch)
    assert not hasattr(method, "buffer")
    assert method.training_samples(3) is None


def test_the_queue_starts_with_random_directions():
    torch.manual_seed(2)
    rows = LogitQueue(4_000, 10, like=torch.zeros(())).rows
    assert rows.shape == (4_000, 10)
    torch.testing.assert_close(rows.square().sum(1), torch.ones(4_000))
    assert rows.mean(0).abs().max() < 5 / math.sqrt(10 * 4_000)
    assert not torch.equal(rows, LogitQueue(4_000, 10, like=torch.zeros(())).rows)


def test_the_queue_is_first_in_first_out():
    queue = LogitQueue(5, 1, like=torch.zeros(()))
    numbered = torch.arange(1.0, 20.0).unsqueeze(1)
    queue.push(numbered[:3])
    assert queue.rows[:3].flatten().tolist() == [1, 2, 3]
    queue.push(numbered[3:7])
    assert sorted(queue.rows.flatten().tolist()) == [3, 4, 5, 6, 7]
    queue.push(numbered[7:9])
    assert sorted(queue.rows.flatten().tolist()) == [5, 6, 7, 8, 9]
    queue.push(numbered[:12])
    assert sorted(queue.rows.flatten().tolist()) == [8, 9, 10, 11, 12], (
        "a larger push must keep the last rows"
    )


def test_a_step_stores_its_logits_and_contrasts_with_earlier_ones_only():
    method, batch = hdge(queue=14), make_labelled_batch(shared=True, n=9)
    method.begin(batch)
    at_random = method.negatives.rows.clone()
    seen = torch.nn.functional.normalize(method.energy.logits(batch.labelled)).detach()
    method.step(batch)
    torch.testing.assert_close(method.negatives.rows, torch.cat([seen, at_random[9:]]))
    other = make_labelled_batch(shared=True, n=9, seed=5)
    expected = plain_loss(method.energy, other, method.negatives.rows)
    torch.testing.assert_close(method.step(other)["loss"], expected.detach())
    assert not method.negatives.rows.requires_grad


def test_the_queue_is_part_of_the_saved_state():
    batches = [make_labelled_batch(shared=True, n=4, seed=seed) for seed in range(5)]
    one, other = hdge(), hdge(make_classifier(seed=9))
    for method in (one, other):
        method.begin(batches[0])
    for batch in batches[:4]:
        one.step(batch)
    other.load_state_dict(one.state_dict())
    assert one.negatives.oldest == other.negatives.oldest == 4 * 4 % 6
    assert torch.equal(one.negatives.rows, other.negatives.rows)
    assert torch.equal(one.step(batches[4])["loss"], other.step(batches[4])["loss"])
    assert torch.equal(one.negatives.rows, other.negatives.rows)


def test_unlabelled_points_do_not_affect_the_loss():
    batch = make_labelled_batch(shared=False)
    losses = []
    for x in (batch.x, batch.x + 1):
        method = hdge()
        method.begin(replace(batch, x=x))
        losses.append(method.step(replace(batch, x=x))["loss"])
    assert torch.equal(*losses)


def test_defaults_are_those_of_the_hdge_paper():
    method = HDGE(make_classifier())
    assert (method.queue, method.temperature, method.density_weight) == (65_536, 0.1, 0.0)
    assert method.negatives.rows.shape == (65_536, CLASSES)
    assert (method.lr, method.betas) == (1e-4, (0.9, 0.999))
    assert method.optimiser.param_groups[0]["betas"] == method.betas

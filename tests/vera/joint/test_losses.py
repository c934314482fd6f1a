"""The joint loss and its gradient compared with plain forms in float64; the sign of β; constants."""

import itertools

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

from vera.data.labelled import LabelledBatch
from vera.joint import JEM, JointMEG, JointMethod, JointVERA, Supervised
from vera.joint.losses import class_entropy, joint_contrastive_loss
from vera.models import StatisticsNetwork, mlp_generator
from vera.spec.registry import joint_methods

WEIGHTS = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.7, 0.4, 0.3), (100.0, 2.0, 0.1)]
"""α, β and γ, separately and together."""


def samples(n=6):
    return torch.randn(n, DIM, dtype=torch.float64, generator=torch.Generator().manual_seed(5))


@pytest.mark.parametrize("shared", [False, True], ids=["apart", "shared"])
@pytest.mark.parametrize("penalty", ["half", "full"])
@pytest.mark.parametrize(("alpha", "beta", "gamma"), WEIGHTS)
@pytest.mark.parametrize("activation", ["softplus", "leaky_relu"])
def test_the_joint_loss_and_its_gradient_match_the_plain_form(
    activation, alpha, beta, gamma, penalty, shared
):
    classifier, batch = make_classifier(activation), make_labelled_batch(shared)
    loss, metrics = joint_contrastive_loss(
        classifier, batch, samples(), gamma, penalty, alpha=alpha, beta=beta
    )
    expected = plain_joint_loss(
        classifier, batch, samples(), alpha=alpha, beta=beta, gamma=gamma, penalty=penalty
    )
    assert float(loss.detach()) == pytest.approx(float(expected.detach()), rel=1e-12)
    torch.testing.assert_close(
        weight_gradients(loss, classifier), weight_gradients(expected, classifier), atol=1e-10, rtol=1e-12
    )
    assert float(metrics["loss"]) == float(loss.detach())
    assert ("class_entropy" in metrics, "penalty" in metrics) == (beta > 0, gamma > 0)


def test_metrics_are_the_terms_of_the_loss():
    classifier, batch = make_classifier(), make_labelled_batch(shared=False)
    loss, metrics = joint_contrastive_loss(classifier, batch, samples(), 0.3, "half", alpha=0.7, beta=0.4)
    parts = {name: float(value) for name, value in metrics.items()}
    with torch.no_grad():
        assert parts["f_data"] == pytest.approx(float(classifier(batch.x).mean()))
        assert parts["f_samples"] == pytest.approx(float(classifier(samples()).mean()))
        assert parts["cross_entropy"] == pytest.approx(
            float(plain_cross_entropy(classifier, batch.labelled, batch.labels))
        )
        assert parts["class_entropy"] == pytest.approx(float(plain_class_entropy(classifier, batch.x)))
    weighted = parts["penalty"] + 0.7 * parts["cross_entropy"] + 0.4 * parts["class_entropy"]
    assert parts["loss"] == pytest.approx(parts["f_samples"] - parts["f_data"] + weighted)
    assert all(not value.requires_grad for value in metrics.values())
    assert loss.requires_grad


def test_class_entropy_of_known_distributions():
    p = torch.tensor([[0.25, 0.25, 0.25, 0.25], [0.5, 0.5, 0.0, 0.0]], dtype=torch.float64)
    assert class_entropy(p.clamp_min(1e-300).log()).item() == pytest.approx(
        (4 * 0.25 * 1.3862943611 + 0.6931471806) / 2
    )
    assert class_entropy(torch.tensor([[1e4, 0.0, -1e4]])).item() == 0


def test_a_step_on_the_beta_term_makes_predictions_more_certain():
    """With the data as samples the energy terms cancel."""
    classifier, batch = make_classifier(), make_labelled_batch(shared=False)
    before = float(plain_class_entropy(classifier, batch.x).detach())
    loss, _ = joint_contrastive_loss(classifier, batch, batch.x, 0.0, "half", alpha=0.0, beta=1.0)
    with torch.no_grad():
        for weight, slope in zip(
            classifier.parameters(), torch.autograd.grad(loss, list(classifier.parameters())), strict=True
        ):
            weight.sub_(slope, alpha=0.01)
    assert float(plain_class_entropy(classifier, batch.x).detach()) < before - 1e-4


@pytest.mark.parametrize("gamma", [0.0, 0.1])
def test_samples_are_constants_and_the_batch_is_unchanged(gamma):
    classifier, batch = make_classifier(), make_labelled_batch(shared=False)
    moving = samples().requires_grad_(True)
    loss, _ = joint_contrastive_loss(classifier, batch, moving * 1.0, gamma, "half", alpha=1.0, beta=0.1)
    loss.backward()
    assert moving.grad is None
    assert not batch.x.requires_grad
    assert batch.x.grad is None


def joint_method(name, classifier, **settings):
    generator = mlp_generator(DIM, hidden=(5,), sigma=0.1).double()
    networks = {
        "energy": classifier,
        "generator": generator,
        "statistics": StatisticsNetwork(DIM, 2, hidden=(5,)).double(),
    }
    cls = joint_methods.get(name)
    defaults = {"capacity": 20, "sampler_steps": 2} if hasattr(cls, "capacity") else {}
    return cls(**{role: networks[role] for role in cls.network_names()}, **defaults | settings)


CONTRASTIVE = [
    name
    for name in joint_methods
    if getattr(joint_methods.get(name), "energy_loss", None) is JointMethod.energy_loss
]


def test_three_methods_share_the_joint_loss():
    assert {joint_methods.get(name) for name in CONTRASTIVE} >= {JEM, JointMEG, JointVERA}


@pytest.mark.parametrize("shared", [False, True], ids=["apart", "shared"])
@pytest.mark.parametrize("penalty", ["half", "full"])
@pytest.mark.parametrize("name", CONTRASTIVE)
def test_an_energy_step_minimises_the_joint_loss_on_the_methods_samples(name, penalty, shared):
    torch.manual_seed(0)
    classifier, twin, batch = make_classifier(), make_classifier(), make_labelled_batch(shared)
    weights = {"alpha": 0.7, "beta": 0.4, "gamma": 0.3, "penalty": penalty}
    method = joint_method(name, classifier, **weights)
    method.begin(batch)
    used, plain = [], method.energy_loss

    def watched(seen, drawn):
        used.append((seen, drawn.detach().clone()))
        return plain(seen, drawn)

    method.energy_loss = watched
    metrics = method.step(batch)
    ((seen, drawn),) = used
    assert seen.is_shared == shared
    assert len(drawn) == len(batch.x)
    expected = plain_joint_loss(twin, batch, drawn, **weights)
    assert float(metrics["loss"]) == pytest.approx(float(expected.detach()), rel=1e-10)
    torch.testing.assert_close(
        stored_gradients(classifier), weight_gradients(expected, twin), atol=1e-10, rtol=1e-12
    )


@pytest.mark.parametrize("name", CONTRASTIVE)
def test_generated_and_stored_samples_are_constants_in_the_energy_loss(name):
    torch.manual_seed(0)
    method, batch = (
        joint_method(name, make_classifier(), beta=0.1, gamma=0.1),
        make_labelled_batch(shared=False),
    )
    method.begin(batch)
    plain, others = (
        method.energy_loss,
        [w for role, n in method.networks().items() if role != "energy" for w in n.parameters()],
    )

    def watched(seen, drawn):
        loss, metrics = plain(seen, drawn)
        reached = torch.autograd.grad(loss, others, retain_graph=True, allow_unused=True) if others else ()
        assert all(slope is None for slope in reached), "the energy loss has a gradient in another network"
        watched.called = True
        return loss, metrics

    method.energy_loss = watched
    method.step(batch)
    assert watched.called
    buffer = getattr(method, "buffer", None)
    assert buffer is None or not buffer.chains.requires_grad


@pytest.mark.parametrize("shared", [False, True], ids=["apart", "shared"])
def test_supervised_training_minimises_the_cross_entropy_on_labelled_points(shared):
    classifier, twin, batch = make_classifier(), make_classifier(), make_labelled_batch(shared)
    metrics = Supervised(classifier, lr=1e-9).step(batch)
    expected = plain_cross_entropy(twin, batch.labelled, batch.labels)
    assert float(metrics["loss"]) == pytest.approx(float(expected.detach()), rel=1e-12)
    torch.testing.assert_close(
        stored_gradients(classifier), weight_gradients(expected, twin), atol=1e-10, rtol=0
    )


def test_supervised_training_ignores_unlabelled_points():
    batch = make_labelled_batch(shared=False)
    other = LabelledBatch(batch.x + 100, batch.labelled, batch.labels)
    found = []
    for one in (batch, other):
        classifier = make_classifier()
        Supervised(classifier, lr=0.01).step(one)
        found.append(torch.cat([w.detach().flatten() for w in classifier.parameters()]))
    assert torch.equal(*found)


def test_the_penalty_of_a_linear_energy_has_its_closed_form():
    """With equal rows w, f = w·x + log C, so ‖∇f‖² = ‖w‖² everywhere."""
    w = torch.tensor([0.6, -0.8, 2.0], dtype=torch.float64)
    classifier, batch = LinearClassifier(w.expand(CLASSES, DIM)), make_labelled_batch(shared=True)
    for gamma, (penalty, factor) in itertools.product((0.1, 3.0), [("half", 0.5), ("full", 1.0)]):
        _, metrics = joint_contrastive_loss(classifier, batch, samples(), gamma, penalty, alpha=0.0, beta=0.0)
        assert float(metrics["penalty"]) == pytest.approx(gamma * factor * 5.0)

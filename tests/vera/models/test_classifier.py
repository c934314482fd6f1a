"""Classifiers as energy models: f compared with numpy in float64, the paper's sizes, invalid classifiers."""

import math

import numpy as np
import pytest
import torch
from facts import raises_with
from joint_helpers import CLASSES, DIM, LinearClassifier, make_classifier, make_labelled_batch
from scipy.special import logsumexp

from vera.data.labelled import LabelledBatch
from vera.errors import IncompatibleModel, SettingError
from vera.gradients import gradient
from vera.joint import VAT, JointVERA, Supervised
from vera.models import MLP, Classifier, MLPClassifier, mlp_generator
from vera.spec.registry import joint_methods, models
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_method


def leaky(x):
    return np.where(x > 0, x, 0.2 * x)


def numpy_logits(classifier, x):
    """Return the logits computed from the stored weights; weight norm is a gain times unit rows."""
    state = {name: value.numpy() for name, value in classifier.double().state_dict().items()}
    layers = sorted({name.split(".")[1] for name in state}, key=int)
    for layer in layers:
        gain, rows = (state.get(f"net.{layer}.parametrizations.weight.original{i}") for i in (0, 1))
        weight = state.get(f"net.{layer}.weight")
        if gain is not None:
            weight = gain * rows / np.linalg.norm(rows, axis=1, keepdims=True)
        x = x @ weight.T + state[f"net.{layer}.bias"]
        x = x if layer == layers[-1] else leaky(x)
    return x


@pytest.mark.parametrize("weight_normalised", [False, True])
def test_logits_and_f_agree_with_numpy(weight_normalised):
    torch.manual_seed(0)
    classifier = MLPClassifier(5, 3, hidden=(20, 10), weight_normalised=weight_normalised)
    with torch.no_grad():
        for weight in classifier.parameters():
            weight.mul_(3.0)
    x = torch.randn(40, 5, dtype=torch.float64)
    logits = numpy_logits(classifier, x.numpy())
    np.testing.assert_allclose(classifier.logits(x).detach(), logits, atol=1e-10)
    np.testing.assert_allclose(classifier(x).detach(), logsumexp(logits, axis=1), atol=1e-10)
    single = classifier.float()(x.float()).detach()
    np.testing.assert_allclose(single, logsumexp(logits, axis=1), atol=1e-4)


@pytest.mark.parametrize("size", [-1e4, -100.0, 100.0, 1e4])
def test_f_of_large_logits_neither_overflows_nor_underflows(size):
    classifier = LinearClassifier(torch.zeros(CLASSES, DIM), torch.full((CLASSES,), size))
    assert classifier(torch.zeros(1, DIM)).item() == pytest.approx(size + math.log(CLASSES), rel=1e-6)


def test_a_constant_on_all_logits_changes_only_f():
    x = make_labelled_batch(shared=True).x
    classifier = make_classifier()
    f, p, slope = classifier(x), torch.softmax(classifier.logits(x), 1), gradient(classifier, x)
    with torch.no_grad():
        classifier.net[-1].bias.add_(2.5)
    torch.testing.assert_close(classifier(x), f + 2.5)
    torch.testing.assert_close(torch.softmax(classifier.logits(x), 1), p)
    torch.testing.assert_close(gradient(classifier, x), slope)


def test_f_has_the_properties_of_a_logsumexp():
    x = make_labelled_batch(shared=True).x
    classifier = make_classifier()
    logits, f = classifier.logits(x).detach(), classifier(x).detach()
    assert (f > logits.amax(1)).all()
    assert (f <= logits.amax(1) + math.log(CLASSES)).all()
    torch.testing.assert_close(torch.log_softmax(logits, 1), logits - f.unsqueeze(1))
    of_each = torch.stack(
        [gradient(lambda v, c=c: classifier.logits(v)[:, c], x) for c in range(CLASSES)], dim=1
    )
    torch.testing.assert_close(
        gradient(classifier, x), (torch.softmax(logits, 1).unsqueeze(2) * of_each).sum(1)
    )


def count_weights(network):
    return sum(weight.numel() for weight in network.parameters())


@pytest.mark.parametrize(
    ("data_dim", "classes", "weight_normalised", "expected"),
    [
        (15, 2, False, 1_018_252),
        (174, 7, False, 1_178_507),
        (523, 6, False, 1_527_256),
        (784, 10, False, 1_789_260),
        (784, 10, True, 1_792_010),
    ],
)
def test_the_tabular_energies_have_the_papers_sizes(data_dim, classes, weight_normalised, expected):
    network = models.create(
        "mlp-classifier", data_dim=data_dim, classes=classes, weight_normalised=weight_normalised
    )
    assert count_weights(network) == expected
    assert network.logits(torch.zeros(2, data_dim)).shape == (2, classes)


@pytest.mark.parametrize(
    ("latent_dim", "data_dim", "output", "expected"),
    [
        (10, 15, "identity", 515_515),
        (128, 174, "identity", 654_174),
        (128, 523, "identity", 829_023),
        (128, 784, "tanh", 959_784),
    ],
)
def test_the_tabular_generators_have_the_papers_sizes(latent_dim, data_dim, output, expected):
    settings = {"hidden": (500, 500, 500), "activation": "softplus", "output": output}
    generator = models.create("mlp-generator", latent_dim=latent_dim, data_dim=data_dim, **settings)
    assert count_weights(generator) == expected + 1, "σ is one more parameter"
    mean = generator(torch.randn(64, latent_dim) * 100)
    assert bool(mean.abs().max() <= 1) == (output == "tanh")


def test_weight_norm_is_on_the_hidden_layers_only():
    plain, normalised = (MLPClassifier(4, 3, hidden=(6, 5), weight_normalised=flag) for flag in (False, True))
    assert count_weights(normalised) - count_weights(plain) == 6 + 5
    names = {name.rsplit(".", 1)[0] for name, _ in normalised.named_parameters() if "original" in name}
    assert len(names) == 2
    assert not any(name.startswith("net.4") for name in names), "the output must not have weight norm"


@pytest.mark.parametrize("make", [Supervised, VAT, lambda energy: JointVERA(energy, mlp_generator(3))])
def test_an_energy_without_classes_is_rejected(make):
    with raises_with(SettingError, "energy", "Classifier", "got MLP"):
        make(MLP(3))


def test_classes_and_dimensions_come_from_the_data():
    class SevenNumbers:
        data_dim, classes = 7, 5

    networks = {"energy": {"name": "mlp-classifier", "hidden": [8]}}
    spec = TrialSpec({"name": "any"}, networks, {"name": "supervised"}, steps=1)
    assert build_method(spec, SevenNumbers(), joint_methods).energy.logits(torch.zeros(1, 7)).shape == (1, 5)


class MisshapenClassifier(Classifier):
    """Returns logits of an arbitrary shape."""

    def __init__(self, *shape):
        super().__init__()
        self.weight, self.shape = torch.nn.Parameter(torch.zeros(1)), shape

    def logits(self, x):
        return self.weight.expand(len(x), *self.shape) + 0 * x.sum()

    def forward(self, x):
        return self.logits(x).flatten(1).sum(1)


@pytest.mark.parametrize("shape", [(2,), (4, 4)])
def test_logits_that_do_not_fit_the_labels_are_rejected_before_the_first_step(shape):
    batch = LabelledBatch(torch.zeros(4, DIM), torch.zeros(4, DIM), torch.tensor([0, 1, 2, 3]))
    with raises_with(IncompatibleModel, "supervised", str((2, *shape)), "class 3"):
        Supervised(MisshapenClassifier(*shape)).begin(batch)

"""Accuracy, Brier score, AUROC and calibration compared with scikit-learn and plain loops."""

import math

import numpy as np
import pytest
import torch
from facts import raises_with
from joint_helpers import Blobs, LinearClassifier
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, roc_auc_score

from vera.errors import IncompatibleModel, SettingError
from vera.evaluation import ClassificationEvaluation, Reliability, auroc, classification_metrics, predict
from vera.evaluation.classification import ECE_BINS, is_collapsed
from vera.models import MLP


def make_logits_and_labels(classes, n=400, seed=0, sharpness=2.0):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, classes)) * sharpness
    truth = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    labels = np.array([rng.choice(classes, p=row) for row in truth])
    return torch.from_numpy(logits), torch.from_numpy(labels)


def plain_calibration_error(probabilities, labels, bins):
    """Return the calibration error, point by point, with bins of equal width; the last bin includes 1."""
    members = [[] for _ in range(bins)]
    for row, label in zip(probabilities, labels, strict=True):
        confidence = max(row)
        members[min(int(confidence * bins), bins - 1)].append(
            (confidence, list(row).index(confidence) == label)
        )
    error = 0.0
    for inside in members:
        if inside:
            confidence = sum(c for c, _ in inside) / len(inside)
            accuracy = sum(right for _, right in inside) / len(inside)
            error += abs(confidence - accuracy) * len(inside) / len(labels)
    return error


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_metrics_equal_those_of_scikit_learn(classes):
    logits, labels = make_logits_and_labels(classes)
    p = torch.softmax(logits, 1).numpy()
    found = classification_metrics(logits.float(), labels)
    names = list(range(classes))
    assert found["test_accuracy"] == accuracy_score(labels, p.argmax(1))
    assert found["test_cross_entropy"] == pytest.approx(log_loss(labels, p, labels=names), abs=1e-6)
    assert found["brier"] == pytest.approx(
        brier_score_loss(labels, p, labels=names, scale_by_half=False), abs=1e-6
    )
    assert found["calibration_error"] == pytest.approx(
        plain_calibration_error(p, labels.tolist(), 20), abs=1e-6
    )
    assert found["largest_predicted_share"] == pytest.approx(np.bincount(p.argmax(1)).max() / len(labels))
    assert ("auroc" in found) == (classes == 2)
    if classes == 2:
        assert found["auroc"] == pytest.approx(roc_auc_score(labels, p[:, 1]), abs=1e-6)


def test_the_brier_score_of_two_classes_is_twice_the_two_class_form():
    logits, labels = make_logits_and_labels(2)
    of_one = (torch.softmax(logits, 1)[:, 1] - labels).square().mean()
    assert classification_metrics(logits, labels)["brier"] == pytest.approx(2 * float(of_one))


@pytest.mark.parametrize("levels", [2, 5, 10_000])
def test_auroc_counts_ties_half(levels):
    rng = np.random.default_rng(levels)
    labels = rng.integers(0, 2, 500)
    scores = np.floor((rng.normal(size=500) + labels) * levels / 10)
    found = auroc(torch.from_numpy(scores[labels == 1]), torch.from_numpy(scores[labels == 0]))
    assert found == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)


def test_auroc_of_uninformative_and_perfect_scores():
    assert auroc(torch.full((7,), 3.0), torch.full((5,), 3.0)) == 0.5
    assert auroc(torch.tensor([2.0, 3.0]), torch.tensor([0.0, 1.0])) == 1.0
    assert auroc(torch.tensor([0.0, 1.0]), torch.tensor([2.0, 3.0])) == 0.0
    assert auroc(torch.tensor([0.0, 2.0]), torch.tensor([1.0])) == 0.5


def test_auroc_needs_positives_and_negatives():
    for positive, negative in ((torch.zeros(0), torch.zeros(3)), (torch.zeros(3), torch.zeros(0))):
        with raises_with(SettingError, "auroc", f"{len(positive)} positive", f"{len(negative)} negative"):
            auroc(positive, negative)
    logits, _ = make_logits_and_labels(2)
    assert "auroc" not in classification_metrics(logits, torch.ones(len(logits), dtype=torch.int64))


def test_auroc_ranks_logits_whose_probabilities_are_equal():
    """Both probabilities are 1 in any precision, but the logits still differ."""
    logits = torch.tensor([[0.0, 200.0], [0.0, 100.0], [0.0, 150.0], [0.0, 50.0]])
    assert classification_metrics(logits, torch.tensor([1, 0, 1, 0]))["auroc"] == 1.0


@pytest.mark.parametrize("bins", [10, ECE_BINS])
def test_calibration_error_equals_a_plain_loop(bins):
    for classes, sharpness in ((2, 0.5), (5, 2.0), (3, 20.0)):
        logits, labels = make_logits_and_labels(classes, sharpness=sharpness)
        p = torch.softmax(logits, 1)
        found = Reliability.from_probabilities(p, labels, bins)
        assert found.calibration_error == pytest.approx(
            plain_calibration_error(p.numpy(), labels.tolist(), bins), abs=1e-12
        )
        assert float(found.counts.sum()) == len(labels)


def test_a_reliability_diagram_by_hand():
    p = torch.tensor([[0.62, 0.38], [0.31, 0.69], [0.95, 0.05], [1.0, 0.0]])
    diagram = Reliability.from_probabilities(p, torch.tensor([0, 0, 0, 0]))
    assert diagram.counts.tolist() == [0, 0, 0, 0, 0, 0, 2, 0, 0, 2]
    assert diagram.confidence[6].item() == pytest.approx(0.655)
    assert diagram.accuracy[6].item() == 0.5
    assert diagram.confidence[9].item() == pytest.approx(0.975)
    assert diagram.accuracy[9].item() == 1.0
    empty = diagram.counts == 0
    assert diagram.confidence.isnan().tolist() == diagram.accuracy.isnan().tolist() == empty.tolist()
    assert diagram.calibration_error == pytest.approx((2 * 0.155 + 2 * 0.025) / 4)


def test_calibration_error_is_small_if_calibrated_and_large_if_overconfident():
    logits, labels = make_logits_and_labels(3, n=20_000)
    assert classification_metrics(logits, labels)["calibration_error"] < 0.02
    assert classification_metrics(5 * logits, labels)["calibration_error"] > 0.1


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_non_finite_logit_makes_all_metrics_nan(value, classes):
    logits, labels = make_logits_and_labels(classes)
    finite = classification_metrics(logits, labels)
    logits[17, int(labels[17])] = value
    found = classification_metrics(logits, labels)
    assert found.keys() == finite.keys()
    assert [name for name, number in found.items() if math.isfinite(number)] == []


def test_a_nan_probability_gives_a_nan_calibration_error():
    p = torch.tensor([[0.9, 0.1], [math.nan, math.nan]])
    assert math.isnan(Reliability.from_probabilities(p, torch.tensor([0, 1])).calibration_error)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_non_finite_score_gives_a_nan_auroc_of_both_orders(value):
    finite, damaged = torch.tensor([1.0, 2.0]), torch.tensor([0.0, value])
    assert math.isnan(auroc(finite, damaged))
    assert math.isnan(auroc(damaged, finite))


@pytest.mark.parametrize(
    ("counts", "predicted", "expected"),
    [
        ([50, 50], [100, 0], True),
        ([50, 50], [96, 4], True),
        ([50, 50], [95, 5], False),
        ([97, 3], [96, 4], False),  # the frequent class is not predicted more often than it occurs
        ([97, 3], [100, 0], True),
        ([97, 3], [4, 96], True),  # the rare class is predicted for nearly all points
        ([30, 30, 40], [0, 0, 100], True),
        ([30, 30, 40], [30, 30, 40], False),
    ],
)
def test_collapse_is_one_class_predicted_for_nearly_all_points(counts, predicted, expected):
    predictions, labels = (
        torch.repeat_interleave(torch.arange(len(n)), torch.tensor(n)) for n in (predicted, counts)
    )
    assert is_collapsed(predictions, labels) is expected


def test_predictions_use_chunks_and_evaluation_mode():
    class Dropping(LinearClassifier):
        def logits(self, x):
            return torch.nn.functional.dropout(super().logits(x), 0.5, self.training)

    torch.manual_seed(0)
    classifier, x = Dropping(torch.randn(3, 2)), torch.randn(25, 2)
    found = predict(classifier, x, chunk=10)
    torch.testing.assert_close(found, x @ classifier.weight.detach().T)
    assert not found.requires_grad
    assert classifier.training
    assert predict(classifier.double(), x).dtype == torch.float64


def test_the_evaluation_uses_all_held_out_points():
    split = Blobs().split(0)
    method = type("Method", (), {"energy": LinearClassifier(torch.tensor([[-5.0, 0.0], [5.0, 0.0]]))})
    found = ClassificationEvaluation(split)(method)
    right = (split.held_out[:, 0] > 0) == split.held_out_labels.bool()
    assert found["test_accuracy"] == pytest.approx(float(right.double().mean()))
    assert found["test_accuracy"] > 0.99
    assert found["auroc"] > 0.99


def test_an_energy_without_classes_is_rejected_by_the_evaluation():
    with raises_with(IncompatibleModel, "MLP", "Classifier"):
        ClassificationEvaluation(Blobs().split(0))(type("Method", (), {"energy": MLP(2)}))

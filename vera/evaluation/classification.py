"""Quality and calibration of a classifier: accuracy, Brier score, expected calibration error (ECE), AUROC.

The Brier score is the multi-class form, mean Σ_c (p_c − y_c)², which is twice the two-class form that some
report. ECE has 20 bins of equal width over the largest probability; |confidence − accuracy| is weighted by
the mass of the bin. AUROC is the probability that a positive scores above a negative, with ties counted as
one half; it is computed exactly, from ranks. Trap: a model that always predicts one class has the share of
that class as accuracy, which looks good if classes are unbalanced; `largest_predicted_share` reveals it.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from vera.data.labelled import Split
from vera.errors import IncompatibleModel, SettingError
from vera.evaluation.likelihood import evaluate_in_chunks
from vera.models.classifier import Classifier
from vera.models.network_modes import evaluation_mode

COLLAPSED = 0.95
"""A classifier has collapsed if it predicts one class for more than this share of the points, and for more
points than that class has."""
ECE_BINS, DIAGRAM_BINS = 20, 10


@dataclass(frozen=True)
class Reliability:
    """A reliability diagram: count, mean confidence and accuracy in bins of the largest probability.

    The bins have equal width over [0, 1]. Confidence and accuracy of an empty bin are NaN. A NaN probability
    counts in the first bin, whose confidence then is NaN.
    """

    counts: Tensor
    confidence: Tensor
    accuracy: Tensor

    @classmethod
    def from_probabilities(
        cls, probabilities: Tensor, labels: Tensor, bins: int = DIAGRAM_BINS
    ) -> "Reliability":
        largest, predicted = probabilities.double().max(1)
        index = (largest.nan_to_num(0.0) * bins).long().clamp(max=bins - 1)
        counts = index.bincount(minlength=bins).double()
        confidence = torch.zeros(bins, dtype=torch.float64).scatter_add_(0, index, largest)
        correct = torch.zeros(bins, dtype=torch.float64).scatter_add_(
            0, index, (predicted == labels).double()
        )
        return cls(counts, confidence / counts, correct / counts)

    @property
    def calibration_error(self) -> float:
        """The mean of |confidence − accuracy| over the bins, weighted by their mass."""
        gap = torch.where(self.counts > 0, (self.confidence - self.accuracy).abs(), 0.0)
        return float((gap * self.counts).sum() / self.counts.sum())


def auroc(positive: Tensor, negative: Tensor) -> float:
    """Return P(positive scores above negative), ties as one half, or NaN if a score is not finite."""
    if not len(positive) or not len(negative):
        raise SettingError(
            f"auroc: needs scores of both kinds, got {len(positive)} positive and {len(negative)} negative."
        )
    if not (positive.isfinite().all() and negative.isfinite().all()):
        return math.nan
    ordered = negative.double().sort().values
    positive = positive.double().contiguous()
    below, not_above = (
        torch.searchsorted(ordered, positive),
        torch.searchsorted(ordered, positive, right=True),
    )
    return float((below + not_above).double().mean() / (2 * len(ordered)))


def classification_metrics(logits: Tensor, labels: Tensor) -> dict[str, float]:
    """Return the metrics of a set of logits.

    If a logit is not finite, all metrics are NaN: the largest of such logits is not a prediction, but an
    accuracy would count it as one.
    """
    probabilities = torch.softmax(logits.double(), dim=1)
    predicted = probabilities.argmax(1)
    one_hot = torch.nn.functional.one_hot(labels, logits.shape[1])
    shares = predicted.bincount(minlength=logits.shape[1]) / len(labels)
    metrics = {
        "test_accuracy": float((predicted == labels).double().mean()),
        "test_cross_entropy": float(torch.nn.functional.cross_entropy(logits.double(), labels)),
        "brier": float((probabilities - one_hot).square().sum(1).mean()),
        "calibration_error": Reliability.from_probabilities(
            probabilities, labels, ECE_BINS
        ).calibration_error,
        "largest_predicted_share": float(shares.max()),
    }
    if logits.shape[1] == 2 and 0 < int(labels.sum()) < len(labels):
        score = logits[:, 1] - logits[:, 0]
        metrics["auroc"] = auroc(score[labels == 1], score[labels == 0])
    return metrics if logits.isfinite().all() else dict.fromkeys(metrics, math.nan)


def is_collapsed(predicted: Tensor, labels: Tensor) -> bool:
    """Return whether one class is predicted for nearly all points, and more often than it occurs."""
    count, predicted_class = predicted.bincount().max(0)
    return bool(count > COLLAPSED * len(labels)) and bool(count > (labels == predicted_class).sum())


@torch.no_grad()
def predict(classifier: Classifier, x: Tensor, chunk: int = 1_000) -> Tensor:
    """Return the logits in evaluation mode, on the CPU."""
    weights = next(classifier.parameters())
    with evaluation_mode(classifier):
        return evaluate_in_chunks(lambda points: classifier.logits(points.to(weights)).cpu(), x, chunk)


class ClassificationEvaluation:
    """Evaluates the classifier on all held-out points; pass it to the Trainer as `evaluate`."""

    def __init__(self, split: Split) -> None:
        if not len(split.held_out):
            raise SettingError(f"The data set '{split.name}' has no held-out points to evaluate on.")
        self.split = split

    def __call__(self, method: Any) -> dict[str, float]:
        if not isinstance(method.energy, Classifier):
            raise IncompatibleModel(
                f"{type(method.energy).__name__} is not a Classifier, so it has no accuracy."
            )
        return classification_metrics(predict(method.energy, self.split.held_out), self.split.held_out_labels)

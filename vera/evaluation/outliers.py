"""Outlier detection: scores of seen and unseen images, and how well each score separates them (Table 5).

There are three scores, each higher for images that look like data: f(x), the largest class probability, and
−‖∇f(x)‖ over all pixels. Seen images are the positives: an AUROC of .5 means no separation, and below .5 the
unseen images look more like data. Networks are in evaluation mode and no noise is added to images. Trap: with
batch norm, f of one image depends on the other images, so our classifiers have no batch norm.
"""

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from vera.evaluation.classification import auroc
from vera.gradients import squared_norm, value_and_gradient
from vera.models.classifier import Classifier
from vera.models.network_modes import evaluation_mode

Scores = dict[str, Tensor]
"""Scores by name: f, confidence (classifiers only), gradient."""
Aurocs = dict[tuple[str, str], float]
"""{(score, unseen set): probability that a seen image scores above an unseen one}."""


def outlier_scores(energy: nn.Module, x: Tensor, chunk: int = 100) -> Scores:
    """Return the scores of n points, in double precision on the CPU."""
    weights = next(energy.parameters())
    with evaluation_mode(energy):
        chunks = [_score(energy, points.to(weights)) for points in x.split(chunk)]
    return {name: torch.cat([scores[name] for scores in chunks]).double().cpu() for name in chunks[0]}


def _score(energy: nn.Module, x: Tensor) -> Scores:
    value, slope = value_and_gradient(energy, x)
    scores = {"f": value, "gradient": -squared_norm(slope).sqrt()}
    if isinstance(energy, Classifier):
        with torch.no_grad():
            # In single precision too many probabilities are exactly 1.
            scores["confidence"] = energy.logits(x).double().softmax(1).amax(1)
    return scores


def outlier_aurocs(energy: nn.Module, seen: Tensor, unseen: Mapping[str, Tensor], chunk: int = 100) -> Aurocs:
    """Return how well each score of the model separates the seen images from each unseen set."""
    return compute_aurocs(
        outlier_scores(energy, seen, chunk),
        {name: outlier_scores(energy, x, chunk) for name, x in unseen.items()},
    )


def compute_aurocs(seen: Scores, unseen: Mapping[str, Scores]) -> Aurocs:
    """Return the AUROC of each score and unseen set, NaN where a score is not finite."""
    return {
        (score, name): auroc(seen[score], scores[score]) for name, scores in unseen.items() for score in seen
    }


def outlier_metrics(aurocs: Aurocs) -> dict[str, float]:
    """Return the AUROCs by metric name, such as auroc_f_svhn-test."""
    return {f"auroc_{score}_{name}": value for (score, name), value in aurocs.items()}


def bin_scores(scores: Mapping[str, Tensor], bins: int = 100) -> dict[str, Tensor]:
    """Return the histogram of each set over shared bins, and the `edges` of the bins.

    The bins cover the range of all finite scores. Non-finite scores are not counted; if no score is finite,
    the result is empty.
    """
    finite = {name: values[values.isfinite()].double().cpu() for name, values in scores.items()}
    limits = _range(finite.values())
    if limits is None:
        return {}
    edges = torch.linspace(*limits, bins + 1, dtype=torch.float64)
    return {"edges": edges} | {name: torch.histogram(values, edges).hist for name, values in finite.items()}


def _range(values: Iterable[Tensor]) -> tuple[float, float] | None:
    pooled = torch.cat(list(values))
    if not len(pooled):
        return None
    low, high = (float(end) for end in pooled.aminmax())
    return (low, high) if low < high else (low - 0.5, high + 0.5)

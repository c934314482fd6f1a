"""Telling data from what is not: scores of seen and unseen images, and how well each score separates them
(Table 5).

Three scores, each higher where an image looks like data: f(x) itself, the largest class probability, and
−‖∇f(x)‖ over all pixels. The seen set is the positive one, so that .5 is no separation and less than .5 means
that the unseen images look more like data. Networks are in evaluation mode and no noise is added to images.
Trap: f of one image depends on that image alone only without batch norm, which is why our classifiers have
none.
"""

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from vera.evaluation.classification import auroc
from vera.gradients import squared_norm, value_and_gradient
from vera.models.classifier import Classifier
from vera.models.network_modes import evaluation_mode

Scores = dict[str, Tensor]
"""By name: f, confidence (of a classifier only), gradient."""
Aurocs = dict[tuple[str, str], float]
"""{(score, set): probability that a seen image scores above an unseen one}."""


def outlier_scores(energy: nn.Module, x: Tensor, chunk: int = 100) -> Scores:
    """The scores of n points, in double precision on the CPU."""
    weights = next(energy.parameters())
    with evaluation_mode(energy):
        parts = [_scores(energy, part.to(weights)) for part in x.split(chunk)]
    return {name: torch.cat([part[name] for part in parts]).double().cpu() for name in parts[0]}


def _scores(energy: nn.Module, x: Tensor) -> Scores:
    value, slope = value_and_gradient(energy, x)
    scores = {"f": value, "gradient": -squared_norm(slope).sqrt()}
    if isinstance(energy, Classifier):
        with torch.no_grad():
            scores["confidence"] = (
                energy.logits(x).double().softmax(1).amax(1)
            )  # in single precision too many are exactly 1
    return scores


def outlier_aurocs(energy: nn.Module, seen: Tensor, unseen: Mapping[str, Tensor], chunk: int = 100) -> Aurocs:
    """How well each score of the model tells the seen images from each set of unseen ones."""
    return compute_aurocs(
        outlier_scores(energy, seen, chunk),
        {name: outlier_scores(energy, x, chunk) for name, x in unseen.items()},
    )


def compute_aurocs(seen: Scores, unseen: Mapping[str, Scores]) -> Aurocs:
    """The same from scores, for whoever draws their histograms too; NaN where a score is not finite."""
    return {
        (score, name): auroc(seen[score], scores[score]) for name, scores in unseen.items() for score in seen
    }


def outlier_metrics(aurocs: Aurocs) -> dict[str, float]:
    """By the names that rows have, such as auroc_f_svhn-test."""
    return {f"auroc_{score}_{name}": value for (score, name), value in aurocs.items()}


def bin_scores(scores: Mapping[str, Tensor], bins: int = 100) -> dict[str, Tensor]:
    """Counts by set over shared bins from the lowest to the highest finite score, and their `edges`, one more
    than the bins.

    Scores that are not finite have no bin and are not counted; if none is finite, there is nothing to draw.
    """
    finite = {name: values[values.isfinite()].double().cpu() for name, values in scores.items()}
    ends = _ends(finite.values())
    if ends is None:
        return {}
    edges = torch.linspace(*ends, bins + 1, dtype=torch.float64)
    return {"edges": edges} | {name: torch.histogram(values, edges).hist for name, values in finite.items()}


def _ends(values: Iterable[Tensor]) -> tuple[float, float] | None:
    pooled = torch.cat(list(values))
    if not len(pooled):
        return None
    low, high = (float(end) for end in pooled.aminmax())
    return (low, high) if low < high else (low - 0.5, high + 0.5)

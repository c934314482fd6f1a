"""Samples of an energy model with a generator: refined by MALA, traced along a chain, sorted by class.

A refined sample is a generator sample after 100 MALA steps over (z, ε), with a step size tuned beforehand.
Conditional samples are unconditional samples that the classifier assigns to a class (Figure 4), because the
conditional sampling of the published code does not run. Trap: a class that the model never generates has no
samples, and its place stays empty.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from vera.evaluation.classification import predict
from vera.models.classifier import Classifier
from vera.samplers import LatentRefiner
from vera.spec.settings import Count, validate_arguments


@dataclass(frozen=True)
class RefinedSamples:
    """n generated images, the same images after refinement, and the acceptances of tuning and refinement."""

    generated: Tensor
    refined: Tensor
    tuned_acceptance: float
    acceptance: float

    def metrics(self) -> dict[str, float]:
        """Return both acceptances by name."""
        return {"tuned_acceptance": self.tuned_acceptance, "refinement_acceptance": self.acceptance}


@validate_arguments
def refine_samples(
    refiner: LatentRefiner, n: Count, steps: Count = 100, batch: Count = 100, tuning_steps: Count = 500
) -> RefinedSamples:
    """Tune the step size, then refine n fresh samples, `batch` chains at a time. The result is on the CPU."""
    tuned = refiner.tune(min(batch, 64), tuning_steps, steps)
    batches = [_refine(refiner, min(batch, n - done), steps) for done in range(0, n, batch)]
    generated, refined, acceptances = zip(*batches, strict=True)
    weights = torch.tensor([len(images) for images in refined], dtype=torch.float64)
    acceptance = (torch.stack(acceptances) * weights).sum() / n
    return RefinedSamples(torch.cat(generated), torch.cat(refined), tuned, float(acceptance))


def _refine(refiner: LatentRefiner, n: int, steps: int) -> tuple[Tensor, Tensor, Tensor]:
    start = refiner.start(n)
    end, acceptance = refiner.refine(start, steps)
    return refiner.decode(start).float().cpu(), refiner.decode(end).float().cpu(), acceptance.double().cpu()


@validate_arguments
def trace_chains(refiner: LatentRefiner, chains: Count = 2, steps: Count = 100) -> Tensor:
    """Return (chains, steps + 1, ...): generator samples and every step of their chains (Figure 7).

    The step size must have been tuned.
    """
    v = refiner.start(chains)
    images = [refiner.decode(v)]
    for _ in range(steps):
        v, _ = refiner.refine(v, steps=1)
        images.append(refiner.decode(v))
    return torch.stack(images, dim=1).float().cpu()


@dataclass(frozen=True)
class SortedSamples:
    """Images sorted by class, then by decreasing p(y|x), and the number of missing images of each class."""

    images: Tensor
    labels: Tensor
    probabilities: Tensor
    missing: Tensor


@validate_arguments
def sort_by_class(classifier: Classifier, images: Tensor, per_class: Count) -> SortedSamples:
    """Return at most `per_class` images of each class, by decreasing p(y|x).

    An image with non-finite logits has no class.
    """
    logits = predict(classifier, images, chunk=100).double()
    probabilities, labels = logits.softmax(1).max(1)
    usable = logits.isfinite().all(1)
    chosen = []
    for label in range(logits.shape[1]):
        rows = torch.nonzero(usable & (labels == label)).flatten()
        chosen.append(rows[probabilities[rows].argsort(descending=True, stable=True)][:per_class])
    rows = torch.cat(chosen)
    missing = torch.tensor([per_class - len(of_class) for of_class in chosen])
    return SortedSamples(images.cpu()[rows], labels[rows], probabilities[rows], missing)

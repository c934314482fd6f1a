"""Samples for evaluation: exact, of training (Figure 2), refined by MALA, traced along chains, by class.

A refined sample is a generator sample after 100 MALA steps over (z, ε), with a step size tuned beforehand.
Conditional samples are unconditional samples that the classifier assigns to a class (Figure 4), because the
conditional sampling of the published code does not run. Trap: a class that the model never generates has no
samples, and its place stays empty.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from vera.errors import IncompatibleModel
from vera.evaluation.classification import predict
from vera.methods.contract import Method
from vera.models.classifier import Classifier
from vera.models.contract import Density
from vera.models.network_modes import evaluation_mode
from vera.samplers import LatentRefiner
from vera.spec.settings import Count, validate_arguments


@torch.no_grad()
def draw_exact_samples(model: nn.Module, n: int) -> Tensor:
    """Return n independent samples of a normalised model, without MCMC."""
    if not isinstance(model, Density):
        raise IncompatibleModel(f"{type(model).__name__} is not normalised, so it cannot be sampled exactly.")
    with evaluation_mode(model):
        return model.sample(n)


@torch.no_grad()
def draw_training_samples(method: Method, n: int) -> Tensor:
    """Return n of the samples that training contrasts with data, from the generator or the replay buffer."""
    samples = method.training_samples(n)
    if samples is None:
        raise IncompatibleModel(f"The method '{method.label()}' trains without samples.")
    return samples.detach()


@torch.no_grad()
def energy_distance(x: Tensor, y: Tensor) -> float:
    """Return 2 E|X − Y| − E|X − X'| − E|Y − Y'|.

    It is unbiased for independent points: zero on average if the distributions are equal. Moons and circles
    are evenly spaced in angle, so two samples of 1,000 of them give a value slightly below zero.
    """
    x, y = x.flatten(1).double().cpu(), y.flatten(1).double().cpu()
    return float(2 * torch.cdist(x, y).mean() - _mean_distance(x) - _mean_distance(y))


def _mean_distance(x: Tensor) -> Tensor:
    """Return the mean distance between different points of one sample."""
    return torch.cdist(x, x).sum() / (len(x) * (len(x) - 1))


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

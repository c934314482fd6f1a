"""Samples to look at and to judge: exact ones of a normalised model, and those that a method trains with
(Figure 2)."""

import torch
from torch import Tensor, nn

from vera.errors import IncompatibleModel
from vera.methods.contract import Method
from vera.models.contract import Density
from vera.models.network_modes import evaluation_mode


@torch.no_grad()
def draw_exact_samples(model: nn.Module, n: int) -> Tensor:
    """n independent samples of the model itself, without MCMC."""
    if not isinstance(model, Density):
        raise IncompatibleModel(f"{type(model).__name__} is not normalised, so it cannot be sampled exactly.")
    with evaluation_mode(model):
        return model.sample(n)


@torch.no_grad()
def draw_training_samples(method: Method, n: int) -> Tensor:
    """n of the samples that the method pits against data: the generator's, or the replay buffer's."""
    samples = method.training_samples(n)
    if samples is None:
        raise IncompatibleModel(f"The method '{method.label()}' trains without samples.")
    return samples.detach()


@torch.no_grad()
def energy_distance(x: Tensor, y: Tensor) -> float:
    """2 E|X − Y| − E|X − X'| − E|Y − Y'|, unbiased for independent points: zero on average if both have one
    distribution.

    Moons and circles are spaced evenly in angle, so two samples of 1,000 of them come out slightly below
    zero.
    """
    x, y = x.flatten(1).double().cpu(), y.flatten(1).double().cpu()
    return float(2 * torch.cdist(x, y).mean() - _mean_distance(x) - _mean_distance(y))


def _mean_distance(x: Tensor) -> Tensor:
    """Between different points of one sample."""
    return torch.cdist(x, x).sum() / (len(x) * (len(x) - 1))

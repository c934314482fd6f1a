"""Samples for evaluation: exact samples of a normalised model, and the samples of training (Figure 2)."""

import torch
from torch import Tensor, nn

from vera.errors import IncompatibleModel
from vera.methods.contract import Method
from vera.models.contract import Density
from vera.models.network_modes import evaluation_mode


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

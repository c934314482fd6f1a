"""Helpers for tests of forward passes: small image networks, joint methods on them, a report of two steps."""

from typing import NamedTuple

import pytest
import torch

from vera.data.labelled import LabelledBatch
from vera.models.mlp import StatisticsNetwork
from vera.models.sngan import sngan_generator
from vera.models.wrn import WideResNet
from vera.spec.registry import joint_methods

CLASSES, SIDE, BATCH = 3, 8, 4


def make_images(shared=True):
    rng = torch.Generator().manual_seed(3)
    x = torch.rand(BATCH, 3, SIDE, SIDE, generator=rng) * 2 - 1
    labelled = x if shared else torch.rand(BATCH, 3, SIDE, SIDE, generator=rng) * 2 - 1
    return LabelledBatch(x, labelled, torch.arange(BATCH) % CLASSES)


def make_networks():
    torch.manual_seed(0)
    return {
        "energy": WideResNet(CLASSES, depth=10, width=1),
        "generator": sngan_generator(latent_dim=4, side=SIDE, width=8, sigma=0.3),
        "statistics": StatisticsNetwork(3 * SIDE * SIDE, 4, hidden=(8,)),
    }


SMALL = {
    "supervised": {},
    "vat": {},
    "jem": {"capacity": 8, "sampler_steps": 2},
    "hdge": {"capacity": 8, "sampler_steps": 2, "queue": 8, "density_weight": 0.1},
    "vera": {"k": 4, "chunks": 2},
    "meg": {},
}


def make_joint_method(name, **settings):
    cls = joint_methods.get(name)
    used = {role: network for role, network in make_networks().items() if role in cls.network_names()}
    return cls(**used, **SMALL[name] | settings)


class StepReport(NamedTuple):
    """Metrics of two steps, the gradients after the first step, and the final weights."""

    metrics: dict
    gradients: dict
    weights: dict


def run_two_steps(method, batch=None):
    batch = make_images() if batch is None else batch
    torch.manual_seed(1)
    method.begin(batch)
    named = {f"{role}.{n}": w for role, net in method.networks().items() for n, w in net.named_parameters()}
    first = method.step(batch)
    gradients = {name: weight.grad.clone() for name, weight in named.items() if weight.grad is not None}
    metrics = {f"first {n}": v for n, v in first.items()} | {
        f"second {n}": v for n, v in method.step(batch).items()
    }
    return StepReport(metrics, gradients, {name: weight.detach() for name, weight in named.items()})


def assert_same_up_to(tolerance, one, other):
    """Compare metrics and gradients, but not weights: Adam amplifies gradients that are rounding error."""
    assert one.metrics.keys() == other.metrics.keys()
    assert one.gradients.keys() == other.gradients.keys()
    for name, value in one.metrics.items():
        assert float(other.metrics[name]) == pytest.approx(float(value), rel=tolerance, abs=tolerance), name
    a, b = (
        torch.cat([gradient.flatten() for gradient in report.gradients.values()]) for report in (one, other)
    )
    assert (a - b).norm() <= tolerance * a.norm()

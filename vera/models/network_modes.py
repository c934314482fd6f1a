"""Context managers that set the mode of a network and restore it afterwards.

Batch norm can use the statistics of the current batch, of one fixed batch, or its running averages. Trap: a
mean g(z) computed with other statistics than those that produced x is a different function of z.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm


@contextmanager
def use_batch_statistics(net: nn.Module) -> Iterator[None]:
    """Batch norm uses the statistics of each batch and does not update its running averages."""
    norms = [(m, m.training) for m in net.modules() if isinstance(m, _BatchNorm) and m.track_running_stats]
    for norm, _ in norms:
        norm.track_running_stats, norm.training = False, True
    try:
        yield
    finally:
        for norm, training in norms:
            norm.track_running_stats, norm.training = True, training


@contextmanager
def freeze_batch_statistics(net: nn.Module, z: Tensor) -> Iterator[None]:
    """Batch norm uses the statistics of the batch z for every input, so each row is processed independently.

    With z = z0 this is exactly the g that produced x: the posterior of z given x is exact, and chains do not
    interact.
    """
    norms = [
        (m, m.running_mean, m.running_var, m.training) for m in net.modules() if isinstance(m, _BatchNorm)
    ]

    def store_statistics(norm: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        rows = inputs[0].detach().transpose(0, 1).flatten(1)
        norm.running_mean, norm.running_var = rows.mean(1), rows.var(1, correction=0)

    hooks = [norm.register_forward_pre_hook(store_statistics) for norm, *_ in norms]
    try:
        try:
            with use_batch_statistics(net), torch.no_grad():
                net(z)
        finally:
            for hook in hooks:
                hook.remove()
        for norm, *_ in norms:
            norm.training = False
        yield
    finally:
        for norm, mean, variance, training in norms:
            norm.running_mean, norm.running_var, norm.training = mean, variance, training


@contextmanager
def evaluation_mode(net: nn.Module) -> Iterator[None]:
    """The network is in evaluation mode inside the block; each module gets its own mode back afterwards."""
    modes = [(module, module.training) for module in net.modules()]
    net.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training

"""No step of a method waits for the device or leaves it: every registered method takes its steps on the
device `meta`, whose tensors have no values.

A value that the host reads there is an error, and a tensor that a step creates elsewhere is found by a
dispatch mode. So what passes here runs on a GPU without a transfer or a synchronisation inside a step.
`begin` may read values. Fused Adam has no kernel for this device, so its updates are only checked.
"""

import pytest
import torch
from conformance import PAIRS, make_batch, make_dataset, make_method
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from vera.models.fitted_gaussian import FittedGaussian

META = torch.device("meta")
READ = torch.ops.aten._local_scalar_dense.default


class ReadableValues(TorchDispatchMode):
    """Every value that the host reads is 1."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return 1 if func is READ else func(*args, **(kwargs or {}))


class DeviceOnly(TorchDispatchMode):
    """Raises for an operation that reads a value or returns a tensor on another device."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        assert func is not READ, "a step waits for the device to read a value"
        found = func(*args, **(kwargs or {}))
        others = {str(x.device) for x in tree_leaves(found) if isinstance(x, Tensor) and x.device != META}
        assert not others, f"{func.name()} in a step returns a tensor on {others}"
        return found


@pytest.fixture(autouse=True)
def check_updates(monkeypatch):
    """Optimisers check what they are given instead of updating it."""

    def check(optimiser):
        for group in optimiser.param_groups:
            assert group["fused"], "other implementations of Adam read their step on the host"
            for weight in group["params"]:
                assert weight.device == META
                assert weight.grad is None or weight.grad.device == META

    monkeypatch.setattr(torch.optim.Adam, "step", check)


def take_steps(method, energy, **settings):
    data, batch = make_dataset(energy), make_batch(energy).to(META, torch.float32)
    with META:
        built = make_method(method, energy, data=data, **settings)
    with ReadableValues():
        built.begin(batch)
    with DeviceOnly():
        for _ in range(3):
            metrics = built.step(batch)
    return metrics


@pytest.mark.parametrize(("method", "energy"), PAIRS)
def test_a_step_neither_waits_for_the_device_nor_leaves_it(method, energy):
    metrics = take_steps(method, energy)
    assert {value.device for value in metrics.values()} == {META}


def test_a_value_that_is_read_and_a_tensor_made_elsewhere_are_found():
    x = torch.ones(3, device=META)
    with DeviceOnly(), pytest.raises(AssertionError, match="waits for the device"):
        x.sum().item()
    with DeviceOnly(), pytest.raises(AssertionError, match="cpu"):
        torch.zeros(3)
    with DeviceOnly(), pytest.raises(AssertionError, match="cpu"):
        torch.randn(3).to(x)


def test_the_noise_of_a_fitted_gaussian_is_drawn_on_its_device():
    with META:
        noise = FittedGaussian(torch.Size([2]))
    with DeviceOnly():
        noise.add(torch.ones(5, 2, device=META))
        assert noise.sample(4).device == META

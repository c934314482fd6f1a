"""The user's functions that a run calls: they see the metrics and cannot change the training by accident."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from vera.errors import CallbackError, SettingError
from vera.training.state.random_state import use_seed

Callback = Callable[[int, dict[str, float]], object]
Callbacks = Callback | Sequence[Callback] | None


def list_callbacks(name: str, given: Any) -> list[Callback]:
    """The callbacks of an argument, which is None, a function or a list of functions."""
    callbacks = [] if given is None else [given] if callable(given) else given
    if not isinstance(callbacks, list | tuple) or not all(map(callable, callbacks)):
        raise SettingError(
            f"Trainer: {name} must be a function of a step and its metrics or a list of such functions, "
            f"got {given!r}."
        )
    return list(callbacks)


def call_callbacks(name: str, callbacks: Any, step: int, metrics: Mapping[str, float]) -> None:
    """Call each with the step and a copy of the metrics. If some raise, report the first after the last."""
    failed: list[tuple[Callback, Exception]] = []
    for callback in list_callbacks(name, callbacks):
        try:
            callback(step, dict(metrics))
        except Exception as error:  # it is the user's code
            failed.append((callback, error))
    if failed:
        culprit, cause = failed[0]
        label = getattr(culprit, "__qualname__", type(culprit).__name__)
        reason = f"{type(cause).__name__}: {cause}".rstrip(": ").splitlines()[0]
        raise CallbackError(
            f"{name} ({label}) raised at step {step}: {reason}\n"
            "The step is complete: save the run, or go on with run(). The callback is not repeated."
        ) from cause


@contextmanager
def protect_training(networks: Iterable[nn.Module], seed: int) -> Iterator[None]:
    """The user's code inside the block draws random numbers of its own. Afterwards torch's settings and the
    networks' modes, devices and dtypes are as before. Values of weights are not restored."""
    modules = [module for network in networks for module in network.modules()]
    modes = [(module, module.training, dict(module._buffers)) for module in modules]
    weights = [(p, p.data, p.requires_grad) for module in modules for p in module.parameters(recurse=False)]
    dtype, gradients, threads = torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads()
    try:
        with use_seed(seed):
            yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(gradients)
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
        for module, training, buffers in modes:
            module.training = training
            module._buffers.update(buffers)
        for parameter, data, requires_grad in weights:
            if (parameter.dtype, parameter.device) != (data.dtype, data.device):
                parameter.data = data
            parameter.requires_grad_(requires_grad)

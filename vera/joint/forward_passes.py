"""Precision, memory layout and compilation of the networks of a joint method.

During a training step the forward methods of the networks are replaced; outside of it they are unchanged. So
the names in saved states stay the same, and evaluation always runs in float32 without compilation. The
settings change results only by rounding, except for dropout masks: they are drawn in memory order, or by the
compiled code.

Precision applies to the forward passes of the *classifier*. Its weights, its logits and all losses stay
float32. The generator also stays float32: the importance weights divide the rounding error of g(z) by σ², and
with σ = .01 the error of bfloat16 is as large as the noise itself. bfloat16 has the range of float32, so
gradients of gradients are computed in it. float16 has a smaller range: gradients are multiplied by 1,024 when
they enter the network and divided by it when they leave, at x and before the optimiser step. This is wrong
for a loss with a gradient penalty, which is therefore computed in float32. The scale is fixed: it needs no
state, no step is skipped, and an overflowing gradient ends the run as diverged.

Trap: compiled code cannot be differentiated twice, so a loss with a gradient penalty is never compiled.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from vera.errors import SettingError
from vera.models.classifier import Classifier
from vera.models.generator import Generator
from vera.models.network_modes import use_batch_statistics
from vera.training.optimisers import trainable_parameters
from vera.training.state.random_state import use_seed

Precision = Literal["float32", "bfloat16", "float16"]
Forward = Callable[..., Tensor]
EXECUTION_SETTINGS = ("precision", "channels_last", "compiled")
"""Settings of a joint method that affect how it is computed and should change only the last digits."""
LOSS_SCALE = 1024.0
ON_CPU = {
    "bfloat16": "on a CPU it can be an illegal instruction, which kills the process",
    "float16": "on a CPU it is many times slower than float32",
}


class ForwardPasses:
    """The forward passes of a method's networks under its settings; `install` activates them."""

    def __init__(
        self, networks: Mapping[str, nn.Module], precision: Precision, *, channels_last: bool, compiled: bool
    ) -> None:
        self.precision, self.channels_last = precision, channels_last
        self.twice = False
        """Whether the current computation will be differentiated twice."""
        self.compiler = Compiler() if compiled else None
        self.forwards: list[tuple[nn.Module, str, Forward]] = []
        for network in networks.values():
            if channels_last:
                network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # changes weights with four axes only
            if isinstance(network, Classifier):
                self._replace(network, "logits", lowered=precision != "float32")
            elif isinstance(network, Generator):
                self._replace(network.net, "forward", lowered=False)

    @contextmanager
    def install(self) -> Iterator[None]:
        """Replace the forward methods of the networks inside the block."""
        for module, name, forward in self.forwards:
            setattr(module, name, forward)
        try:
            yield
        finally:
            for module, name, _ in self.forwards:
                delattr(module, name)

    @contextmanager
    def allow_second_derivatives(self) -> Iterator[None]:
        """Use only passes that can be differentiated twice inside the block."""
        self.twice = True
        try:
            yield
        finally:
            self.twice = False

    def check_device(self, owner: str, device: torch.device) -> None:
        """Raise `SettingError` if the precision cannot be used on the device."""
        if device.type == "cpu" and self.precision in ON_CPU:
            raise SettingError(
                f"{owner}: precision='{self.precision}' needs a GPU: {ON_CPU[self.precision]}."
            )

    def compile_for(self, networks: Mapping[str, nn.Module], x: Tensor) -> None:
        """Compile forward and backward passes now, so that a failure happens here, where it is handled."""
        if self.compiler is None:
            return
        with self.install(), use_seed(0):
            for network in networks.values():
                if isinstance(network, Classifier):
                    self.compiler.warm_up(network.logits, x, trainable_parameters(network))
                elif isinstance(network, Generator):
                    with use_batch_statistics(network.net):
                        self.compiler.warm_up(
                            network.net, network.sample_latent(len(x)), trainable_parameters(network.net)
                        )

    def _replace(self, module: nn.Module, name: str, *, lowered: bool) -> None:
        plain: Forward = getattr(module, name)
        forward = plain
        if self.compiler is not None:
            forward = self._choose_pass(self.compiler.compile(plain), plain)
        if lowered:
            low = _lower_precision(
                forward, getattr(torch, self.precision), LOSS_SCALE if self.precision == "float16" else 1.0
            )
            forward = self._choose_pass(low, forward) if self.precision == "float16" else low
        if self.channels_last:
            forward = _use_channels_last(forward)
        if forward is not plain:
            self.forwards.append((module, name, forward))

    def _choose_pass(self, once: Forward, twice: Forward) -> Forward:
        """Return a forward that calls `twice` where second derivatives are needed, else `once`."""
        return lambda *args: (twice if self.twice else once)(*args)


class Compiler:
    """Uses torch.compile where it works. After the first failure it warns once and compiles nothing more."""

    def __init__(self) -> None:
        self.works = True

    def compile(self, plain: Forward) -> Forward:
        """Return the compiled forward, which falls back to the plain one if compilation fails."""
        quick: Forward | None = self._attempt(lambda: torch.compile(plain))

        def forward(*args: Any) -> Tensor:
            result = self._attempt(lambda: quick(*args)) if quick is not None else None
            return plain(*args) if result is None else result

        return forward

    def warm_up(self, forward: Forward, x: Tensor, weights: Sequence[Tensor]) -> None:
        """Run forward and backward once, so that both are compiled."""
        self._attempt(lambda: torch.autograd.grad(forward(x).sum(), weights, allow_unused=True))

    def _attempt(self, work: Callable[[], Any]) -> Any:
        """Return the result of the work, or None if it fails or has failed before."""
        if not self.works:
            return None
        try:
            return work()
        except (MemoryError, torch.OutOfMemoryError):
            raise
        except Exception as error:  # a compiler can raise anything
            self.works = False
            reason = (str(error) or repr(error)).splitlines()[0]
            warnings.warn(
                f"torch.compile failed, so networks run without compilation: {reason}",
                RuntimeWarning,
                stacklevel=2,
            )
            return None


def unscale_before_steps(optimisers: Sequence[torch.optim.Optimizer], weights: Sequence[Tensor]) -> None:
    """Divide the gradients of these weights by the loss scale before each step of their optimiser."""

    def unscale(*_: Any) -> None:
        for gradient in (weight.grad for weight in weights if weight.grad is not None):
            gradient.mul_(1 / LOSS_SCALE)

    wanted = {id(weight) for weight in weights}
    for optimiser in optimisers:
        if wanted & {id(weight) for group in optimiser.param_groups for weight in group["params"]}:
            optimiser.register_step_pre_hook(unscale)


def _lower_precision(forward: Forward, dtype: torch.dtype, scale: float) -> Forward:
    """Return a forward that runs in autocast and returns the dtype of x.

    Autocast covers the forward pass only; the backward pass uses the dtypes of the forward pass.
    """

    def run_in_autocast(x: Tensor) -> Tensor:
        with torch.autocast(x.device.type, dtype):
            result = forward(scale_gradient(x, 1 / scale))
        return scale_gradient(result.to(x.dtype), scale)

    return run_in_autocast


def _use_channels_last(forward: Forward) -> Forward:
    """Return a forward that takes images channels last and returns the usual layout.

    Noise of the shape of the output is then drawn in the usual order.
    """

    def run_channels_last(x: Tensor) -> Tensor:
        return forward(x.contiguous(memory_format=torch.channels_last) if x.ndim == 4 else x).contiguous()

    return run_channels_last


def scale_gradient(x: Tensor, factor: float) -> Tensor:
    """Return x, with its gradient multiplied by the factor in the backward pass."""
    return x if factor == 1 else _ScaledGradient.apply(x, factor)  # type: ignore[no-untyped-call]


class _ScaledGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, factor: float) -> Tensor:
        ctx.factor = factor
        return x.view_as(x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return gradients[0] * ctx.factor, None

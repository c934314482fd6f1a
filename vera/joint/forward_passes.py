"""How the networks of a joint method are computed: in what precision, in which memory layout, compiled or
not.

A network's own forward stays as it is; while a step is taken, another stands in its place. So what is saved
has the same names, and evaluation runs in float32, eagerly, whatever the settings. The numbers change by
rounding alone, but for masks of dropout, which are drawn in the order of memory, or by compiled code.

Precision is that of the *classifier's* passes; its weights, its logits and all losses stay float32. The
generator stays float32 too: the importance weights divide the rounding of g(z) by σ², and with σ = .01 that
of bfloat16 is as large as the noise itself. bfloat16 has the range of float32, so gradients of gradients are
taken in it too. float16 has not. There, a gradient enters the network 1,024 times too large and leaves it as
it should be, at x and at the optimiser's door; and a loss with a gradient penalty, for which that is not
true, is taken in float32. The scale is fixed: no state, no step passed over in silence, and a gradient that
overflows ends the run as any other does.

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
from vera.training.random_state import use_seed

Precision = Literal["float32", "bfloat16", "float16"]
Forward = Callable[..., Tensor]
EXECUTION_SETTINGS = ("precision", "channels_last", "compiled")
"""Settings of a joint method that say how it is computed, and should decide no more than the last digits."""
LOSS_SCALE = 1024.0
ON_CPU = {
    "bfloat16": "on a CPU it can be an illegal instruction, which ends the process and cannot be caught",
    "float16": "on a CPU it is many times slower than float32",
}


class ForwardPasses:
    """The forward passes of a method's networks as its settings want them; `in_place` puts them there."""

    def __init__(
        self, networks: Mapping[str, nn.Module], precision: Precision, *, channels_last: bool, compiled: bool
    ) -> None:
        self.precision, self.channels_last = precision, channels_last
        self.twice = False
        """Whether what is computed now will be differentiated twice."""
        self.compiler = Compiler() if compiled else None
        self.forwards: list[tuple[nn.Module, str, Forward]] = []
        for network in networks.values():
            if channels_last:
                network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # weights of four axes alone
            if isinstance(network, Classifier):
                self._replace(network, "logits", lowered=precision != "float32")
            elif isinstance(network, Generator):
                self._replace(network.net, "forward", lowered=False)

    @contextmanager
    def install(self) -> Iterator[None]:
        """The passes instead of the networks' own."""
        for module, name, forward in self.forwards:
            setattr(module, name, forward)
        try:
            yield
        finally:
            for module, name, _ in self.forwards:
                delattr(module, name)

    @contextmanager
    def allow_second_derivatives(self) -> Iterator[None]:
        self.twice = True
        try:
            yield
        finally:
            self.twice = False

    def check(self, owner: str, device: torch.device) -> None:
        if device.type == "cpu" and self.precision in ON_CPU:
            raise SettingError(
                f"{owner}: precision='{self.precision}' needs a GPU: {ON_CPU[self.precision]}."
            )

    def compile_for(self, networks: Mapping[str, nn.Module], x: Tensor) -> None:
        """Compile now, forwards and backwards, so that what fails does so here, where it is made up for."""
        if self.compiler is None:
            return
        with self.install(), use_seed(0):
            for network in networks.values():
                if isinstance(network, Classifier):
                    self.compiler.rehearse(network.logits, x, trainable_parameters(network))
                elif isinstance(network, Generator):
                    with use_batch_statistics(network.net):
                        self.compiler.rehearse(
                            network.net, network.sample_latent(len(x)), trainable_parameters(network.net)
                        )

    def _replace(self, module: nn.Module, name: str, *, lowered: bool) -> None:
        plain: Forward = getattr(module, name)
        forward = plain
        if self.compiler is not None:
            forward = self._unless_twice(self.compiler.compiled(plain), plain)
        if lowered:
            low = _lowered(
                forward, getattr(torch, self.precision), LOSS_SCALE if self.precision == "float16" else 1.0
            )
            forward = self._unless_twice(low, forward) if self.precision == "float16" else low
        if self.channels_last:
            forward = _channels_last(forward)
        if forward is not plain:
            self.forwards.append((module, name, forward))

    def _unless_twice(self, once: Forward, twice: Forward) -> Forward:
        return lambda *args: (twice if self.twice else once)(*args)


class Compiler:
    """torch.compile where it works. After its first failure it is not used again, and one warning says
    why."""

    def __init__(self) -> None:
        self.works = True

    def compiled(self, plain: Forward) -> Forward:
        quick: Forward | None = self._attempt(lambda: torch.compile(plain))

        def forward(*args: Any) -> Tensor:
            result = self._attempt(lambda: quick(*args)) if quick is not None else None
            return plain(*args) if result is None else result

        return forward

    def rehearse(self, forward: Forward, x: Tensor, weights: Sequence[Tensor]) -> None:
        self._attempt(lambda: torch.autograd.grad(forward(x).sum(), weights, allow_unused=True))

    def _attempt(self, work: Callable[[], Any]) -> Any:
        """What the work gives, or None where it fails or has failed before."""
        if not self.works:
            return None
        try:
            return work()
        except (MemoryError, torch.OutOfMemoryError):
            raise
        except Exception as error:  # a compiler fails in whatever way its parts do
            self.works = False
            reason = (str(error) or repr(error)).splitlines()[0]
            warnings.warn(
                f"torch.compile does not work here, so nothing is compiled: {reason}",
                RuntimeWarning,
                stacklevel=2,
            )
            return None


def unscale_before_steps(optimisers: Sequence[torch.optim.Optimizer], weights: Sequence[Tensor]) -> None:
    """Divide these weights' gradients by the loss scale whenever the optimiser that moves them is about
    to."""

    def unscale(*_: Any) -> None:
        for gradient in (weight.grad for weight in weights if weight.grad is not None):
            gradient.mul_(1 / LOSS_SCALE)

    wanted = {id(weight) for weight in weights}
    for optimiser in optimisers:
        if wanted & {id(weight) for group in optimiser.param_groups for weight in group["params"]}:
            optimiser.register_step_pre_hook(unscale)


def _lowered(forward: Forward, dtype: torch.dtype, scale: float) -> Forward:
    """In autocast, the result in the type of x. Only the forward: backward takes the types that it finds."""

    def low(x: Tensor) -> Tensor:
        with torch.autocast(x.device.type, dtype):
            result = forward(scale_gradient(x, 1 / scale))
        return scale_gradient(result.to(x.dtype), scale)

    return low


def _channels_last(forward: Forward) -> Forward:
    """Images go in channels last and come out as usual, so that noise shaped like them is drawn in the usual
    order."""

    def arranged(x: Tensor) -> Tensor:
        return forward(x.contiguous(memory_format=torch.channels_last) if x.ndim == 4 else x).contiguous()

    return arranged


def scale_gradient(x: Tensor, factor: float) -> Tensor:
    """x itself, whose gradient is multiplied by the factor on its way back."""
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

"""The matrix products of a piece of work: recorded once as they happen, then replayed alone to time them.

Everything that torch has a FLOP formula for counts: mm, addmm, bmm, baddbmm and convolutions; einsum, matmul
and linear layers arrive as those. The recorder sits below autograd, so it sees the products of backward
passes too: on the CPU they run in the calling thread. Trap: a replay that walks over the same few warm
buffers is faster than the step it stands for. Here a recorded storage gets a buffer of its own by its
address, with its shapes, strides and offsets: 60 MB of weights are 60 MB again, an address that the step used
twice is one buffer, and every output is freshly allocated, as in the step.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

Buffers = dict[tuple[int, torch.dtype], Tensor]


@dataclass(frozen=True)
class Operand:
    """Where a tensor lay and how it was laid out, without its values."""

    address: int
    elements: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    dtype: torch.dtype

    @classmethod
    def of(cls, x: Tensor) -> "Operand":
        storage = x.untyped_storage()
        elements = storage.nbytes() // x.element_size()
        return cls(storage.data_ptr(), elements, tuple(x.shape), x.stride(), int(x.storage_offset()), x.dtype)

    @property
    def key(self) -> tuple[int, torch.dtype]:
        return self.address, self.dtype


@dataclass(frozen=True)
class Product:
    """One call: the operator, its arguments with every tensor as an `Operand`, and 2·m·n·k."""

    operator: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    flops: int

    def operands(self) -> list[Operand]:
        return [argument for argument in self.args if isinstance(argument, Operand)]


class _Recorder(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.products: list[Product] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        formula = flop_registry.get(func.overloadpacket)
        if formula is not None:
            flops = formula(*args, **(kwargs or {}), out_val=result)
            layout = tuple(Operand.of(a) if isinstance(a, Tensor) else a for a in args)
            self.products.append(Product(func, layout, dict(kwargs or {}), flops))
        return result


def record(work: Callable[[], object]) -> list[Product]:
    """The products of one run of `work`, in order."""
    with _Recorder() as recorder:
        work()
    return recorder.products


def flops(products: Iterable[Product]) -> int:
    return sum(product.flops for product in products)


class Replay:
    """The recorded products and nothing else, ready to be run again and again."""

    def __init__(self, products: list[Product]) -> None:
        self.buffers = _buffers(products)
        self.calls = [
            (_callable(p.operator), tuple(self._argument(a) for a in p.args), p.kwargs) for p in products
        ]

    @torch.no_grad()
    def __call__(self) -> None:
        for call, args, kwargs in self.calls:
            call(*args, **kwargs)

    def _argument(self, argument: Any) -> Any:
        if not isinstance(argument, Operand):
            return argument
        return self.buffers[argument.key].as_strided(argument.shape, argument.strides, argument.offset)


def _buffers(products: list[Product]) -> Buffers:
    """One buffer for each storage address; an address that was reused gets the largest size it had."""
    sizes: dict[tuple[int, torch.dtype], int] = {}
    for operand in (operand for product in products for operand in product.operands()):
        sizes[operand.key] = max(sizes.get(operand.key, 0), operand.elements)
    # Normal values, because zeros and denormals can be faster or slower to multiply.
    return {key: torch.randn(size, dtype=key[1]) for key, size in sizes.items()}


def _callable(operator: Any) -> Callable[..., Any]:
    """torch.mm rather than torch.ops.aten.mm.default: the plain binding costs less, so the replay is the
    stricter yardstick."""
    call: Callable[..., Any] = getattr(torch, operator.overloadpacket.__name__, operator)
    return call

"""The matrix products of a piece of work: recorded once, then replayed alone to time them.

Every operator with a FLOP formula in torch counts: mm, addmm, bmm, baddbmm and convolutions; einsum, matmul
and linear layers are dispatched to these. The recorder sits below autograd, so it also sees the products of
backward passes, which run in the calling thread on a CPU.

Trap: a replay on a few warm buffers is faster than the step. Every recorded storage therefore gets its own
buffer with the same shapes, strides and offsets: 60 MB of weights are 60 MB again, an address that the step
used twice is one buffer, and every output is freshly allocated, as in the step.
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
    """The storage and layout of a tensor, without its values."""

    address: int
    elements: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    dtype: torch.dtype

    @classmethod
    def from_tensor(cls, x: Tensor) -> "Operand":
        storage = x.untyped_storage()
        elements = storage.nbytes() // x.element_size()
        return cls(storage.data_ptr(), elements, tuple(x.shape), x.stride(), int(x.storage_offset()), x.dtype)

    @property
    def key(self) -> tuple[int, torch.dtype]:
        return self.address, self.dtype


@dataclass(frozen=True)
class MatrixProduct:
    """One call: the operator, its arguments with tensors as `Operand`s, and its operations, 2·m·n·k."""

    operator: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    flops: int

    def operands(self) -> list[Operand]:
        return [argument for argument in self.args if isinstance(argument, Operand)]


class _ProductRecorder(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.products: list[MatrixProduct] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        formula = flop_registry.get(func.overloadpacket)
        if formula is not None:
            flops = formula(*args, **(kwargs or {}), out_val=result)
            layout = tuple(Operand.from_tensor(a) if isinstance(a, Tensor) else a for a in args)
            self.products.append(MatrixProduct(func, layout, dict(kwargs or {}), flops))
        return result


def record_products(work: Callable[[], object]) -> list[MatrixProduct]:
    """The products of one call of `work`, in order."""
    with _ProductRecorder() as recorder:
        work()
    return recorder.products


def count_flops(products: Iterable[MatrixProduct]) -> int:
    return sum(product.flops for product in products)


class ProductReplay:
    """Runs the recorded products and nothing else."""

    def __init__(self, products: list[MatrixProduct]) -> None:
        self.buffers = _allocate_buffers(products)
        self.calls = [
            (_find_binding(p.operator), tuple(self._place_argument(a) for a in p.args), p.kwargs)
            for p in products
        ]

    @torch.no_grad()
    def __call__(self) -> None:
        for call, args, kwargs in self.calls:
            call(*args, **kwargs)

    def _place_argument(self, argument: Any) -> Any:
        if not isinstance(argument, Operand):
            return argument
        return self.buffers[argument.key].as_strided(argument.shape, argument.strides, argument.offset)


def _allocate_buffers(products: list[MatrixProduct]) -> Buffers:
    """One buffer per storage address, of the largest size that was used there."""
    sizes: dict[tuple[int, torch.dtype], int] = {}
    for operand in (operand for product in products for operand in product.operands()):
        sizes[operand.key] = max(sizes.get(operand.key, 0), operand.elements)
    # Normal values, because zeros and denormals can be faster or slower to multiply.
    return {key: torch.randn(size, dtype=key[1]) for key, size in sizes.items()}


def _find_binding(operator: Any) -> Callable[..., Any]:
    """torch.mm instead of torch.ops.aten.mm.default: the plain binding has less overhead, which makes the
    replay the stricter yardstick."""
    call: Callable[..., Any] = getattr(torch, operator.overloadpacket.__name__, operator)
    return call

"""Checks of networks against an example batch, made once before training starts.

Each check raises `IncompatibleModel`. `owner` is the name of the method, for the message.
"""

import torch
from torch import Tensor, nn

from vera.errors import IncompatibleModel
from vera.gradients import differentiable_gradient
from vera.models.generator import Generator
from vera.models.network_modes import evaluation_mode


def check_energy(owner: str, energy: nn.Module, x: Tensor) -> None:
    """Check that f maps (B, ...) to (B,)."""
    found = x.shape[1:].numel()
    width = getattr(energy, "data_dim", found)
    if width != found:
        what = type(energy).__name__
        raise IncompatibleModel(
            f"{owner}: {what} takes {width} dimensions, the data have {found} "
            f"(shape of a batch: {tuple(x.shape)})."
        )
    shape = _output_shape(owner, energy, x[:2])
    if shape != (len(x[:2]),):
        raise IncompatibleModel(
            f"{owner}: the energy must return one number per point, shape ({len(x[:2])},), "
            f"got {tuple(shape)}."
        )


def check_generator(owner: str, generator: Generator, x: Tensor) -> None:
    """Check that g maps (B, latent_dim) to the shape of the data."""
    shape = _output_shape(owner, generator, x.new_zeros(2, generator.latent_dim))
    generated, wanted = tuple(shape[1:]), tuple(x.shape[1:])
    if generated != wanted:
        raise IncompatibleModel(
            f"{owner}: the generator returns points of shape {generated}, the data have shape {wanted}."
        )


def check_hessian(owner: str, energy: nn.Module, x: Tensor) -> None:
    """Check that ∇²f is not zero everywhere, as it is for every piecewise linear network."""
    with evaluation_mode(energy):
        x, _, slope = differentiable_gradient(energy, x[:16])
        v = torch.randn_like(slope)
        curved = slope.requires_grad and torch.autograd.grad((slope * v).sum(), x, allow_unused=True)[0]
    if not isinstance(curved, Tensor) or not curved.any():
        raise IncompatibleModel(
            f"{owner} cannot train {type(energy).__name__}: its second derivatives in x are zero everywhere, "
            "so it is piecewise linear. Use a smooth activation such as softplus."
        )


@torch.no_grad()
def check_statistics(owner: str, statistics: nn.Module, x: Tensor, z: Tensor) -> None:
    """Check that T maps (B, ...) and (B, latent_dim) to (B,)."""
    try:
        with evaluation_mode(statistics):
            shape = tuple(statistics(x[:2], z[:2]).shape)
    except Exception as error:
        raise IncompatibleModel(
            f"{owner}: {type(statistics).__name__} failed on a pair (x, z): {error}"
        ) from error
    if shape != (len(x[:2]),):
        raise IncompatibleModel(
            f"{owner}: the statistics network must return one number per pair, got shape {shape}."
        )


@torch.no_grad()
def _output_shape(owner: str, network: nn.Module, x: Tensor) -> torch.Size:
    try:
        with evaluation_mode(network):
            output = network(x)
    except Exception as error:
        takes_rows = x.ndim > 2 and hasattr(network, "data_dim")
        hint = "; flatten images with x.reshape(len(x), -1)" if takes_rows else ""
        raise IncompatibleModel(
            f"{owner}: {type(network).__name__} failed on input of shape {tuple(x.shape)}{hint}: {error}"
        ) from error
    if not isinstance(output, Tensor):
        raise IncompatibleModel(
            f"{owner}: {type(network).__name__} must return one number per point, "
            f"got {type(output).__name__}."
        )
    return output.shape

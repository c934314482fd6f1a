"""Do the networks fit the data? Asked once, with an example batch, before training starts."""

import torch
from torch import Tensor, nn

from vera.errors import IncompatibleModel
from vera.generator import Generator, evaluating


def check_energy(owner: str, energy: nn.Module, x: Tensor) -> None:
    """f must map (B, ...) to (B,)."""
    width = getattr(energy, "data_dim", x.shape[1])
    if width != x.shape[1]:
        raise IncompatibleModel(f"{owner}: {type(energy).__name__} takes {width} dimensions, the data have {tuple(x.shape)}.")
    shape = _output_shape(owner, energy, x[:2])
    if shape != (len(x[:2]),):
        raise IncompatibleModel(f"{owner}: the energy must return one number a point, shape ({len(x[:2])},), got {tuple(shape)}.")


def check_generator(owner: str, generator: Generator, x: Tensor) -> None:
    """g must map (B, latent_dim) to the shape of the data."""
    shape = _output_shape(owner, generator, x.new_zeros(2, generator.latent_dim))
    made, wanted = tuple(shape[1:]), tuple(x.shape[1:])
    if made != wanted:
        raise IncompatibleModel(f"{owner}: the generator makes points of shape {made}, the data have {wanted}.")


@torch.no_grad()
def _output_shape(owner: str, network: nn.Module, x: Tensor) -> torch.Size:
    try:
        with evaluating(network):
            output = network(x)
    except Exception as error:
        raise IncompatibleModel(f"{owner}: {type(network).__name__} refuses input of shape {tuple(x.shape)}: {error}") from error
    if not isinstance(output, Tensor):
        raise IncompatibleModel(f"{owner}: {type(network).__name__} must return one number a point, got {type(output).__name__}.")
    return output.shape

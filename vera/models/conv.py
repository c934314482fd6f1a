"""Convolutional energy and generator for images of any size up to 128 × 128, built from DCGAN.

DCGAN needs a square whose side is a power of two. The energy pads an image to the next such square with
zeros, the generator crops its image to the size of the data, both evenly on all sides. Pixels are in [−1, 1],
so zero is mid-grey.
"""

from typing import Annotated, get_args

from torch import Tensor, nn
from torch.nn.functional import pad

from vera.models.dcgan import DCGANEnergy, DCGANGenerator, Side
from vera.models.generator import Generator
from vera.spec.registry import models
from vera.spec.settings import Bound, Count, Positive, validate_arguments

SIDES: tuple[Side, ...] = get_args(Side)
LARGEST_SIDE = max(SIDES)
Length = Annotated[int, Bound(1, LARGEST_SIDE)]


def find_margins(height: int, width: int) -> tuple[Side, tuple[int, int, int, int]]:
    """Return the side of the smallest square that DCGAN takes, and the margins left, right, top and bottom of
    an image in its middle."""
    side = next(side for side in SIDES if side >= max(height, width))
    left, top = (side - width) // 2, (side - height) // 2
    return side, (left, side - width - left, top, side - height - top)


@models.register("conv")
class ConvEnergy(nn.Module):
    """f(x) of an image (channels, height, width); the stage next to the image has `maps` maps."""

    piecewise_linear = True

    @validate_arguments
    def __init__(self, channels: Count, height: Length, width: Length, maps: Count = 32) -> None:
        super().__init__()
        side, self.margins = find_margins(height, width)
        self.net = DCGANEnergy(channels, side, maps)

    def forward(self, x: Tensor) -> Tensor:
        return self.net(pad(x, self.margins))


class ConvGenerator(nn.Module):
    """The mean g(z): an image (channels, height, width) with pixels in [−1, 1]."""

    @validate_arguments
    def __init__(
        self, latent_dim: Count, channels: Count, height: Length, width: Length, maps: Count = 32
    ) -> None:
        super().__init__()
        self.latent_dim, self.height, self.width = latent_dim, height, width
        side, (self.left, _, self.top, _) = find_margins(height, width)
        self.net = DCGANGenerator(latent_dim, channels, side, maps)

    def forward(self, z: Tensor) -> Tensor:
        images = self.net(z)
        return images[:, :, self.top : self.top + self.height, self.left : self.left + self.width]


@models.register("conv-generator")
@validate_arguments
def conv_generator(
    channels: Count,
    height: Length,
    width: Length,
    latent_dim: Count = 64,
    maps: Count = 32,
    sigma: Positive | None = None,
    sigma_min: Positive = 0.01,
    sigma_max: Positive = 0.3,
) -> Generator:
    """The generator for the convolutional energy."""
    net = ConvGenerator(latent_dim, channels, height, width, maps)
    return Generator(net, sigma=sigma, sigma_min=sigma_min, sigma_max=sigma_max)

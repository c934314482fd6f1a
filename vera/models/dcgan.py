"""DCGAN: the energy f(x) and the generator g(z) of the mode-counting experiment on StackedMNIST (B.5), for
square images.

Between 4 × 4 and the image's side every stage halves (energy) or doubles (generator) the side; the stage next
to the image has `width` maps, each further one twice as many. At side 32 the widest stage of side 64 is left
out. The generator has batch norm, the energy none, unlike DCGAN's discriminator: f of one image must not
depend on the rest of the batch. Default PyTorch initialisation.
"""

from itertools import pairwise
from typing import Literal

from torch import Tensor, nn

from vera.models.generator import Generator
from vera.spec.registry import models
from vera.spec.settings import Count, Positive, validated

Side = Literal[8, 16, 32, 64, 128]


def count_doublings(side: Side) -> int:
    """How often a 4 × 4 map is doubled until it has this side."""
    return (side // 4).bit_length() - 1


@models.register("dcgan")
class DCGANEnergy(nn.Module):
    """Convolutions 3 -> 64 -> 128 -> 256 -> 512 -> 1 of size 4 × 4, LeakyReLU .2: 2,764,736 weights at side
    64."""

    piecewise_linear = True

    @validated
    def __init__(self, channels: Count = 3, side: Side = 64, width: Count = 64) -> None:
        super().__init__()
        maps = [width * 2**i for i in range(count_doublings(side))]
        layers: list[nn.Module] = []
        for inputs, outputs in pairwise((channels, *maps)):
            layers += [nn.Conv2d(inputs, outputs, 4, 2, 1), nn.LeakyReLU(0.2, inplace=True)]
        self.net = nn.Sequential(*layers, nn.Conv2d(maps[-1], 1, 4, bias=False))

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x).flatten(1).squeeze(1)


class DCGANGenerator(nn.Module):
    """The mean g(z): transposed convolutions 100 -> 512 -> 256 -> 128 -> 64 -> 3 of size 4 × 4, batch norm,
    ReLU; Tanh."""

    @validated
    def __init__(
        self, latent_dim: Count = 100, channels: Count = 3, side: Side = 64, width: Count = 64
    ) -> None:
        super().__init__()
        self.latent_dim = latent_dim
        maps = [width * 2**i for i in reversed(range(count_doublings(side)))]
        layers = _build_stage(latent_dim, maps[0], stride=1, padding=0)
        for inputs, outputs in pairwise(maps):
            layers += _build_stage(inputs, outputs, stride=2, padding=1)
        self.net = nn.Sequential(*layers, nn.ConvTranspose2d(maps[-1], channels, 4, 2, 1), nn.Tanh())

    def forward(self, z: Tensor) -> Tensor:
        return self.net(z[:, :, None, None])


def _build_stage(inputs: int, outputs: int, stride: int, padding: int) -> list[nn.Module]:
    convolution = nn.ConvTranspose2d(inputs, outputs, 4, stride, padding, bias=False)
    return [convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)]


@models.register("dcgan-generator")
@validated
def dcgan_generator(
    latent_dim: Count = 100,
    channels: Count = 3,
    side: Side = 64,
    width: Count = 64,
    sigma: Positive | None = None,
    sigma_min: Positive = 0.01,
    sigma_max: Positive = 0.3,
) -> Generator:
    """The generator beside the DCGAN energy (3,576,707 weights and σ at side 64)."""
    net = DCGANGenerator(latent_dim, channels, side, width)
    return Generator(net, sigma=sigma, sigma_min=sigma_min, sigma_max=sigma_max)

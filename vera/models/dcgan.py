"""DCGAN for square images: energy f(x), classifier p(y|x) with f(x), and generator g(z).

The paper counts modes of StackedMNIST with the energy and the generator (B.5). The classifier is the energy
with one output per class; the small image experiment trains it.

Each stage halves (energy) or doubles (generator) the side, between 4 × 4 and the side of the image. The stage
next to the image has `width` maps; the number of maps doubles with each further stage. At side 32 the widest
stage of side 64 is omitted. The generator has batch norm. The energy has none, unlike DCGAN's discriminator,
because f of one image must not depend on the rest of the batch. Initialisation is PyTorch's default.
"""

from itertools import pairwise
from typing import Literal

from torch import Tensor, nn

from vera.models.classifier import Classifier
from vera.models.generator import Generator
from vera.spec.registry import models
from vera.spec.settings import Count, Positive, validate_arguments

Side = Literal[8, 16, 32, 64, 128]


def count_doublings(side: Side) -> int:
    """Return how many doublings lead from a 4 × 4 map to this side."""
    return (side // 4).bit_length() - 1


@models.register("dcgan")
class DCGANEnergy(nn.Module):
    """4 × 4 convolutions 3 -> 64 -> 128 -> 256 -> 512 -> 1, LeakyReLU .2: 2,764,736 weights at side 64."""

    piecewise_linear = True

    @validate_arguments
    def __init__(self, channels: Count = 3, side: Side = 64, width: Count = 64) -> None:
        super().__init__()
        self.net = _build_halving(channels, side, width, outputs=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x).flatten(1).squeeze(1)


@models.register("dcgan-classifier")
class DCGANClassifier(Classifier):
    """The convolutions of the energy with one output per class: 43,616 weights at side 16, width 32, grey."""

    @validate_arguments
    def __init__(self, classes: Count, channels: Count = 3, side: Side = 64, width: Count = 64) -> None:
        super().__init__()
        self.classes = classes
        self.net = _build_halving(channels, side, width, outputs=classes)

    def logits(self, x: Tensor) -> Tensor:
        return self.net(x).flatten(1)


def _build_halving(channels: int, side: Side, width: int, outputs: int) -> nn.Sequential:
    """Convolutions that halve the side down to 4 × 4, and one that maps this to the outputs."""
    maps = [width * 2**i for i in range(count_doublings(side))]
    layers: list[nn.Module] = []
    for before, after in pairwise((channels, *maps)):
        layers += [nn.Conv2d(before, after, 4, 2, 1), nn.LeakyReLU(0.2, inplace=True)]
    return nn.Sequential(*layers, nn.Conv2d(maps[-1], outputs, 4, bias=False))


class DCGANGenerator(nn.Module):
    """The mean g(z): 4 × 4 transposed convolutions 100 -> 512 -> 256 -> 128 -> 64 -> 3.

    Each stage has batch norm and ReLU; the output is Tanh.
    """

    @validate_arguments
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
@validate_arguments
def dcgan_generator(
    latent_dim: Count = 100,
    channels: Count = 3,
    side: Side = 64,
    width: Count = 64,
    sigma: Positive | None = None,
    sigma_min: Positive = 0.01,
    sigma_max: Positive = 0.3,
) -> Generator:
    """The generator for the DCGAN energy (3,576,707 weights and σ at side 64)."""
    net = DCGANGenerator(latent_dim, channels, side, width)
    return Generator(net, sigma=sigma, sigma_min=sigma_min, sigma_max=sigma_max)

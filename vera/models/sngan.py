"""SNGAN's residual generator (Miyato et al., 2018), used with the Wide ResNet (Sec. 6).

A linear layer maps z to 4 × 4 maps. Residual blocks double the side. Batch norm, ReLU, a convolution to the
channels of the image and Tanh follow. The paper says "identical to Miyato et al.", but the shortcuts of the
published code have no weights. `shortcut="plain"` is the published code; "learned" is the original, with a
1 × 1 convolution in each shortcut.

Initialisation is Xavier-uniform, with gain √2 for the 3 × 3 convolutions and gain 1 for the linear layer and
the learned shortcuts. Biases start at 0.
"""

import math
from typing import Literal

from torch import Tensor, nn
from torch.nn.functional import interpolate

from vera.models.dcgan import Side, count_doublings
from vera.models.generator import Generator
from vera.spec.registry import models
from vera.spec.settings import Count, Positive, validate_arguments

Shortcut = Literal["plain", "learned"]


class SNGANGenerator(nn.Module):
    """The mean g(z), with `width` maps in every block; three blocks for side 32."""

    @validate_arguments
    def __init__(
        self,
        latent_dim: Count = 128,
        channels: Count = 3,
        side: Side = 32,
        width: Count = 256,
        shortcut: Shortcut = "plain",
    ) -> None:
        super().__init__()
        self.latent_dim, self.width = latent_dim, width
        self.linear = nn.Linear(latent_dim, 4 * 4 * width)
        self.blocks = nn.Sequential(*(UpBlock(width, shortcut) for _ in range(count_doublings(side))))
        convolution = nn.Conv2d(width, channels, 3, padding=1)
        self.output = nn.Sequential(nn.BatchNorm2d(width), nn.ReLU(inplace=True), convolution, nn.Tanh())
        self.apply(_initialise)

    def forward(self, z: Tensor) -> Tensor:
        return self.output(self.blocks(self.linear(z).view(len(z), self.width, 4, 4)))


class UpBlock(nn.Module):
    """A residual block that doubles the side.

    Batch norm, ReLU, nearest-neighbour doubling, convolution, batch norm, ReLU, convolution; plus a shortcut.
    """

    def __init__(self, width: int, shortcut: Shortcut) -> None:
        super().__init__()
        self.before = nn.Sequential(nn.BatchNorm2d(width), nn.ReLU(inplace=True))
        self.after = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, padding=1),
        )
        self.shortcut = nn.Conv2d(width, width, 1) if shortcut == "learned" else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        # The 1 × 1 convolution commutes with nearest-neighbour doubling; before it, it costs a quarter.
        return self.after(_double_side(self.before(x))) + _double_side(self.shortcut(x))


def _double_side(x: Tensor) -> Tensor:
    return interpolate(x, scale_factor=2, mode="nearest")


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Conv2d | nn.Linear):
        spatial = isinstance(module, nn.Conv2d) and module.kernel_size != (1, 1)
        nn.init.xavier_uniform_(module.weight, gain=math.sqrt(2) if spatial else 1.0)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


@models.register("sngan-generator")
@validate_arguments
def sngan_generator(
    latent_dim: Count = 128,
    channels: Count = 3,
    side: Side = 32,
    width: Count = 256,
    shortcut: Shortcut = "plain",
    sigma: Positive | None = None,
    sigma_min: Positive = 0.01,
    sigma_max: Positive = 0.3,
) -> Generator:
    """The SNGAN generator. Default: the paper's.

    It has 4,079,363 weights and σ, or 4,276,739 weights with learned shortcuts.
    """
    net = SNGANGenerator(latent_dim, channels, side, width, shortcut)
    return Generator(net, sigma=sigma, sigma_min=sigma_min, sigma_max=sigma_max)

"""SNGAN's residual generator (Miyato et al., 2018), the one beside the Wide ResNet (Sec. 6).

z to 4 × 4 maps by a linear layer; blocks that double the side; batch norm, ReLU, a convolution to the image's
channels, Tanh. The paper says "identical to Miyato et al.", but the published code has no weights in the
shortcuts of its blocks: `shortcut="plain"` is that code, "learned" the original, with a 1 × 1 convolution in
each.

The 3 × 3 convolutions start Xavier-uniform with gain √2, the linear layer and the learned shortcuts with gain
1, biases at 0.
"""

import math
from typing import Literal

from torch import Tensor, nn
from torch.nn.functional import interpolate

from vera.models.dcgan import Side, count_doublings
from vera.models.generator import Generator
from vera.spec.registry import models
from vera.spec.settings import Count, Positive, validated

Shortcut = Literal["plain", "learned"]


class SNGANGenerator(nn.Module):
    """The mean g(z); `width` maps throughout, three blocks for a side of 32."""

    @validated
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
    """Twice the side: batch norm, ReLU, nearest-neighbour doubling, convolution, batch norm, ReLU,
    convolution, plus shortcut."""

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
        # A 1 × 1 convolution commutes with nearest-neighbour doubling, and before it there is a quarter of the work.
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
@validated
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
    """The paper's image generator by default (4,079,363 weights and σ; 4,276,739 with learned shortcuts)."""
    net = SNGANGenerator(latent_dim, channels, side, width, shortcut)
    return Generator(net, sigma=sigma, sigma_min=sigma_min, sigma_max=sigma_max)

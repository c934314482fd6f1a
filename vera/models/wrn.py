"""The Wide ResNet without batch norm: an image classifier that is also an energy model (JEM, Sec. 6).

A 3 × 3 convolution to 16 maps is followed by three groups of (depth − 4) / 6 residual blocks with 16, 32 and
64 times `width` maps, at full, half and quarter side, then an average over the map and one linear layer.
Without batch norm, f of one image depends on that image only. Initialisation is PyTorch's default: the
published code defines a Xavier initialisation but never calls it.

Traps: the shortcut takes the *raw* input of a block, so the first activation must not be in place. The
average covers whole 8 × 8 cells: an image of 32 × 39 gives a map of 8 × 10, and the surplus columns are
ignored, as in the published code.
"""

from typing import Annotated

from torch import Tensor, nn
from torch.nn.functional import leaky_relu, leaky_relu_

from vera.errors import SettingError
from vera.models.classifier import Classifier
from vera.spec.registry import models
from vera.spec.settings import Bound, Count, validate_arguments

SLOPE, STEM, CELL = 0.2, 16, 8

Dropout = Annotated[float, Bound(0, below=1)]


@models.register("wrn")
class WideResNet(Classifier):
    """A Wide ResNet. Default: the paper's WRN-28-10.

    WRN-28-10 has 36,471,338 weights for 10 classes and 36,529,028 for 100; WRN-28-2 has 1,466,026.
    """

    @validate_arguments
    def __init__(
        self,
        classes: Count,
        depth: Count = 28,
        width: Count = 10,
        dropout: Dropout = 0.0,
        channels: Count = 3,
    ) -> None:
        super().__init__()
        if depth < 10 or depth % 6 != 4:
            raise SettingError(f"WideResNet: depth must be 6n + 4 (10, 16, 22, 28, ...), got {depth}.")
        self.classes = classes
        self.stem = nn.Conv2d(channels, STEM, 3, padding=1)
        self.blocks = nn.Sequential()
        maps = STEM
        for factor, stride in ((1, 1), (2, 2), (4, 2)):
            for i in range((depth - 4) // 6):
                self.blocks.append(Block(maps, STEM * factor * width, stride if i == 0 else 1, dropout))
                maps = STEM * factor * width
        self.output = nn.Linear(maps, classes)

    def logits(self, x: Tensor) -> Tensor:
        return self.output(average_cells(leaky_relu_(self.blocks(self.stem(x)), SLOPE)))


class Block(nn.Module):
    """A residual block: activation, convolution, dropout, activation, convolution with the stride.

    The shortcut takes the raw input.
    """

    def __init__(self, inputs: int, outputs: int, stride: int, dropout: float) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.dropout = nn.Dropout(dropout)
        self.second = nn.Conv2d(outputs, outputs, 3, stride, padding=1)
        changes = stride != 1 or inputs != outputs
        self.shortcut = nn.Conv2d(inputs, outputs, 1, stride) if changes else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.dropout(self.first(leaky_relu(x, SLOPE)))
        return self.shortcut(x) + self.second(leaky_relu_(hidden, SLOPE))


def average_cells(x: Tensor) -> Tensor:
    """Map (B, C, H, W) to (B, C) by the average over all whole 8 × 8 cells; a shorter side counts whole."""
    height, width = (side if side < CELL else side - side % CELL for side in x.shape[2:])
    return x[:, :, :height, :width].mean((2, 3))

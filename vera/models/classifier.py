"""Classifiers as energy models: f(x) is the logsumexp of the class logits (JEM, Grathwohl et al., 2020).

One network gives p(y|x), the softmax of the logits, and an unnormalised log-density of x. Trap: a constant
added to all logits changes f but not p(y|x), so a cross-entropy does not determine the level of f.

The digit classifier counts modes: it predicts the digit in one channel of a generated image (B.5). Trap: it
is trained on pixels in [0, 1], normalised by MNIST's mean and deviation, but the published counting passes it
samples in [−1, 1] unchanged. This class takes images in [−1, 1], like every network here, and clamps and
normalises them itself.
"""

from abc import abstractmethod
from itertools import pairwise
from typing import Annotated

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrizations import weight_norm

from vera.models.mlp import Activation, build_dense
from vera.spec.registry import models
from vera.spec.settings import Bound, Count, Sizes, validate_arguments

PIXEL_MEAN, PIXEL_DEVIATION = 0.1307, 0.3081
"""Mean and standard deviation of MNIST's training images, with pixels in [0, 1]."""


class Classifier(nn.Module):
    """A network with one logit per class; as an energy model, f(x) = logsumexp_y logits(x)."""

    classes: int

    @abstractmethod
    def logits(self, x: Tensor) -> Tensor:
        """Map (B, ...) to (B, classes)."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.logsumexp(self.logits(x), dim=1)


@models.register("mlp-classifier")
class MLPClassifier(Classifier):
    """The energy for tables: D -> 1000 -> 500 -> 500 -> 250 -> 250 -> 250 -> classes, LeakyReLU .2.

    It has 1,789,260 weights for MNIST. `weight_normalised` applies weight norm to the hidden layers but not
    to the output, as the paper does for MNIST (1,792,010 weights).
    """

    @validate_arguments
    def __init__(
        self,
        data_dim: Count,
        classes: Count,
        hidden: Sizes = (1000, 500, 500, 250, 250, 250),
        activation: Activation = "leaky_relu",
        weight_normalised: bool = False,
    ) -> None:
        super().__init__()
        self.data_dim, self.classes = data_dim, classes
        self.net = build_dense((data_dim, *hidden, classes), activation)
        if weight_normalised:
            for layer, following in pairwise(self.net):
                if isinstance(layer, nn.Linear) and not isinstance(following, nn.Linear):
                    weight_norm(layer)

    def logits(self, x: Tensor) -> Tensor:
        return self.net(x)


@models.register("digit-classifier")
class DigitClassifier(Classifier):
    """Maps square grey images to logits: 7,393,034 weights at side 64, 1,199,882 at side 28.

    Two 3 × 3 convolutions without padding, 2 × 2 max pooling and two linear layers, with dropout of .25 for
    whole maps and .5 for units.
    """

    @validate_arguments
    def __init__(self, classes: Count = 10, side: Annotated[int, Bound(6)] = 64) -> None:
        super().__init__()
        self.classes = classes
        self.net = nn.Sequential(
            nn.Conv2d(1, 32, 3),
            nn.ReLU(inplace=True),
            nn.Conv2d(32, 64, 3),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.Dropout2d(0.25),
            nn.Flatten(),
            nn.Linear(64 * ((side - 4) // 2) ** 2, 128),
            nn.ReLU(inplace=True),
            nn.Dropout(0.5),
            nn.Linear(128, classes),
        )

    def logits(self, x: Tensor) -> Tensor:
        pixels = ((x + 1) / 2).clamp(0, 1)
        return self.net((pixels - PIXEL_MEAN) / PIXEL_DEVIATION)

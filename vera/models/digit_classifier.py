"""The classifier for counting modes: it predicts the digit in one channel of a generated image (B.5).

It has two 3 × 3 convolutions without padding, 2 × 2 max pooling and two linear layers, with dropout. Trap: it
is trained on pixels in [0, 1], normalised by MNIST's mean and deviation, but the published counting passes it
samples in [−1, 1] unchanged. This class takes images in [−1, 1], like every network here, and clamps and
normalises them itself.
"""

from typing import Annotated

from torch import Tensor, nn

from vera.models.classifier import Classifier
from vera.spec.registry import models
from vera.spec.settings import Bound, Count, validate_arguments

PIXEL_MEAN, PIXEL_DEVIATION = 0.1307, 0.3081
"""Mean and standard deviation of MNIST's training images, with pixels in [0, 1]."""


@models.register("digit-classifier")
class DigitClassifier(Classifier):
    """Maps square grey images to logits: 7,393,034 weights at side 64, 1,199,882 at side 28.

    Dropout is .25 for whole maps and .5 for units.
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

"""The contract of a feature network: images in, features out, and class probabilities where it has them.

Samples of any two methods are compared through the same network, so a value means nothing without its name
and fingerprint. Images are in [−1, 1] as everywhere; before a network sees them they become bytes, round(255
· clamp((x + 1) / 2, 0, 1)), as if they had been saved, which is part of the protocol of FID and of the
Inception Score.

Trap: a pixel that is not finite would become an ordinary byte. The features and probabilities of such an
image are NaN here, and so is whatever is computed from them.
"""

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn

from vera.errors import SettingError


class Description(NamedTuple):
    """What a network says of n images: features (n, dim), and probabilities (n, classes) where it has them;
    on the CPU."""

    features: Tensor
    probabilities: Tensor | None


class FeatureNetwork(ABC):
    """A fixed network that turns images into features."""

    name: str
    """For people: which network, from where."""
    key: str
    """Part of a metric's name, so that values of different networks are never averaged."""
    dim: int
    fingerprint: str
    """A short hash of the weights and of what is done to images before them."""
    no_probabilities: str = ""
    """Why there are none, where there are none: it stands in the place of the Inception Score."""
    accuracy: float | None = None
    """Of a classifier that was trained here, on images held out from it."""
    chunk: int = 50
    device: torch.device = torch.device("cpu")

    @abstractmethod
    def describe_batch(self, pixels: Tensor) -> Description:
        """At one batch of bytes (B, channels, height, width), without a graph."""

    @torch.no_grad()
    def describe_chunks(self, images: Tensor) -> Iterator[Description]:
        """Descriptions of the images, chunk after chunk: for sets whose features are too many to hold."""
        if images.ndim != 4 or not len(images):
            raise SettingError(
                f"{self.name}: images must be (n, channels, height, width), got {tuple(images.shape)}."
            )
        for part in images.split(self.chunk):
            features, probabilities = self.describe_batch(as_bytes(part).to(self.device))
            finite = part.flatten(1).isfinite().all(1).cpu()
            yield Description(
                _only(features, finite), None if probabilities is None else _only(probabilities, finite)
            )

    def describe(self, images: Tensor) -> Description:
        features, probabilities = zip(*self.describe_chunks(images), strict=True)
        return Description(
            torch.cat(features), None if probabilities[0] is None else torch.cat(probabilities)
        )

    def features(self, images: Tensor) -> Tensor:
        return self.describe(images).features

    def probabilities(self, images: Tensor) -> Tensor | None:
        return self.describe(images).probabilities


def as_bytes(images: Tensor) -> Tensor:
    """[−1, 1] to 0..255, rounded; an image that came from bytes is exactly those bytes again. What is not
    finite becomes 0."""
    return ((images.float().nan_to_num(-1.0, -1.0, -1.0) + 1) * 127.5).round().clamp(0, 255).to(torch.uint8)


def hash_weights(network: nn.Module) -> str:
    """sha256 over every weight's name, type, shape and value."""
    digest = hashlib.sha256()
    for name, value in network.state_dict().items():
        digest.update(f"{name} {value.dtype} {list(value.shape)}".encode())
        digest.update(value.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _only(x: Tensor, finite: Tensor) -> Tensor:
    """NaN in the rows of images that are not finite."""
    return x.float().cpu().masked_fill(~finite.unsqueeze(1), math.nan)

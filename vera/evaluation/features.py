"""The contract of a feature network: it maps images to features and, if it has them, to class probabilities.

Methods are compared through the same network, so a value is meaningful only with the name and fingerprint of
its network. Images are in [−1, 1], as everywhere. They are converted to bytes first,
round(255 · clamp((x + 1) / 2, 0, 1)), as if they had been saved; this is part of the protocol of FID and of
the Inception Score.

Trap: a non-finite pixel would become an ordinary byte. Here the features and probabilities of such an image
are NaN, and so is everything computed from them.
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
    """Features (n, dim) and class probabilities (n, classes), if any, of n images; on the CPU."""

    features: Tensor
    probabilities: Tensor | None


class FeatureNetwork(ABC):
    """A fixed network that maps images to features."""

    name: str
    """Readable name: which network, and where it comes from."""
    key: str
    """Suffix of metric names, so that values of different networks are never averaged."""
    dim: int
    fingerprint: str
    """A short hash of the weights and of the preprocessing."""
    no_probabilities: str = ""
    """Why there are no probabilities, if there are none; shown instead of the Inception Score."""
    accuracy: float | None = None
    """Held-out accuracy, if the network is a classifier that was trained locally."""
    chunk: int = 50
    device: torch.device = torch.device("cpu")

    @abstractmethod
    def describe_batch(self, pixels: Tensor) -> Description:
        """Return the description of one batch of bytes (B, channels, height, width)."""

    @torch.no_grad()
    def describe_chunks(self, images: Tensor) -> Iterator[Description]:
        """Yield descriptions of the images in chunks, for sets whose features do not fit into memory."""
        if images.ndim != 4 or not len(images):
            raise SettingError(
                f"{self.name}: images must be (n, channels, height, width), got {tuple(images.shape)}."
            )
        for chunk in images.split(self.chunk):
            features, probabilities = self.describe_batch(as_bytes(chunk).to(self.device))
            finite = chunk.flatten(1).isfinite().all(1).cpu()
            yield Description(
                _mask_rows(features, finite),
                None if probabilities is None else _mask_rows(probabilities, finite),
            )

    def describe(self, images: Tensor) -> Description:
        """Return the description of all images."""
        features, probabilities = zip(*self.describe_chunks(images), strict=True)
        return Description(
            torch.cat(features), None if probabilities[0] is None else torch.cat(probabilities)
        )

    def features(self, images: Tensor) -> Tensor:
        """Return the features of all images."""
        return self.describe(images).features

    def probabilities(self, images: Tensor) -> Tensor | None:
        """Return the class probabilities of all images, or None."""
        return self.describe(images).probabilities


def as_bytes(images: Tensor) -> Tensor:
    """Map [−1, 1] to 0..255, rounded. Images that came from bytes are recovered exactly; non-finite pixels
    become 0."""
    return ((images.float().nan_to_num(-1.0, -1.0, -1.0) + 1) * 127.5).round().clamp(0, 255).to(torch.uint8)


def hash_weights(network: nn.Module) -> str:
    """Return the sha256 of the names, types, shapes and values of all weights."""
    digest = hashlib.sha256()
    for name, value in network.state_dict().items():
        digest.update(f"{name} {value.dtype} {list(value.shape)}".encode())
        digest.update(value.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _mask_rows(x: Tensor, finite: Tensor) -> Tensor:
    """Set the rows of non-finite images to NaN."""
    return x.float().cpu().masked_fill(~finite.unsqueeze(1), math.nan)

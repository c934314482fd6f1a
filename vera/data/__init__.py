"""Data sets: three toy densities, MNIST in logit space and as pixels (full and embedded), Gaussians, and a user's own tensors."""

from vera.data.contract import DataSet, Stream
from vera.data.epochs import EpochStream
from vera.data.gaussian import Gaussian
from vera.data.mnist import EmbeddedMNISTLogit, MNISTLogit
from vera.data.pixels import EmbeddedMNISTPixels, MNISTPixels, PixelDigits
from vera.data.tensor import TensorData, as_dataset
from vera.data.toy import Circles, Moons, Rings, Toy

__all__ = [
    "Circles",
    "DataSet",
    "EmbeddedMNISTLogit",
    "EmbeddedMNISTPixels",
    "EpochStream",
    "Gaussian",
    "MNISTLogit",
    "MNISTPixels",
    "Moons",
    "PixelDigits",
    "Rings",
    "Stream",
    "TensorData",
    "Toy",
    "as_dataset",
]

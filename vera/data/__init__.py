"""Data sets: three toy densities, MNIST in logit space (full and embedded), and a user's own tensors."""

from vera.data.contract import DataSet, Stream
from vera.data.epochs import EpochStream
from vera.data.mnist import EmbeddedMNISTLogit, MNISTLogit
from vera.data.tensor import TensorData, as_dataset
from vera.data.toy import Circles, Moons, Rings, Toy

__all__ = [
    "Circles",
    "DataSet",
    "EmbeddedMNISTLogit",
    "EpochStream",
    "MNISTLogit",
    "Moons",
    "Rings",
    "Stream",
    "TensorData",
    "Toy",
    "as_dataset",
]

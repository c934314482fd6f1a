"""Data sets: seven toy densities, MNIST in logit space and as pixels (full and embedded), Gaussians, and user
tensors.

Labelled data are split by the seed of a trial: tables of the UCI archive, MNIST as a table, tables that
install with this package, and user tables; images of CIFAR10, CIFAR100 and SVHN, and digits as such images.
There are also StackedMNIST, whose modes can be counted, and unseen images.
"""

from vera.data.contract import DataSet, Stream
from vera.data.digits.images import Digits32, DigitsImages, EmbeddedMNISTImages
from vera.data.digits.points import (
    EmbeddedMNISTLogit,
    EmbeddedMNISTPixels,
    MNISTLogit,
    MNISTPixels,
    PixelDigits,
)
from vera.data.digits.stacked import StackedMNIST
from vera.data.digits.tables import EmbeddedMNISTTable, MNISTTable
from vera.data.epochs import EpochStream
from vera.data.images.cifar import CIFAR10, CIFAR100, SmallCIFAR10
from vera.data.images.contract import ImageData, ImageSplit
from vera.data.images.svhn import SVHN
from vera.data.images.unseen import UnseenSet
from vera.data.labelled import LabelledBatch, LabelledData, Split
from vera.data.planar import Checkerboard, EightGaussians, Pinwheel, Spirals
from vera.data.tables.contract import LabelledTable, TableContent
from vera.data.tables.csv_table import CSVTable
from vera.data.tables.embedded import BreastCancer, DigitsTable, Wine
from vera.data.tables.uci_tables import Crop, Hepmass, Human
from vera.data.tensor import TensorData
from vera.data.toys import Circles, Gaussian, Moons, Rings, Toy
from vera.data.user_data import UserData
from vera.data.user_dataset import as_dataset
from vera.data.user_file import load

__all__ = [
    "CIFAR10",
    "CIFAR100",
    "SVHN",
    "BreastCancer",
    "CSVTable",
    "Checkerboard",
    "Circles",
    "Crop",
    "DataSet",
    "Digits32",
    "DigitsImages",
    "DigitsTable",
    "EightGaussians",
    "EmbeddedMNISTImages",
    "EmbeddedMNISTLogit",
    "EmbeddedMNISTPixels",
    "EmbeddedMNISTTable",
    "EpochStream",
    "Gaussian",
    "Hepmass",
    "Human",
    "ImageData",
    "ImageSplit",
    "LabelledBatch",
    "LabelledData",
    "LabelledTable",
    "MNISTLogit",
    "MNISTPixels",
    "MNISTTable",
    "Moons",
    "Pinwheel",
    "PixelDigits",
    "Rings",
    "SmallCIFAR10",
    "Spirals",
    "Split",
    "StackedMNIST",
    "Stream",
    "TableContent",
    "TensorData",
    "Toy",
    "UnseenSet",
    "UserData",
    "Wine",
    "as_dataset",
    "load",
]

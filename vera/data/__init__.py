"""Data sets: three toy densities, MNIST in logit space and as pixels (full and embedded), Gaussians, and a user's own tensors.

Labelled data, of which a trial's seed makes a split: tables of the UCI archive, MNIST as a table, tables that install with
scikit-learn, and a user's own; images of CIFAR10, CIFAR100 and SVHN, and digits as such images. StackedMNIST, whose modes can be
counted, and images that a model has not seen.
"""

from vera.data.cifar import CIFAR10, CIFAR100
from vera.data.contract import DataSet, Stream
from vera.data.crop import Crop
from vera.data.csv_table import CSVTable
from vera.data.digit_images import Digits32
from vera.data.digit_tables import EmbeddedMNISTTable, MNISTTable
from vera.data.embedded_tables import BreastCancer, DigitsTable, Wine
from vera.data.epochs import EpochStream
from vera.data.gaussian import Gaussian
from vera.data.hepmass import Hepmass
from vera.data.human import Human
from vera.data.images import ImageData, ImageSplit
from vera.data.labelled import LabelledBatch, LabelledData, Split
from vera.data.mnist import EmbeddedMNISTLogit, MNISTLogit
from vera.data.pixels import EmbeddedMNISTPixels, MNISTPixels, PixelDigits
from vera.data.stacked import StackedMNIST
from vera.data.svhn import SVHN
from vera.data.tables import LabelledTable, Table
from vera.data.tensor import TensorData, as_dataset
from vera.data.toy import Circles, Moons, Rings, Toy
from vera.data.unseen import Unseen

__all__ = [
    "CIFAR10",
    "CIFAR100",
    "SVHN",
    "BreastCancer",
    "CSVTable",
    "Circles",
    "Crop",
    "DataSet",
    "Digits32",
    "DigitsTable",
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
    "PixelDigits",
    "Rings",
    "Split",
    "StackedMNIST",
    "Stream",
    "Table",
    "TensorData",
    "Toy",
    "Unseen",
    "Wine",
    "as_dataset",
]

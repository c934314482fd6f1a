"""Unseen images: what a model was not trained on, to ask whether it gives them a lower density (Table 5).

An unseen set is made for a split, for it has the shape of the split's images, and some sets are made of its
held-out images. Images are floats in [-1, 1]. The fingerprint is one of these floats, so it needs the images;
it is the same wherever they were read from.

Trap: an interpolated image is the average of two held-out images, not of one and of an average. The held-out
images are shuffled and cut into batches of 100, each is averaged with the batch before it, and the first has
none before it: 9,900 of 10,000.
"""

import hashlib
from abc import ABC, abstractmethod
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d

from vera.data.digits.pixels import scale_pixels
from vera.data.files.locations import DataDir
from vera.data.files.published_file import PublishedFile
from vera.data.images import celeba, cifar, svhn
from vera.data.images import photo_patches as photos
from vera.data.images.celeba import Crop
from vera.data.labelled import Split
from vera.errors import SettingError
from vera.spec.registry import unseen_sets
from vera.spec.settings import validated
from vera.training.random_state import derive_seed

BATCH = 100
"""Images that are averaged with the batch before them."""
PICTURE_SIDE = 32


class Unseen(ABC):
    """Images for a split of images; made when they are first asked for."""

    name: ClassVar[str]

    def __init__(self, split: Split, data_dir: DataDir = None, seed: int = 0) -> None:
        if split.side is None:
            raise SettingError(
                f"The unseen set '{self.name}' is for images; the data set '{split.name}' has none."
            )
        self.split, self.data_dir, self.seed = split, data_dir, seed

    @abstractmethod
    def make(self) -> Tensor: ...

    @cached_property
    def images(self) -> Tensor:
        return self.make()

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of the images themselves."""
        digest = hashlib.sha256(f"{tuple(self.images.shape)}".encode())
        digest.update(self.images.contiguous().numpy().data)
        return digest.hexdigest()[:16]

    def generator(self) -> torch.Generator:
        return torch.Generator().manual_seed(derive_seed(self.seed, f"unseen {self.name}"))


class Pictures(Unseen):
    """Pictures of another set, 32 pixels wide and in colour; averaged down to a split's side where that is a
    half or a quarter."""

    def __init__(self, split: Split, data_dir: DataDir = None, seed: int = 0) -> None:
        super().__init__(split, data_dir, seed)
        if split.channels != 3 or split.side is None or PICTURE_SIDE % split.side:
            raise SettingError(
                f"The unseen set '{self.name}' has colour images of side {PICTURE_SIDE}, which can be made to fit side 16 and 8; "
                f"'{split.name}' has {split.channels or 'no'} channels and side {split.side}."
            )
        self.factor = PICTURE_SIDE // split.side

    files: ClassVar[tuple[PublishedFile, ...]] = ()

    @abstractmethod
    def read(self) -> Tensor:
        """Bytes, (N, 3, height, 32)."""

    @classmethod
    def locate(cls, data_dir: DataDir = None) -> Path:
        """The folder of its files, or `DataMissing`."""
        first, *_ = (file.find(data_dir) for file in cls.files)
        return first.parent

    @classmethod
    def verify(cls, data_dir: DataDir = None) -> None:
        """`DataMissing` or `DataCorrupt`, if they are not here as they were published."""
        for file in cls.files:
            file.check(data_dir)

    def make(self) -> Tensor:
        return (
            scale_pixels(self.read())
            if self.factor == 1
            else scale_pixels(avg_pool2d(self.read().float(), self.factor))
        )


@unseen_sets.register("cifar10-test")
class CIFAR10Test(Pictures):
    """Unseen: the 10,000 test images of CIFAR10."""

    name, files = "cifar10-test", (cifar.CIFAR10_TEST,)

    def read(self) -> Tensor:
        return cifar.CIFAR10.read(cifar.CIFAR10_TEST, self.data_dir)[0]


@unseen_sets.register("cifar100-test")
class CIFAR100Test(Pictures):
    """Unseen: the 10,000 test images of CIFAR100."""

    name, files = "cifar100-test", (cifar.CIFAR100_TEST,)

    def read(self) -> Tensor:
        return cifar.CIFAR100.read(cifar.CIFAR100_TEST, self.data_dir)[0]


@unseen_sets.register("svhn-test")
class SVHNTest(Pictures):
    """Unseen: the 26,032 test images of SVHN."""

    name, files = "svhn-test", (svhn.TEST,)

    def read(self) -> Tensor:
        return svhn.read_mat(svhn.TEST, self.data_dir)[0]


@unseen_sets.register("celeba-test")
class CelebATest(Pictures):
    """Unseen: the 19,962 test faces of CelebA, 39 × 32 as in the paper's code, or the middle of each, 32 ×
    32."""

    name, files = "celeba-test", (celeba.IMAGES, celeba.PARTITION)

    @validated
    def __init__(self, split: Split, data_dir: DataDir = None, seed: int = 0, crop: Crop = "resize") -> None:
        super().__init__(split, data_dir, seed)
        self.crop = crop

    def read(self) -> Tensor:
        return celeba.read_faces(self.crop, self.data_dir)


@unseen_sets.register("photos")
class Photos(Pictures):
    """Unseen: 520 patches of two photographs, installed with scikit-learn."""

    name = "photos"

    def read(self) -> Tensor:
        return photos.read_patches()

    @staticmethod
    def locate(data_dir: DataDir = None) -> Path:
        return photos.find_photo_folder()


@unseen_sets.register("interpolated")
class Interpolated(Unseen):
    """Unseen: averages of two held-out images each, 9,900 of 10,000."""

    name = "interpolated"

    def make(self) -> Tensor:
        held_out = self.split.held_out
        if len(held_out) < 2 * BATCH:
            raise SettingError(
                f"'interpolated' needs {2 * BATCH} held-out images, '{self.split.name}' has {len(held_out)}."
            )
        order = torch.randperm(len(held_out), generator=self.generator())
        shuffled = held_out[order[: len(order) // BATCH * BATCH]]
        return (shuffled[BATCH:] + shuffled[:-BATCH]) / 2


@unseen_sets.register("inverted")
class Inverted(Unseen):
    """Unseen: the held-out images with light and dark exchanged."""

    name = "inverted"

    def make(self) -> Tensor:
        return -self.split.held_out


@unseen_sets.register("uniform")
class Uniform(Unseen):
    """Unseen: uniform noise, as many images as are held out."""

    name = "uniform"

    def make(self) -> Tensor:
        return torch.empty(self.split.held_out.shape).uniform_(-1, 1, generator=self.generator())


@unseen_sets.register("constant")
class Constant(Unseen):
    """Unseen: one black image; more of them would all have its score."""

    name = "constant"

    def make(self) -> Tensor:
        return torch.full((1, *self.split.held_out.shape[1:]), -1.0)

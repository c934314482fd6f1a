"""Unseen images: images on which a model was not trained, to test whether they get a lower density (Table 5).

An unseen set belongs to a split: it has the shape of the split's images, and some sets are derived from its
held-out images. Images are floats in [-1, 1]. The fingerprint is a hash of these floats, so it needs the
images, and it does not depend on the files from which they were read.

Trap: an interpolated image is the average of two held-out images, not of an image and an average. The
held-out images are shuffled and split into batches of 100, and each batch is averaged with the previous one.
The first batch has no previous one, so 10,000 images give 9,900.
"""

import hashlib
from abc import ABC, abstractmethod
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d

from vera.data.digits.points import scale_pixels
from vera.data.files.checksums import PublishedFile
from vera.data.files.locations import EMBEDDED_REMEDY, DataDir, find_embedded_file, read_verified
from vera.data.images import celeba, cifar, svhn
from vera.data.labelled import Split
from vera.errors import SettingError
from vera.extras import explain_missing, require_package
from vera.spec.registry import unseen_sets
from vera.spec.settings import validate_arguments
from vera.training.state.random_state import derive_seed

BATCH = 100
"""Images per batch of the interpolated set."""
SOURCE_SIDE = 32
"""Width of the images of other sets."""
PHOTO_SHA256 = {
    "china.jpg": "8378025ad2519d649d02e32bd98990db4ab572357d9f09841c2fbfbb4fefad29",
    "flower.jpg": "a77f6ec41e353afdf8bdff2ea981b2955535d8d83294f8cfa49cf4e423dd5638",
}


class UnseenSet(ABC):
    """Unseen images for a split of images; created at the first access."""

    name: ClassVar[str]

    def __init__(self, split: Split, data_dir: DataDir = None, seed: int = 0) -> None:
        if split.side is None:
            raise SettingError(
                f"The unseen set '{self.name}' needs images; the data set '{split.name}' has none."
            )
        self.split, self.data_dir, self.seed = split, data_dir, seed

    @abstractmethod
    def build_images(self) -> Tensor: ...

    @cached_property
    def images(self) -> Tensor:
        return self.build_images()

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of the images themselves."""
        digest = hashlib.sha256(f"{tuple(self.images.shape)}".encode())
        digest.update(self.images.contiguous().numpy().data)
        return digest.hexdigest()[:16]

    def build_generator(self) -> torch.Generator:
        return torch.Generator().manual_seed(derive_seed(self.seed, f"unseen {self.name}"))


class OtherImages(UnseenSet):
    """Colour images of another set, 32 pixels wide, averaged down to the side of the split (16 or 8).

    For grey images the channels are averaged too.
    """

    def __init__(self, split: Split, data_dir: DataDir = None, seed: int = 0) -> None:
        super().__init__(split, data_dir, seed)
        if split.channels not in (1, 3) or split.side is None or SOURCE_SIDE % split.side:
            raise SettingError(
                f"The unseen set '{self.name}' has images of 1 or 3 channels and side {SOURCE_SIDE} "
                f"(or 16, 8 reduced); "
                f"'{split.name}' has {split.channels or 'no'} channels and side {split.side}."
            )
        self.factor = SOURCE_SIDE // split.side

    files: ClassVar[tuple[PublishedFile, ...]] = ()
    packages: ClassVar[tuple[str, ...]] = ()
    """Optional packages that reading the files needs."""

    @abstractmethod
    def read(self) -> Tensor:
        """Return bytes (N, 3, height, 32)."""

    @classmethod
    def locate(cls, data_dir: DataDir = None) -> Path:
        """Return the folder of the files, or raise `DataMissing`."""
        first, *_ = (file.find(data_dir) for file in cls.files)
        return first.parent

    @classmethod
    def verify(cls, data_dir: DataDir = None) -> None:
        """Raise `DataMissing`, `DataCorrupt` or `MissingExtra` unless the published files are here and can be
        read."""
        for file in cls.files:
            file.check(data_dir)
        for package in cls.packages:
            require_package(package, f"The unseen set '{cls.name}'")

    def build_images(self) -> Tensor:
        images = self.read()
        if self.split.channels == 1:
            images = images.float().mean(1, keepdim=True)
        return scale_pixels(images if self.factor == 1 else avg_pool2d(images.float(), self.factor))


@unseen_sets.register("cifar10-test")
class CIFAR10Test(OtherImages):
    """Unseen: the 10,000 test images of CIFAR10."""

    name, files = "cifar10-test", (cifar.CIFAR10_TEST,)

    def read(self) -> Tensor:
        return cifar.CIFAR10.read(cifar.CIFAR10_TEST, self.data_dir)[0]


@unseen_sets.register("cifar100-test")
class CIFAR100Test(OtherImages):
    """Unseen: the 10,000 test images of CIFAR100."""

    name, files = "cifar100-test", (cifar.CIFAR100_TEST,)

    def read(self) -> Tensor:
        return cifar.CIFAR100.read(cifar.CIFAR100_TEST, self.data_dir)[0]


@unseen_sets.register("svhn-test")
class SVHNTest(OtherImages):
    """Unseen: the 26,032 test images of SVHN."""

    name, files, packages = "svhn-test", (svhn.TEST,), ("scipy",)

    def read(self) -> Tensor:
        return svhn.read_mat(svhn.TEST, self.data_dir)[0]


@unseen_sets.register("celeba-test")
class CelebATest(OtherImages):
    """Unseen: the 19,962 test faces of CelebA, 39 × 32 as in the paper's code, or their middle 32 × 32."""

    name, files, packages = "celeba-test", (celeba.IMAGES, celeba.PARTITION), ("PIL",)

    @validate_arguments
    def __init__(
        self, split: Split, data_dir: DataDir = None, seed: int = 0, crop: celeba.FaceCrop = "resize"
    ) -> None:
        super().__init__(split, data_dir, seed)
        self.crop = crop

    def read(self) -> Tensor:
        return celeba.read_faces(self.crop, self.data_dir)


@unseen_sets.register("photos")
class PhotoPatches(OtherImages):
    """Unseen: 520 patches of two photographs, installed with this package.

    Each photograph of 427 × 640 pixels gives 13 rows of 20 patches, which do not overlap.
    """

    name, packages = "photos", ("PIL",)

    def read(self) -> Tensor:
        folder = self.locate()
        return torch.cat([_cut_patches(folder / name, checksum) for name, checksum in PHOTO_SHA256.items()])

    @classmethod
    def locate(cls, data_dir: DataDir = None) -> Path:
        """Return the folder of the photographs, or raise `DataMissing`."""
        first, *_ = (find_embedded_file(name) for name in PHOTO_SHA256)
        return first.parent


def _cut_patches(path: Path, checksum: str) -> Tensor:
    side = SOURCE_SIDE
    with explain_missing("Reading photographs"):
        from PIL import Image
    with Image.open(BytesIO(read_verified(path, checksum, EMBEDDED_REMEDY))) as image:
        photo = torch.from_numpy(np.array(image.convert("RGB"))).permute(2, 0, 1)
    tiles = photo.unfold(1, side, side).unfold(2, side, side)
    return tiles.permute(1, 2, 0, 3, 4).reshape(-1, 3, side, side)


@unseen_sets.register("interpolated")
class InterpolatedImages(UnseenSet):
    """Unseen: averages of two held-out images each, 9,900 of 10,000."""

    name = "interpolated"

    def build_images(self) -> Tensor:
        held_out = self.split.held_out
        if len(held_out) < 2 * BATCH:
            raise SettingError(
                f"'interpolated' needs {2 * BATCH} held-out images, '{self.split.name}' has {len(held_out)}."
            )
        order = torch.randperm(len(held_out), generator=self.build_generator())
        shuffled = held_out[order[: len(order) // BATCH * BATCH]]
        return (shuffled[BATCH:] + shuffled[:-BATCH]) / 2


@unseen_sets.register("inverted")
class InvertedImages(UnseenSet):
    """Unseen: the held-out images with light and dark exchanged."""

    name = "inverted"

    def build_images(self) -> Tensor:
        return -self.split.held_out


@unseen_sets.register("uniform")
class UniformNoise(UnseenSet):
    """Unseen: uniform noise, as many images as are held out."""

    name = "uniform"

    def build_images(self) -> Tensor:
        return torch.empty(self.split.held_out.shape).uniform_(-1, 1, generator=self.build_generator())


@unseen_sets.register("constant")
class ConstantImage(UnseenSet):
    """Unseen: one black image; more of them would all have its score."""

    name = "constant"

    def build_images(self) -> Tensor:
        return torch.full((1, *self.split.held_out.shape[1:]), -1.0)

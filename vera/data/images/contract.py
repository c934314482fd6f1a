"""Labelled images: stored as bytes, and converted to randomly shifted floats in [-1, 1] for each batch.

The augmentation is that of the paper: reflect-pad by an eighth of the side (4 of 32), crop to the old size at
a random position, and flip horizontally with probability 1/2 if a mirrored image keeps its class (CIFAR, but
not house numbers or digits). Small grey digits are not shifted. There is no noise. All training images train,
and the test set is held out without augmentation. There is no validation set, so a seed decides only which
labels are available.

Trap: the augmentation is redrawn at every access, from the stream's own generator; otherwise a resumed run
would see other images.
"""

from abc import abstractmethod
from typing import ClassVar

import torch
from torch import Tensor

from vera.data.digits.points import scale_pixels
from vera.data.labelled import LabelledData, Split, choose_labelled_rows
from vera.errors import SettingError

Images = tuple[Tensor, Tensor]
"""Pixels 0..255 as bytes, (N, channels, side, side), and classes."""


class ImageData(LabelledData):
    """A source of images; files are read at the first split."""

    version: ClassVar[int] = 1
    channels: int = 3
    side: int = 32
    flips: ClassVar[bool] = False
    """Whether a mirrored image keeps its class."""
    largest_shift: ClassVar[float] = 1 / 8
    """In training, as a share of the side."""

    def __init__(self, labels_per_class: int | None) -> None:
        self.labels_per_class = labels_per_class
        self.data_dim = self.channels * self.side**2

    @abstractmethod
    def read_images(self) -> tuple[Images, Images]:
        """Return all training images and all held-out images."""

    def split(self, seed: int) -> "ImageSplit":
        train, (held_out, held_out_labels) = self.read_images()
        labelled_rows = choose_labelled_rows(train[1], self.labels_per_class, seed)
        return ImageSplit(self, train, (scale_pixels(held_out), held_out_labels), labelled_rows)


class ImageSplit(Split):
    """Training images as bytes, held-out images as floats; batches are shifted by up to `margin` pixels."""

    def __init__(
        self, source: ImageData, train: Images, held_out: Images, labelled_rows: Tensor | None
    ) -> None:
        super().__init__(source, train, held_out, labelled_rows)
        self.flips, self.margin = source.flips, int(source.largest_shift * source.side)
        shape = (source.channels, source.side, source.side)
        for subset, x, dtype in (
            ("training", self.train, torch.uint8),
            ("held-out", self.held_out, torch.float32),
        ):
            if x.shape[1:] != shape or x.dtype != dtype:
                found = f"{tuple(x.shape[1:])} of {str(x.dtype).removeprefix('torch.')}"
                expected = f"{shape} of {str(dtype).removeprefix('torch.')}"
                raise SettingError(
                    f"The data set '{self.name}' has {subset} images of shape {found}, expected {expected}."
                )

    def select_points(self, rows: Tensor, rng: torch.Generator) -> Tensor:
        return scale_pixels(draw_view(self.train.index_select(0, rows), self.margin, self.flips, rng))


def draw_view(images: Tensor, margin: int, flips: bool, rng: torch.Generator) -> Tensor:
    """Return each image reflect-padded by `margin`, cropped at a random position and, if `flips`, randomly
    mirrored.

    No padded image is built: each pixel is read from the position that padding would have copied.
    """
    n, channels, height, width = images.shape
    shift = torch.randint(-margin, margin + 1, (2, n, 1), generator=rng)
    y, x = (
        reflect_index(torch.arange(height) + shift[0], height),
        reflect_index(torch.arange(width) + shift[1], width),
    )
    if flips:
        x = torch.where(torch.randint(2, (n, 1), generator=rng).bool(), x.flip(1), x)
    pixel = (y.unsqueeze(2) * width + x.unsqueeze(1)).view(n, 1, -1).expand(-1, channels, -1)
    return images.flatten(2).gather(2, pixel).view_as(images)


def reflect_index(index: Tensor, size: int) -> Tensor:
    """Return the index inside 0..size-1 that reflection at the outermost pixels gives; those are not
    repeated."""
    last = size - 1
    return last - (last - index.abs()).abs()

"""Labelled images: kept as bytes, shown to a method as floats in [-1, 1], each time a little shifted.

The training view is the paper's: reflect-pad by 4 and cut the old size out of it anywhere; a horizontal flip
half of the time where a mirrored image is still one of its class, so for CIFAR and never for house numbers or
digits; no noise. All training images train and the test set is held out, without augmentation; there is no
validation part, so a seed decides which labels show, and no more.

Trap: the view is drawn anew at every access and from the stream's own generator, or a resumed run would see
other images.
"""

from abc import abstractmethod
from typing import ClassVar

import torch
from torch import Tensor

from vera.data.digits.pixels import scale_pixels
from vera.data.labelled import LabelledData, Split, choose_labelled_rows
from vera.errors import SettingError

Images = tuple[Tensor, Tensor]
"""Pixels 0..255 as bytes, (N, channels, side, side), and classes."""


class ImageData(LabelledData):
    """A source of images; nothing is read before the first split."""

    version: ClassVar[int] = 1
    channels: int = 3
    side: int = 32
    flips: ClassVar[bool] = False
    """Whether a mirrored image is still one of its class."""

    def __init__(self, labels_per_class: int | None) -> None:
        self.labels_per_class = labels_per_class
        self.data_dim = self.channels * self.side**2

    @abstractmethod
    def read_images(self) -> tuple[Images, Images]:
        """All training images, and all held-out ones."""

    def split(self, seed: int) -> "ImageSplit":
        train, (held_out, held_out_labels) = self.read_images()
        labelled_rows = choose_labelled_rows(train[1], self.labels_per_class, seed)
        return ImageSplit(self, train, (scale_pixels(held_out), held_out_labels), labelled_rows)


class ImageSplit(Split):
    """Training images as bytes, held-out images as floats; a batch shows its images shifted by up to an
    eighth of their side."""

    def __init__(
        self, source: ImageData, train: Images, held_out: Images, labelled_rows: Tensor | None
    ) -> None:
        super().__init__(source, train, held_out, labelled_rows)
        self.flips, self.margin = source.flips, source.side // 8
        shape = (source.channels, source.side, source.side)
        for part, x, dtype in (
            ("training", self.train, torch.uint8),
            ("held-out", self.held_out, torch.float32),
        ):
            if x.shape[1:] != shape or x.dtype != dtype:
                found = f"{tuple(x.shape[1:])} of {str(x.dtype).removeprefix('torch.')}"
                expected = f"{shape} of {str(dtype).removeprefix('torch.')}"
                raise SettingError(
                    f"The data set '{self.name}' has {part} images of shape {found}, they must be {expected}."
                )

    def select_points(self, rows: Tensor, rng: torch.Generator) -> Tensor:
        return scale_pixels(draw_view(self.train.index_select(0, rows), self.margin, self.flips, rng))


def draw_view(images: Tensor, margin: int, flips: bool, rng: torch.Generator) -> Tensor:
    """Each image reflect-padded by `margin`, cut to its old size at a random place and, if `flips`, mirrored
    half of the time.

    Nothing is padded: a pixel of the view is looked up at the place that the padding would have copied it
    from.
    """
    n, channels, height, width = images.shape
    shift = torch.randint(-margin, margin + 1, (2, n, 1), generator=rng)
    y, x = (
        reflected(torch.arange(height) + shift[0], height),
        reflected(torch.arange(width) + shift[1], width),
    )
    if flips:
        x = torch.where(torch.randint(2, (n, 1), generator=rng).bool(), x.flip(1), x)
    pixel = (y.unsqueeze(2) * width + x.unsqueeze(1)).view(n, 1, -1).expand(-1, channels, -1)
    return images.flatten(2).gather(2, pixel).view_as(images)


def reflected(index: Tensor, size: int) -> Tensor:
    """Where a place outside 0..size-1 lies when the image is mirrored at its outermost pixels, which are not
    repeated."""
    last = size - 1
    return last - (last - index.abs()).abs()

"""The training view of an image against a plain loop, and that it comes from the stream's own generator."""

import numpy as np
import pytest
import torch

from vera.data import Digits32, ImageData, ImageSplit
from vera.data.digits import mnist_files
from vera.data.images.contract import draw_view, reflected
from vera.errors import SettingError


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def random_images(n, side=32, channels=3):
    return torch.randint(256, (n, channels, side, side), dtype=torch.uint8, generator=generator(9))


class Pictures(ImageData):
    """Random images of two classes."""

    name, classes = "pictures", 2

    def __init__(self, flips, labels_per_class=None):
        super().__init__(labels_per_class)
        self.flips = flips

    @property
    def fingerprint(self):
        return "0" * 16

    def read_images(self):
        x, labels = random_images(30), torch.arange(30) % 2
        return (x, labels), (x[:10], labels[:10])


def views_by_loop(image, margin, flips):
    """Every view that an image can have, as bytes: padded by numpy, cut, mirrored."""
    side = image.shape[-1]
    padded = np.pad(image.numpy(), ((0, 0), (margin, margin), (margin, margin)), mode="reflect")
    views = {}
    for top in range(2 * margin + 1):
        for left in range(2 * margin + 1):
            view = padded[:, top : top + side, left : left + side]
            views[view.tobytes()] = (top, left, False)
            if flips:
                views[np.ascontiguousarray(view[:, :, ::-1]).tobytes()] = (top, left, True)
    return views


@pytest.mark.parametrize("flips", [True, False])
@pytest.mark.parametrize(("side", "margin"), [(32, 4), (16, 2)])
def test_every_view_is_one_of_those_that_a_loop_makes(side, margin, flips):
    images = random_images(12, side)
    drawn = draw_view(images, margin, flips, generator())
    assert drawn.dtype == torch.uint8
    found = [
        views_by_loop(image, margin, flips)[view.numpy().tobytes()]
        for image, view in zip(images, drawn, strict=True)
    ]
    assert len(set(found)) > 8


def test_all_places_and_both_sides_are_drawn_equally_often():
    image = random_images(1, side=8)
    views = views_by_loop(image[0], 1, True)
    drawn = draw_view(image.expand(9_000, -1, -1, -1), 1, True, generator())
    counts = dict.fromkeys(views.values(), 0)
    for view in drawn:
        counts[views[view.numpy().tobytes()]] += 1
    assert len(counts) == 18
    assert all(abs(count - 500) < 5 * 500**0.5 for count in counts.values())


def test_reflection_does_not_repeat_the_outermost_pixel():
    assert reflected(torch.arange(-2, 7), 5).tolist() == [2, 1, 0, 1, 2, 3, 4, 3, 2]


@pytest.mark.parametrize("flips", [True, False])
def test_a_split_shows_views_of_its_training_images_in_the_range_of_floats(flips):
    split = Pictures(flips).split(0)
    x = split.select_points(torch.tensor([3, 7]), generator())
    assert (x.shape, x.dtype) == ((2, 3, 32, 32), torch.float32)
    shown = ((x + 1) * 127.5).round().to(torch.uint8)
    assert all(
        view.numpy().tobytes() in views_by_loop(split.train[row], 4, flips)
        for row, view in zip((3, 7), shown, strict=True)
    )
    assert torch.equal(split.select_points(torch.tensor([3, 7]), generator()), x)
    assert not torch.equal(split.select_points(torch.tensor([3, 7]), generator(1)), x)


def test_held_out_images_are_shown_as_they_are():
    split = Pictures(True).split(0)
    assert (split.train.dtype, split.held_out.dtype) == (torch.uint8, torch.float32)
    torch.testing.assert_close(
        split.held_out.double(), split.train[:10].double() / 255 * 2 - 1, rtol=0, atol=1e-6
    )
    assert torch.equal(split.test_points(seed=3), split.held_out)


@pytest.mark.parametrize("labels_per_class", [None, 4])
def test_a_resumed_stream_shows_the_same_views(labels_per_class):
    split = Pictures(True, labels_per_class).split(0)
    stream, resumed = split.stream(12, seed=0), split.stream(12, seed=99)
    stream.next_batch()
    resumed.load_state_dict(stream.state_dict())
    for _ in range(5):
        one, two = stream.next_batch(), resumed.next_batch()
        assert torch.equal(one.x, two.x)
        assert torch.equal(one.labelled, two.labelled)
        assert torch.equal(one.labels, two.labels)


def test_all_labels_show_unless_a_number_is_given():
    assert Pictures(True).split(0).shown is None
    assert Pictures(True).split(0).stream(8, 0).next_batch().is_shared
    split = Pictures(True, 3).split(0)
    assert split.train_labels[split.labelled_rows].bincount().tolist() == [3, 3]
    assert len(split.train) == 30


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda x: x.float(),
            r"training images of shape \(3, 32, 32\) of float32, they must be \(3, 32, 32\) of uint8",
        ),
        (lambda x: x[:, :, :31], r"training images of shape \(3, 31, 32\) of uint8"),
    ],
)
def test_other_images_than_announced_are_refused(change, message):
    split = Pictures(True).split(0)
    with pytest.raises(SettingError, match=message):
        ImageSplit(
            split.source,
            (change(split.train), split.train_labels),
            (split.held_out, split.held_out_labels),
            None,
        )


@pytest.mark.parametrize("side", [32, 16])
def test_digits_are_padded_and_the_same_in_each_channel(side):
    data = Digits32(side=side)
    split = data.split(0)
    assert (data.channels, data.side, data.data_dim, data.classes) == (3, side, 3 * side**2, 10)
    assert (split.channels, split.side) == (3, side)
    assert split.train.shape == (4000, 3, side, side)
    assert split.held_out.shape == (1000, 3, side, side)
    assert split.train_labels.bincount().tolist() == [400] * 10
    assert (split.train == split.train[:, :1]).all()
    expected = torch.zeros(1000, 32, 32)
    expected[:, 2:30, 2:30] = mnist_files.read_embedded_rows(28)[1].view(-1, 28, 28)
    if side == 16:
        expected = expected.view(1000, 16, 2, 16, 2).mean((2, 4)).round()
    torch.testing.assert_close(split.held_out[:, 1], expected / 127.5 - 1)


def test_digits_have_their_classes_and_names_of_their_own():
    images, labels = mnist_files.read_embedded()
    label_of = {image.numpy().tobytes(): int(label) for image, label in zip(images, labels, strict=True)}
    split = Digits32().split(0)
    cut = split.train[:, 0, 2:30, 2:30]
    assert [label_of[image.contiguous().numpy().tobytes()] for image in cut[::37]] == split.train_labels[
        ::37
    ].tolist()
    assert [Digits32().name, Digits32(side=16).name] == ["digits32", "digits32-16x16"]
    assert Digits32().fingerprint != Digits32(side=16).fingerprint
    with pytest.raises(SettingError, match="side must be one of 32, 16, got 28"):
        Digits32(side=28)


def test_digits_are_never_mirrored():
    split = Digits32(side=16).split(0)
    rows = torch.arange(0, 4000, 80)
    drawn = ((split.select_points(rows, generator()) + 1) * 127.5).round().to(torch.uint8)
    for row, view in zip(rows, drawn, strict=True):
        assert view.numpy().tobytes() in views_by_loop(split.train[row], 2, flips=False)

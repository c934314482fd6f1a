"""The augmentation of images against a plain loop, and its use of the stream's own generator."""

import numpy as np
import pytest
import torch
from facts import raises_with

from vera.data import Digits32, DigitsImages, DigitsTable, EmbeddedMNISTImages, ImageData, ImageSplit
from vera.data.digits import mnist_files
from vera.data.images.contract import draw_view, reflect_index
from vera.errors import SettingError


def make_generator(seed=0):
    return torch.Generator().manual_seed(seed)


def make_images(n, side=32, channels=3):
    return torch.randint(256, (n, channels, side, side), dtype=torch.uint8, generator=make_generator(9))


class TwoClassImages(ImageData):
    """Random images of two classes."""

    name, classes = "random-images", 2

    def __init__(self, flips, labels_per_class=None):
        super().__init__(labels_per_class)
        self.flips = flips

    @property
    def fingerprint(self):
        return "0" * 16

    def read_images(self):
        x, labels = make_images(30), torch.arange(30) % 2
        return (x, labels), (x[:10], labels[:10])


def list_views(image, margin, flips):
    """Return all possible views of an image as bytes: padded by numpy, cropped, mirrored."""
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
def test_every_view_is_among_those_of_a_plain_loop(side, margin, flips):
    images = make_images(12, side)
    drawn = draw_view(images, margin, flips, make_generator())
    assert drawn.dtype == torch.uint8
    found = [
        list_views(image, margin, flips)[view.numpy().tobytes()]
        for image, view in zip(images, drawn, strict=True)
    ]
    assert len(set(found)) > 8


def test_all_positions_and_both_orientations_are_equally_likely():
    image = make_images(1, side=8)
    views = list_views(image[0], 1, True)
    drawn = draw_view(image.expand(9_000, -1, -1, -1), 1, True, make_generator())
    counts = dict.fromkeys(views.values(), 0)
    for view in drawn:
        counts[views[view.numpy().tobytes()]] += 1
    assert len(counts) == 18
    assert all(abs(count - 500) < 5 * 500**0.5 for count in counts.values())


def test_reflection_does_not_repeat_the_outermost_pixel():
    assert reflect_index(torch.arange(-2, 7), 5).tolist() == [2, 1, 0, 1, 2, 3, 4, 3, 2]


@pytest.mark.parametrize("flips", [True, False])
def test_batches_are_views_of_the_training_images_scaled_to_plus_minus_one(flips):
    split = TwoClassImages(flips).split(0)
    x = split.select_points(torch.tensor([3, 7]), make_generator())
    assert (x.shape, x.dtype) == ((2, 3, 32, 32), torch.float32)
    drawn = ((x + 1) * 127.5).round().to(torch.uint8)
    assert all(
        view.numpy().tobytes() in list_views(split.train[row], 4, flips)
        for row, view in zip((3, 7), drawn, strict=True)
    )
    assert torch.equal(split.select_points(torch.tensor([3, 7]), make_generator()), x)
    assert not torch.equal(split.select_points(torch.tensor([3, 7]), make_generator(1)), x)


def test_held_out_images_are_not_augmented():
    split = TwoClassImages(True).split(0)
    assert (split.train.dtype, split.held_out.dtype) == (torch.uint8, torch.float32)
    torch.testing.assert_close(
        split.held_out.double(), split.train[:10].double() / 255 * 2 - 1, rtol=0, atol=1e-6
    )
    assert torch.equal(split.test_points(seed=3), split.held_out)


@pytest.mark.parametrize("labels_per_class", [None, 4])
def test_a_resumed_stream_draws_the_same_views(labels_per_class):
    split = TwoClassImages(True, labels_per_class).split(0)
    stream, resumed = split.stream(12, seed=0), split.stream(12, seed=99)
    stream.next_batch()
    resumed.load_state_dict(stream.state_dict())
    for _ in range(5):
        one, two = stream.next_batch(), resumed.next_batch()
        assert torch.equal(one.x, two.x)
        assert torch.equal(one.labelled, two.labelled)
        assert torch.equal(one.labels, two.labels)


def test_all_images_are_labelled_by_default():
    assert TwoClassImages(True).split(0).labelled_rows is None
    assert TwoClassImages(True).split(0).stream(8, 0).next_batch().is_shared
    split = TwoClassImages(True, 3).split(0)
    assert split.train_labels[split.labelled_rows].bincount().tolist() == [3, 3]
    assert len(split.train) == 30


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        (lambda x: x.float(), ["(3, 32, 32) of float32", "(3, 32, 32) of uint8"]),
        (lambda x: x[:, :, :31], ["(3, 31, 32) of uint8", "(3, 32, 32) of uint8"]),
    ],
)
def test_images_of_another_shape_or_dtype_are_refused(change, facts):
    split = TwoClassImages(True).split(0)
    with raises_with(SettingError, "training", *facts):
        ImageSplit(
            split.source,
            (change(split.train), split.train_labels),
            (split.held_out, split.held_out_labels),
            None,
        )


@pytest.mark.parametrize("side", [32, 16])
def test_digits_are_padded_and_equal_in_each_channel(side):
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


def test_digits_have_their_classes_and_distinct_names():
    images, labels = mnist_files.read_embedded()
    label_of = {image.numpy().tobytes(): int(label) for image, label in zip(images, labels, strict=True)}
    split = Digits32().split(0)
    cut = split.train[:, 0, 2:30, 2:30]
    assert [label_of[image.contiguous().numpy().tobytes()] for image in cut[::37]] == split.train_labels[
        ::37
    ].tolist()
    assert [Digits32().name, Digits32(side=16).name] == ["digits32", "digits32-16x16"]
    assert Digits32().fingerprint != Digits32(side=16).fingerprint
    with raises_with(SettingError, "side", "32, 16", "got 28"):
        Digits32(side=28)


def test_digits_are_never_mirrored():
    split = Digits32(side=16).split(0)
    rows = torch.arange(0, 4000, 80)
    drawn = ((split.select_points(rows, make_generator()) + 1) * 127.5).round().to(torch.uint8)
    for row, view in zip(rows, drawn, strict=True):
        assert view.numpy().tobytes() in list_views(split.train[row], 2, flips=False)


@pytest.mark.parametrize("side", [16, 32])
def test_grey_digits_are_one_channel_of_the_colour_digits(side):
    grey, colour = EmbeddedMNISTImages(side=side), Digits32(side=side)
    assert grey.name == f"mnist5k-images-{side}x{side}"
    assert grey.fingerprint != colour.fingerprint
    assert torch.equal(grey.split(0).train, colour.split(0).train[:, :1])
    assert torch.equal(grey.split(0).held_out, colour.split(0).held_out[:, :1])


def test_small_digits_are_the_rows_of_the_table_as_bytes():
    split, table = DigitsImages().split(0), DigitsTable().read_table()
    assert (len(split.train), len(split.held_out)) == (1438, 359)
    assert torch.equal(split.held_out, DigitsImages().split(7).held_out)
    levels = {row.tobytes(): label for row, label in zip(table.x, table.labels, strict=True)}
    rows = (split.train.flatten(1).double() * (16 / 255)).round().numpy()
    assert [levels[row.tobytes()] for row in rows] == split.train_labels.tolist()


@pytest.mark.parametrize("data", [EmbeddedMNISTImages, DigitsImages])
def test_small_grey_digits_are_not_shifted(data):
    split = data().split(0)
    rows = torch.arange(0, 1400, 100)
    assert torch.equal(split.select_points(rows, make_generator()), split.train[rows] / 127.5 - 1)

"""Digits as pixels: the same digits as in logit space, without noise; and the standard normal."""

import math

import pytest
import torch
from facts import raises_with

from vera.data import EmbeddedMNISTLogit, EmbeddedMNISTPixels, Gaussian, MNISTLogit, MNISTPixels
from vera.data.digits import mnist_files
from vera.errors import DataMissing, SettingError
from vera.spec.registry import datasets

SETS = [EmbeddedMNISTPixels(), EmbeddedMNISTPixels(side=14), Gaussian(3)]


def to_bytes(x):
    return ((x.double() + 1) * 127.5).round().to(torch.uint8)


def test_pixels_are_the_bytes_scaled_to_plus_minus_one():
    x = EmbeddedMNISTPixels().read_training_points()
    assert (x.min(), x.max(), x.dtype) == (-1, 1, torch.float32)
    torch.testing.assert_close(
        x.double(), mnist_files.read_embedded_rows(28)[0].double() / 255 * 2 - 1, rtol=0, atol=1e-7
    )


@pytest.mark.parametrize("side", [28, 14])
def test_scaling_does_not_modify_the_cached_rows(side):
    before = [rows.clone() for rows in mnist_files.read_embedded_rows(side)]
    data = EmbeddedMNISTPixels(side=side)
    for _ in range(2):
        data.read_training_points().zero_()
        data.test_points(seed=0).zero_()
        data.stream(8, seed=0).next_batch().zero_()
    assert all(
        torch.equal(rows, old) for rows, old in zip(mnist_files.read_embedded_rows(side), before, strict=True)
    )
    assert data.read_training_points().abs().max() == 1


def test_train_and_test_digits_are_those_of_the_logit_set():
    pixels, logits = EmbeddedMNISTPixels(), EmbeddedMNISTLogit()
    assert torch.equal(to_bytes(pixels.read_training_points()), logits.read_rows()[0])
    assert torch.equal(to_bytes(pixels.test_points(seed=5)), logits.read_rows()[1])
    assert pixels.test_points(seed=0, n=7).shape == (7, 784)
    known = {row.numpy().tobytes() for row in logits.read_rows()[0]}
    assert all(row.numpy().tobytes() in known for row in to_bytes(pixels.stream(64, seed=1).next_batch()))


def test_images_have_no_noise():
    one, two = (EmbeddedMNISTPixels().test_points(seed) for seed in (0, 1))
    assert torch.equal(one, two)


def test_the_fingerprint_depends_on_content_form_and_side_not_on_the_path(tmp_path):
    data = [MNISTPixels(), MNISTPixels(side=14), EmbeddedMNISTPixels(), EmbeddedMNISTPixels(side=14)]
    logits = [MNISTLogit(), EmbeddedMNISTLogit()]
    assert len({one.fingerprint for one in data + logits}) == 6
    assert [one.name for one in data] == [
        "mnist-pixels",
        "mnist-pixels-14x14",
        "mnist5k-pixels",
        "mnist5k-pixels-14x14",
    ]
    assert MNISTPixels(data_dir=str(tmp_path)).fingerprint == data[0].fingerprint


def test_full_mnist_from_files(small_mnist, tmp_path):
    data = datasets.create("mnist-pixels", data_dir=str(small_mnist.write(tmp_path)))
    written = torch.from_numpy(small_mnist.arrays[mnist_files.TRAIN_IMAGES]).reshape(60, 784)
    assert torch.equal(to_bytes(data.read_training_points()), written)
    assert MNISTPixels.locate(str(tmp_path)) == tmp_path / "MNIST" / "raw"


def test_missing_files_and_wrong_sides_are_named(tmp_path):
    data = MNISTPixels(data_dir=str(tmp_path))
    with raises_with(DataMissing, "vera data fetch mnist"):
        data.read_training_points()
    with raises_with(SettingError, "side", "28, 14", "got 7"):
        datasets.create("mnist5k-pixels", side=7)


@pytest.mark.parametrize("data", SETS, ids=lambda data: data.name)
def test_a_stream_resumes_bit_for_bit(data):
    stream, resumed = data.stream(1_500, seed=0), data.stream(1_500, seed=1)
    stream.next_batch()
    resumed.load_state_dict(stream.state_dict())
    for _ in range(3):
        assert torch.equal(stream.next_batch(), resumed.next_batch())


def test_gaussian_points_are_independent_standard_normals():
    x = Gaussian(4).test_points(seed=0)
    n = len(x)
    assert x.shape == (100_000, 4)
    assert x.mean(0).abs().max() < 5 / math.sqrt(n)
    assert (torch.cov(x.T) - torch.eye(4)).abs().max() < 5 * math.sqrt(2 / n)
    assert x.double().pow(4).mean() == pytest.approx(3, abs=5 * math.sqrt(96 / x.numel()))


def test_gaussian_streams_differ_by_seed_and_from_the_test_points():
    data = datasets.create("gaussian", dim=2)
    draws = [
        data.stream(10, seed=0).next_batch(),
        data.stream(10, seed=1).next_batch(),
        data.test_points(seed=0, n=10),
    ]
    assert len({draw.numpy().tobytes() for draw in draws}) == 3
    assert (data.data_dim, datasets.create("gaussian").data_dim) == (2, 128)
    assert len({Gaussian(dim).fingerprint for dim in (1, 2, 128)}) == 3

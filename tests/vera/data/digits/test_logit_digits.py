"""Logit digits: the recovered noise, the split and the fingerprint; full MNIST where it is available."""

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from facts import raises_with
from locations import SHARED
from scipy.stats import kstest

from vera.data import EmbeddedMNISTLogit, EpochStream, MNISTLogit
from vera.data.digits import mnist_files
from vera.data.digits.points import dequantise_to_logit
from vera.errors import DataMissing, SettingError
from vera.spec.registry import datasets

LOGIT_BOUND = math.log(0.999 / 0.001)


def make_generator(seed=0):
    return torch.Generator().manual_seed(seed)


def find_full_mnist() -> Path | None:
    candidates = [os.environ.get("VERA_DATA"), SHARED / "data"]
    return next((Path(c) for c in candidates if c and (Path(c) / "MNIST" / "raw").is_dir()), None)


def recover_noise(pixels, x):
    return torch.sigmoid(x.double()) - pixels.double() / 255


def test_noise_is_uniform_where_nothing_is_clamped():
    pixels = torch.full((100, 784), 100, dtype=torch.uint8)
    noise = recover_noise(pixels, dequantise_to_logit(pixels, make_generator())).flatten()
    assert noise.abs().max() <= 1 / 512 + 1e-7
    assert kstest(noise.numpy(), "uniform", args=(-1 / 512, 1 / 256)).pvalue > 1e-3


def test_black_and_white_are_clamped_with_the_expected_frequency():
    for pixel, sign in ((0, -1), (255, 1)):
        x = dequantise_to_logit(torch.full((100, 784), pixel, dtype=torch.uint8), make_generator())
        assert x.abs().max().item() == pytest.approx(LOGIT_BOUND, rel=1e-4)
        assert (x.sign() == sign).all()
        at_bound = (x.abs() > LOGIT_BOUND - 1e-3).float().mean().item()
        expected = (1 / 512 + 0.001) / (1 / 256)
        assert at_bound == pytest.approx(expected, abs=5 * math.sqrt(expected * (1 - expected) / x.numel()))


def test_pixels_are_not_modified():
    pixels = torch.full((2, 4), 7.25)
    dequantise_to_logit(pixels, make_generator())
    assert (pixels == 7.25).all()


def test_noise_is_redrawn_at_every_access_of_the_same_image():
    stream = EpochStream(torch.full((1, 784), 100, dtype=torch.uint8), 1, 0, dequantise_to_logit)
    one, two = stream.next_batch(), stream.next_batch()
    assert (one != two).float().mean() > 0.99
    assert (torch.sigmoid(one) - torch.sigmoid(two)).abs().max() <= 1 / 256 + 1e-6


def test_the_embedded_split_is_stratified_complete_and_disjoint():
    images, labels = mnist_files.read_embedded()
    train, test = mnist_files.read_embedded_rows(28)
    assert train.shape == (4000, 784)
    assert test.shape == (1000, 784)
    label_of = {image.numpy().tobytes(): int(label) for image, label in zip(images, labels, strict=True)}
    rows = [{row.numpy().tobytes() for row in subset} for subset in (train, test)]
    assert rows[0] | rows[1] == set(label_of)
    assert not rows[0] & rows[1]
    held_out = torch.tensor([label_of[row] for row in rows[1]])
    assert held_out.bincount().tolist() == [100] * 10


def test_embedded_batches_are_digits():
    data = EmbeddedMNISTLogit()
    batch = data.stream(128, seed=0).next_batch()
    assert batch.shape == (128, data.data_dim) == (128, 784)
    assert batch.dtype == torch.float32
    pixels = (torch.sigmoid(batch) * 255).round().clamp(0, 255).to(torch.uint8)
    known = {row.numpy().tobytes() for row in mnist_files.read_embedded_rows(28)[0]}
    assert all(row.numpy().tobytes() in known for row in pixels)


def test_side_14_is_the_mean_of_four_pixels():
    images, _ = mnist_files.read_embedded()
    by_hand = images[:50].double().reshape(50, 14, 2, 14, 2).mean((2, 4)).reshape(50, 196)
    torch.testing.assert_close(mnist_files.flatten_images(images[:50], 14).double(), by_hand, rtol=0, atol=0)
    data = EmbeddedMNISTLogit(side=14)
    assert data.data_dim == 196
    assert data.test_points(seed=0, n=3).shape == (3, 196)


def test_the_test_set_has_seeded_noise_and_keeps_its_order():
    data = EmbeddedMNISTLogit()
    one, again, other = (data.test_points(seed) for seed in (0, 0, 1))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)
    pixels = mnist_files.read_embedded_rows(28)[1]
    inside = (pixels > 0) & (pixels < 255)
    assert recover_noise(pixels, one)[inside].abs().max() <= 1 / 512 + 1e-6


@pytest.mark.parametrize("side", [28, 14])
def test_a_stream_resumes_bit_for_bit_across_an_epoch(side):
    data = EmbeddedMNISTLogit(side=side)
    stream, resumed = data.stream(1500, seed=0), data.stream(1500, seed=1)
    stream.next_batch()
    resumed.load_state_dict(stream.state_dict())
    for _ in range(4):
        assert torch.equal(stream.next_batch(), resumed.next_batch())


def test_full_mnist_from_files(small_mnist, tmp_path):
    data = datasets.create("mnist-logit", data_dir=str(small_mnist.write(tmp_path)))
    pixels = torch.from_numpy(small_mnist.arrays[mnist_files.TEST_IMAGES]).reshape(10, 784)
    inside = (pixels > 0) & (pixels < 255)
    assert recover_noise(pixels, data.test_points(seed=0))[inside].abs().max() <= 1 / 512 + 1e-6
    assert len(torch.unique(data.stream(60, seed=0).next_batch(), dim=0)) == 60
    with raises_with(SettingError, "batch_size 61"):
        data.stream(61, seed=0)


def test_files_are_read_at_the_first_batch(tmp_path):
    data = MNISTLogit(data_dir=str(tmp_path))
    assert len(data.fingerprint) == 16
    with raises_with(DataMissing, "vera data fetch mnist"):
        data.stream(128, seed=0)


def test_the_fingerprint_depends_on_content_and_side_not_on_the_path(tmp_path, monkeypatch):
    data = [MNISTLogit(), MNISTLogit(side=14), EmbeddedMNISTLogit(), EmbeddedMNISTLogit(side=14)]
    assert len({one.fingerprint for one in data}) == 4
    assert len({one.name for one in data}) == 4
    before = data[0].fingerprint
    assert MNISTLogit(data_dir=str(tmp_path)).fingerprint == before
    with raises_with(SettingError, "side", "28, 14", "28.0"):
        MNISTLogit(side=28.0)
    monkeypatch.setitem(mnist_files.SHA256, mnist_files.TRAIN_IMAGES, "0" * 64)
    assert MNISTLogit().fingerprint != before


def test_another_side_is_refused():
    with raises_with(SettingError, "side", "28, 14", "got 7"):
        datasets.create("mnist5k-logit", side=7)


def test_reading_the_embedded_digits_imports_nothing_heavy():
    code = (
        "import sys, vera.data; vera.data.EmbeddedMNISTLogit().stream(8, 0).next_batch(); "
        "heavy = {'mlxtend', 'pandas', 'matplotlib', 'sklearn', 'torchvision'}; "
        "print(heavy & set(sys.modules))"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert run.stdout.strip() == "set()", run.stderr


@pytest.mark.skipif(
    find_full_mnist() is None, reason="full MNIST is neither in VERA_DATA nor in ../shared/data"
)
def test_the_real_files_have_the_published_checksums_and_contain_the_embedded_digits():
    directory = find_full_mnist()
    train, test = mnist_files.read_full_rows(directory, 28)
    assert train.shape == (60_000, 784)
    assert test.shape == (10_000, 784)
    images, labels = mnist_files.read_embedded()
    position = {row.numpy().tobytes(): i for i, row in enumerate(train[:6000])}
    found = torch.tensor([position[image.numpy().tobytes()] for image in images])
    assert torch.equal(mnist_files.read_digits(mnist_files.TRAIN_LABELS, directory)[found], labels)
    assert MNISTLogit(data_dir=str(directory)).test_points(seed=0).shape == (10_000, 784)

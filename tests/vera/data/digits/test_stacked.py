"""StackedMNIST: resizing as in PIL, the digits of a mode, seeded triples, and resumed streams."""

import numpy as np
import pytest
import torch
from facts import raises_with
from PIL import Image

from vera.data import StackedMNIST
from vera.data.digits import mnist_files, stacked
from vera.data.digits.stacked import draw_triples, resize_images
from vera.errors import DataMissing, SettingError
from vera.evaluation import mode_numbers
from vera.spec.registry import datasets


def to_bytes(x):
    return ((x.double() + 1) * 127.5).round().to(torch.uint8)


def resize_with_pil(image, side):
    return np.array(Image.fromarray(image.numpy()).resize((side, side), Image.Resampling.BILINEAR))


@pytest.mark.parametrize(("side", "tolerance"), [(64, 0), (32, 0), (16, 1)])
def test_resizing_equals_pil_bit_for_bit_and_to_one_grey_level_at_side_16(side, tolerance):
    images = mnist_files.read_embedded()[0][::61]
    ours = resize_images(images.unsqueeze(1), side).squeeze(1).numpy().astype(int)
    pil = np.stack([resize_with_pil(image, side) for image in images]).astype(int)
    assert np.abs(ours - pil).max() <= tolerance


def test_the_first_digit_of_a_mode_gives_the_ones():
    assert mode_numbers(torch.tensor([[3, 1, 4], [0, 0, 9], [7, 0, 0]])).tolist() == [413, 900, 7]
    data = StackedMNIST(source="mnist5k", side=32)
    triples = torch.tensor([[5, 399, 3999], [400, 0, 800]])  # 4,000 digits sorted by class, 400 of each
    assert mode_numbers(data.train[1][triples]).tolist() == [900, 201]


def test_a_triple_is_three_digits_in_three_channels():
    data = StackedMNIST(source="mnist5k")
    triples = torch.tensor([[5, 1000, 3999], [0, 0, 77]])
    x = data.build_images(data.train, triples)
    assert (x.shape, x.dtype) == ((2, 3, 64, 64), torch.float32)
    for row in range(2):
        for channel in range(3):
            assert np.array_equal(
                to_bytes(x[row, channel]).numpy(), resize_with_pil(data.train[0][triples[row, channel]], 64)
            )
    assert (data.data_dim, data.channels, data.side) == (3 * 64**2, 3, 64)


def test_triples_are_drawn_by_numpy_s_generator_with_replacement():
    triples = draw_triples(60_000, 60_000, seed=1234)
    assert np.array_equal(triples.numpy(), np.random.RandomState(1234).randint(60_000, size=(60_000, 3)))
    assert torch.equal(draw_triples(50, 9, seed=2**32 + 7), draw_triples(50, 9, seed=7))
    used = len(triples.flatten().unique()) / 60_000
    assert used == pytest.approx(1 - np.exp(-3), abs=0.005)


def test_an_epoch_shows_every_triple_of_its_seed_once(monkeypatch):
    monkeypatch.setattr(stacked, "TRIPLES", 12)
    data = StackedMNIST(source="mnist5k", side=32)
    stream = data.stream(5, seed=3)
    expected = to_bytes(data.build_images(data.train, draw_triples(4000, 12, 3)))
    known = {image.numpy().tobytes() for image in expected}
    seen = [image.numpy().tobytes() for _ in range(2) for image in to_bytes(stream.next_batch())]
    assert len(set(seen)) == 10  # the last two do not fill a batch
    assert set(seen) <= known


def test_a_stream_resumes_bit_for_bit_whatever_its_own_seed():
    data = StackedMNIST(source="mnist5k", side=32)
    stream, resumed = data.stream(4, seed=0), data.stream(4, seed=1)
    assert not torch.equal(stream.next_batch(), resumed.next_batch())
    resumed.load_state_dict(stream.state_dict())
    for _ in range(3):
        assert torch.equal(stream.next_batch(), resumed.next_batch())
    assert torch.equal(data.stream(4, seed=5).next_batch(), data.stream(4, seed=5).next_batch())


def test_mode_shares_are_products_of_the_digits_shares(small_mnist, tmp_path):
    data = datasets.create("stacked-mnist", data_dir=str(small_mnist.write(tmp_path)))
    labels = small_mnist.arrays[mnist_files.TRAIN_LABELS]
    share = [float((labels == digit).mean()) for digit in range(10)]
    shares = data.compute_mode_shares()
    assert float(shares.sum()) == pytest.approx(1, abs=1e-12)
    for mode in (0, 7, 413, 999, 120):
        ones, tens, hundreds = mode % 10, mode // 10 % 10, mode // 100
        assert float(shares[mode]) == pytest.approx(share[ones] * share[tens] * share[hundreds])
    digits = data.train[1][draw_triples(60, 200_000, 0)]
    drawn = mode_numbers(digits).bincount(minlength=1000) / 200_000
    assert (drawn - shares).abs().max() < 5 * float((shares.max() / 200_000).sqrt())


def test_the_embedded_digits_have_equal_shares():
    shares = StackedMNIST(source="mnist5k").compute_mode_shares()
    assert shares.shape == (1000,)
    torch.testing.assert_close(shares, torch.full((1000,), 1e-3, dtype=torch.float64))


def test_test_points_are_digits_that_no_stream_trains_on(monkeypatch, small_mnist, tmp_path):
    data = StackedMNIST(str(small_mnist.write(tmp_path)), side=32)
    held_out = torch.from_numpy(small_mnist.arrays[mnist_files.TEST_IMAGES])
    known = {resize_with_pil(image, 32).tobytes() for image in held_out}
    x = data.test_points(seed=0, n=6)
    assert {channel.numpy().tobytes() for channel in to_bytes(x).flatten(0, 1)} <= known
    assert torch.equal(data.test_points(seed=0, n=6), x)
    assert not torch.equal(data.test_points(seed=1, n=6), x)
    monkeypatch.setattr(stacked, "TEST_TRIPLES", 9)
    assert len(data.test_points(seed=0)) == 9


def test_names_and_fingerprints(tmp_path):
    sets = [
        StackedMNIST(source=source, side=side) for source in ("mnist", "mnist5k") for side in (64, 32, 16)
    ]
    assert [data.name for data in sets] == [
        "stacked-mnist",
        "stacked-mnist-32x32",
        "stacked-mnist-16x16",
        "stacked-mnist5k",
        "stacked-mnist5k-32x32",
        "stacked-mnist5k-16x16",
    ]
    assert len({data.fingerprint for data in sets}) == 6
    assert StackedMNIST(data_dir=str(tmp_path)).fingerprint == sets[0].fingerprint
    with raises_with(DataMissing, "vera data fetch mnist"):
        StackedMNIST(data_dir=str(tmp_path)).stream(4, 0)
    with raises_with(SettingError, "side", "64, 32, 16", "got 28"):
        datasets.create("stacked-mnist", side=28)

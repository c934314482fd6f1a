"""Digit features: training on the embedded digits, the cache, features of digits and of stacked digits."""

import math

import pytest
import torch
from facts import raises_with
from torch.nn.functional import pad

from vera.data import Digits32, StackedMNIST
from vera.data.digits.tables import EmbeddedMNISTTable
from vera.errors import IncompatibleModel, SettingError
from vera.evaluation import DigitFeatures, DigitRecipe, Moments, frechet_distance
from vera.evaluation import digit_features as module

RECIPE = DigitRecipe(side=14, frame="resize", epochs=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.delenv("VERA_CACHE", raising=False)


@pytest.fixture(scope="module")
def network(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("VERA_CACHE", raising=False)
        return DigitFeatures(RECIPE, data_dir=folder)


@pytest.fixture(scope="module")
def digits():
    split = EmbeddedMNISTTable(None).split(0)
    return split.held_out.view(-1, 1, 28, 28), split.held_out_labels


def forbid_training(monkeypatch):
    def train(*args):
        raise AssertionError("trained again")

    monkeypatch.setattr(module, "_train", train)


def test_it_classifies_digits(network, digits):
    images, labels = digits
    features, probabilities = network.describe(images)
    assert features.shape == (1_000, network.dim)
    assert (features >= 0).all()
    torch.testing.assert_close(probabilities.sum(1), torch.ones(1_000))
    accuracy = float((probabilities.argmax(1) == labels).double().mean())
    assert accuracy > 0.85
    assert network.accuracy == pytest.approx(accuracy, abs=0.003)  # described images are rounded to bytes


def test_probabilities_are_the_last_layer_of_the_features(network, digits):
    features, probabilities = network.describe(digits[0][:20])
    with torch.no_grad():
        expected = network.classifier.net[-1](features).softmax(1)
    torch.testing.assert_close(probabilities, expected, rtol=1e-4, atol=1e-6)


def test_the_distance_increases_with_noise(network, digits):
    images = digits[0][torch.randperm(1_000, generator=torch.Generator().manual_seed(0))]
    reference, same, noisy = (
        Moments.from_features(network.features(subset))
        for subset in (images[:500], images[500:], images[500:] + torch.randn(500, 1, 28, 28))
    )
    assert frechet_distance(noisy, reference) > 3 * frechet_distance(same, reference)


def test_colour_is_averaged(network, digits):
    grey = digits[0][:5]
    coloured = torch.cat([grey, torch.full_like(grey, -1), torch.full_like(grey, -1)], 1)
    third = ((grey + 1) / 3 - 1).clamp(-1, 1)
    torch.testing.assert_close(network.features(coloured), network.features(third), rtol=0.02, atol=0.05)
    assert torch.equal(network.features(grey.expand(-1, 3, -1, -1)), network.features(grey))


def test_channels_are_classified_separately(network, digits):
    images, labels = digits
    rows = torch.randperm(1_000, generator=torch.Generator().manual_seed(1))[:300].view(100, 3)
    stack = images.squeeze(1)[rows]
    stack[4, 1, 0, 0] = math.nan
    found = network.classify_channels(stack)
    assert found.shape == (100, 3)
    assert found[4, 1] == -1
    assert float((found == labels[rows]).double().mean()) > 0.85


def test_it_is_trained_once_and_cached(network, folder, monkeypatch):
    (file,) = (folder / "evaluation").iterdir()
    assert str(folder).encode() not in file.read_bytes()
    forbid_training(monkeypatch)
    again = DigitFeatures(RECIPE, data_dir=folder)
    assert again.fingerprint == network.fingerprint
    assert again.accuracy == network.accuracy


def test_training_does_not_change_the_random_state_of_the_caller(network, folder):
    state = torch.get_rng_state()
    DigitFeatures(RECIPE, data_dir=folder)
    assert torch.equal(torch.get_rng_state(), state)


def test_another_recipe_or_a_damaged_file_is_trained_again(network, folder, tmp_path, monkeypatch):
    forbid_training(monkeypatch)
    (file,) = (folder / "evaluation").iterdir()
    monkeypatch.setenv("VERA_CACHE", str(tmp_path))
    content = bytearray(file.read_bytes())
    (tmp_path / file.name).write_bytes(content)
    assert DigitFeatures(RECIPE).fingerprint == network.fingerprint
    content[len(content) // 2] ^= 0xFF
    for damaged in (content, content[:-1_000], b"nothing"):
        (tmp_path / file.name).write_bytes(damaged)
        with raises_with(AssertionError, "trained again"):
            DigitFeatures(RECIPE)
    with raises_with(AssertionError, "trained again"):
        DigitFeatures(DigitRecipe(side=14, frame="resize", epochs=2), data_dir=folder)


def test_the_same_seed_trains_the_same_weights(tmp_path, monkeypatch):
    """Also without a cache: its folder is a file."""
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("VERA_CACHE", str(tmp_path / "file" / "cache"))
    small = EmbeddedMNISTTable.split
    monkeypatch.setattr(EmbeddedMNISTTable, "split", lambda self, seed: shorten(small(self, seed)))
    recipe = DigitRecipe(side=14, frame="resize", epochs=1)
    torch.manual_seed(1)
    one = DigitFeatures(recipe)
    torch.manual_seed(2)
    assert DigitFeatures(recipe).fingerprint == one.fingerprint


def shorten(split, n=128):
    split.train, split.train_labels = split.train[::10][:n], split.train_labels[::10][:n]
    return split


def test_framing_of_digits(digits):
    image = digits[0][:1]
    assert torch.equal(DigitRecipe().apply_frame(image), pad(image, (2, 2, 2, 2), value=-1.0))
    assert DigitRecipe(side=64, frame="resize").apply_frame(image).shape == (1, 1, 64, 64)
    with raises_with(SettingError, "DigitRecipe", "side 28", "resize"):
        DigitRecipe(side=28)
    with raises_with(SettingError, "frame", "'crop'", "'pad'"):
        DigitRecipe(frame="crop")


@pytest.mark.parametrize("side", [32, 16])
def test_padded_digits_equal_those_of_the_image_data_set(digits, side):
    theirs = Digits32(side=side).split(0).held_out[:, :1]
    torch.testing.assert_close(DigitRecipe(side).apply_frame(digits[0]), theirs, rtol=0, atol=1 / 255 + 1e-5)


@pytest.mark.parametrize("side", [64, 32])
def test_resized_digits_equal_those_of_the_stacked_data_set(digits, side):
    stack = StackedMNIST(source="mnist5k", side=side)
    theirs = stack.build_images(stack.held_out, torch.arange(30).view(10, 3)).flatten(0, 1).unsqueeze(1)
    torch.testing.assert_close(
        DigitRecipe(side, "resize").apply_frame(digits[0][:30]), theirs, rtol=0, atol=1.5 / 127.5
    )


def test_an_image_of_another_side_is_rejected(network):
    with raises_with(IncompatibleModel, "side 14 or 28", "32 × 32"):
        network.features(torch.zeros(2, 1, 32, 32))

"""Digit features: a classifier trained on the embedded digits, kept once, and what it says of digits and
stacks of them."""

import math

import pytest
import torch
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
    return DigitFeatures(RECIPE, data_dir=folder)


@pytest.fixture(scope="module")
def digits():
    split = EmbeddedMNISTTable(None).split(0)
    return split.held_out.view(-1, 1, 28, 28), split.held_out_labels


def refuse_training(monkeypatch):
    def train(*args):
        raise AssertionError("trained again")

    monkeypatch.setattr(module, "_train", train)


def test_it_knows_digits(network, digits):
    images, labels = digits
    features, probabilities = network.describe(images)
    assert features.shape == (1_000, network.dim)
    assert (features >= 0).all()
    torch.testing.assert_close(probabilities.sum(1), torch.ones(1_000))
    accuracy = float((probabilities.argmax(1) == labels).double().mean())
    assert accuracy > 0.85
    assert network.accuracy == pytest.approx(accuracy, abs=0.003)  # images are bytes here, and were not there


def test_probabilities_are_the_last_layer_of_the_features(network, digits):
    features, probabilities = network.describe(digits[0][:20])
    with torch.no_grad():
        expected = network.classifier.net[-1](features).softmax(1)
    torch.testing.assert_close(probabilities, expected, rtol=1e-4, atol=1e-6)


def test_the_distance_sees_damage(network, digits):
    images = digits[0][torch.randperm(1_000, generator=torch.Generator().manual_seed(0))]
    reference, same, noisy = (
        Moments.from_features(network.features(part))
        for part in (images[:500], images[500:], images[500:] + torch.randn(500, 1, 28, 28))
    )
    assert frechet_distance(noisy, reference) > 3 * frechet_distance(same, reference)


def test_colour_is_averaged(network, digits):
    grey = digits[0][:5]
    coloured = torch.cat([grey, torch.full_like(grey, -1), torch.full_like(grey, -1)], 1)
    third = ((grey + 1) / 3 - 1).clamp(-1, 1)
    torch.testing.assert_close(network.features(coloured), network.features(third), rtol=0.02, atol=0.05)
    assert torch.equal(network.features(grey.expand(-1, 3, -1, -1)), network.features(grey))


def test_channels_are_classified_each(network, digits):
    images, labels = digits
    rows = torch.randperm(1_000, generator=torch.Generator().manual_seed(1))[:300].view(100, 3)
    stack = images.squeeze(1)[rows]
    stack[4, 1, 0, 0] = math.nan
    found = network.classify_channels(stack)
    assert found.shape == (100, 3)
    assert found[4, 1] == -1
    assert float((found == labels[rows]).double().mean()) > 0.85


def test_it_is_trained_once_and_kept(network, folder, monkeypatch):
    (file,) = (folder / "evaluation").iterdir()
    assert str(folder).encode() not in file.read_bytes()
    refuse_training(monkeypatch)
    again = DigitFeatures(RECIPE, data_dir=folder)
    assert again.fingerprint == network.fingerprint
    assert again.accuracy == network.accuracy


def test_training_leaves_the_callers_random_numbers_alone(network, folder):
    state = torch.get_rng_state()
    DigitFeatures(RECIPE, data_dir=folder)
    assert torch.equal(torch.get_rng_state(), state)


def test_another_recipe_or_a_damaged_file_is_trained_again(network, folder, tmp_path, monkeypatch):
    refuse_training(monkeypatch)
    (file,) = (folder / "evaluation").iterdir()
    monkeypatch.setenv("VERA_CACHE", str(tmp_path))
    content = bytearray(file.read_bytes())
    (tmp_path / file.name).write_bytes(content)
    assert DigitFeatures(RECIPE).fingerprint == network.fingerprint
    content[len(content) // 2] ^= 0xFF
    for damaged in (content, content[:-1_000], b"nothing"):
        (tmp_path / file.name).write_bytes(damaged)
        with pytest.raises(AssertionError, match="trained again"):
            DigitFeatures(RECIPE)
    with pytest.raises(AssertionError, match="trained again"):
        DigitFeatures(DigitRecipe(side=14, frame="resize", epochs=2), data_dir=folder)


def test_the_same_seed_trains_the_same_weights(tmp_path, monkeypatch):
    """Also where nothing can be kept: a file stands where the folder would be."""
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("VERA_CACHE", str(tmp_path / "file" / "kept"))
    small = EmbeddedMNISTTable.split
    monkeypatch.setattr(EmbeddedMNISTTable, "split", lambda self, seed: first(small(self, seed)))
    recipe = DigitRecipe(side=14, frame="resize", epochs=1)
    torch.manual_seed(1)
    one = DigitFeatures(recipe)
    torch.manual_seed(2)
    assert DigitFeatures(recipe).fingerprint == one.fingerprint


def first(split, n=128):
    split.train, split.train_labels = split.train[::10][:n], split.train_labels[::10][:n]
    return split


def test_frames(digits):
    image = digits[0][:1]
    assert torch.equal(DigitRecipe().apply_frame(image), pad(image, (2, 2, 2, 2), value=-1.0))
    assert DigitRecipe(side=64, frame="resize").apply_frame(image).shape == (1, 1, 64, 64)
    with pytest.raises(SettingError, match="cannot be padded to side 28; resize them"):
        DigitRecipe(side=28)
    with pytest.raises(SettingError, match="frame must be one of"):
        DigitRecipe(frame="crop")


@pytest.mark.parametrize("side", [32, 16])
def test_padded_digits_are_those_of_the_image_data_set(digits, side):
    theirs = Digits32(side=side).split(0).held_out[:, :1]
    torch.testing.assert_close(DigitRecipe(side).apply_frame(digits[0]), theirs, rtol=0, atol=1 / 255 + 1e-5)


@pytest.mark.parametrize("side", [64, 32])
def test_resized_digits_are_those_of_the_stacks(digits, side):
    stack = StackedMNIST(source="mnist5k", side=side)
    theirs = stack.images(stack.held_out, torch.arange(30).view(10, 3)).flatten(0, 1).unsqueeze(1)
    torch.testing.assert_close(
        DigitRecipe(side, "resize").apply_frame(digits[0][:30]), theirs, rtol=0, atol=1.5 / 127.5
    )


def test_an_image_of_another_side_is_refused(network):
    with pytest.raises(IncompatibleModel, match="side 14 or 28, not 32 × 32"):
        network.features(torch.zeros(2, 1, 32, 32))
